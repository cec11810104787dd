"""IBM CPLEX; its free edition takes small models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from typing import Any

from radcluster.solvers.record import FreeSize, PyomoInterface, SolverInfo

VARIABLES = ROWS = 1000
#: CPLEX's number for a model that the free edition does not take.
TOO_LARGE = 1016


@cache
def _size_limited() -> bool:
    import cplex

    model = cplex.Cplex()
    for stream in ("log", "results", "error", "warning"):
        getattr(model, f"set_{stream}_stream")(None)
    model.variables.add(obj=[1.0] * (VARIABLES + 1))
    try:
        model.solve()
    except cplex.exceptions.CplexSolverError as error:
        return error.args[2] == TOO_LARGE
    return False


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    """Pyomo takes ``mip_tolerances_mipgap`` for ``parameters.mip.tolerances.mipgap``."""
    import cplex

    parameters = cplex.Cplex().parameters
    return [key for key in native if reduce(_below, key.split("_"), parameters) is None]


def _below(group, name: str):
    return getattr(group, name, None)


CPLEX = SolverInfo(
    "cplex",
    ("LP", "MILP"),
    "pip install cplex (a licence is needed beyond 1000 variables or rows)",
    modules=("cplex",),
    distribution="cplex",
    pyomo=PyomoInterface("cplex_direct", takes_start=True),
    option_names={
        "time_limit": "timelimit",
        "rel_gap": "mip_tolerances_mipgap",
        "threads": "threads",
        "seed": "randomseed",
    },
    # It stops at an absolute difference that a small objective falls under.
    safe_options={
        "mip_tolerances_absmipgap": 0.0,
        "mip_tolerances_integrality": 0.0,
        "simplex_tolerances_feasibility": 1e-9,
        "simplex_tolerances_optimality": 1e-9,
    },
    errors=("cplex.exceptions:CplexError",),
    unknown_options=_unknown_options,
    free_size=FreeSize(_size_limited, variables=VARIABLES, rows=ROWS),
)
