"""What Step 1 of Algorithm 1 hands to Step 2, whichever way it was obtained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.result import StepReport


@dataclass(frozen=True)
class Memberships:
    """Scores of points for clusters, larger for likelier, and what the step learned besides.

    Attributes
    ----------
    scores : array of shape (N, K)
        The b_i^k of Eq. 15, or anything that orders clusters for a point.
    report : StepReport
    lower_bound : float
        A safe bound on the optimum of the instance; 0 when the step gives none.
    certificate : dict or None
        Set when the step proved the instance infeasible.
    """

    scores: np.ndarray
    report: StepReport
    lower_bound: float = 0.0
    certificate: dict | None = None
