"""k-means with a hard radius, formulated in Pyomo, solved by the solver you name, certified."""

from radcluster.errors import InputError, SolverFailure, SolverUnavailable
from radcluster.instance import Instance
from radcluster.result import Result, StepReport

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "Instance",
    "Result",
    "SolverFailure",
    "SolverUnavailable",
    "StepReport",
]
