"""The two rounding programs of Algorithm 1.

Step 2 (Eq. 15), from memberships b of Step 1:          Step 4 (Eq. 16), from centroids gamma_k:

    max  sum_ik b_ik pi_ik                                 min  sum_ik ||x_i - gamma_k||^2 pi_ik

both subject to  1 <= sum_i pi_ik <= N,  sum_k pi_ik = 1,  d_ij pi_ik pi_jk <= 4 r_k^2.

The last family is stated as ``constraints`` says: ``quadratic`` as printed (MIQCP), or linear as
``conflict`` or ``clique`` rows, which hold for the same binary pi (see :mod:`.assignment`).

Differences from the paper: only admissible pairs (i, k) get a variable, and must-links are added
where the instance has them; a point of weight w_i counts w_i times. The upper half of
1 <= n_k <= N always holds and is not written.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.graph.conflicts import AdmissiblePairs
from radcluster.models.parts import assignment
from radcluster.models.parts.formulation import Formulation
from radcluster.problem.instance import Instance

#: The class of program that each statement of the radius constraint makes.
PROBLEM_CLASS = {"quadratic": "MIQCP", "conflict": "MILP", "clique": "MILP"}


def build_step2(
    instance: Instance,
    scores: np.ndarray,
    labelling: AdmissiblePairs | None = None,
    *,
    constraints: str = "clique",
) -> pyo.ConcreteModel:
    """Step 2: the valid partition that agrees most with ``scores`` (N, K)."""
    m = _valid_partitions(instance, labelling, constraints, "rounding:step2")
    w = instance.weights.tolist()

    @m.Objective(sense=pyo.maximize, doc="Eq. 15")
    def agreement(m):
        return pyo.quicksum(w[i] * float(scores[i, k]) * pi for (i, k), pi in m.pi.items())

    return m


def build_step4(
    instance: Instance,
    sq_center_distances: np.ndarray,
    labelling: AdmissiblePairs | None = None,
    *,
    constraints: str = "clique",
) -> pyo.ConcreteModel:
    """Step 4: the valid partition nearest to given centroids.

    ``sq_center_distances[i, k]`` is ||x_i - gamma_k||^2.
    """
    m = _valid_partitions(instance, labelling, constraints, "rounding:step4")
    w = instance.weights.tolist()

    @m.Objective(doc="Eq. 16")
    def scatter_about_centroids(m):
        return pyo.quicksum(
            w[i] * float(sq_center_distances[i, k]) * pi for (i, k), pi in m.pi.items()
        )

    return m


def _valid_partitions(instance, labelling, constraints, name):
    labelling = labelling or AdmissiblePairs.full(instance)
    m = Formulation(name, __doc__)
    assignment.add_memberships(m, instance, labelling)
    assignment.add_partition(m, labelling)
    assignment.add_nonempty(m)
    assignment.add_conflicts(m, instance, constraints)
    if len(instance.must_link):
        assignment.add_must_links(m, instance)
    return m
