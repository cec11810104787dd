"""How a search or a solver ended, in one vocabulary."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Why work on a program ended. A member equals its text: ``Status.OPTIMAL == "optimal"``."""

    #: Proven, within the gap asked for.
    OPTIMAL = "optimal"
    #: A solution, without a proof.
    FEASIBLE = "feasible"
    #: Proven to have no solution.
    INFEASIBLE = "infeasible"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    #: Solvers only: no solution or no bound, and the solver does not say which.
    INFEASIBLE_OR_UNBOUNDED = "infeasible_or_unbounded"
    #: Solvers only: no answer that can be used.
    ERROR = "error"

    def __repr__(self) -> str:
        return repr(self.value)


#: How a result can end; the others are a solver's words, which no result carries.
RESULT_STATUSES = (
    Status.OPTIMAL,
    Status.FEASIBLE,
    Status.INFEASIBLE,
    Status.TIME_LIMIT,
    Status.INTERRUPTED,
)
