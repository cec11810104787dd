"""A bound for the root from the Peng-Wei semidefinite relaxation, with cuts.

Where points spread along many axes the pricing search proves nothing in reasonable time, and the
Lagrangian bound stays at zero. There clusters are large compared with the dimension's room for
conflicts, and the relaxation (models/sdp.py) bounds all but a few percent of the optimum.
"""

from __future__ import annotations

from radcluster.colgen.pricing import Pricer
from radcluster.colgen.problem import Problem
from radcluster.errors import SolverFailure
from radcluster.instance import Instance
from radcluster.models.sdp_cuts import KINDS
from radcluster.solvers.options import Options
from radcluster.step1_sdp import solve_sdp
from radcluster.steps import Clock, normalised

#: Groups beyond which the relaxation takes minutes.
MAX_ORDER = 250
#: Rounds of cuts, and the part of the time left that they may take.
ROUNDS = 3
PART = 0.5


def root_bound(instance: Instance, root: Problem, clock: Clock) -> float:
    """A safe lower bound on the objective; 0 where pricing does better without."""
    if root.n_groups > MAX_ORDER or Pricer(root).is_flat:
        return 0.0
    unit_instance, scale = normalised(instance)
    options = Options(time_limit=None if clock.left is None else PART * clock.left)
    try:
        relaxed = solve_sdp(
            unit_instance, form="peng_wei", cuts=KINDS, rounds=ROUNDS, options=options
        )
    except SolverFailure:
        return 0.0
    return relaxed.lower_bound * scale
