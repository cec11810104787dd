"""Gurobi; its free licence takes small models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from radcluster.solvers.record import FreeSize, PyomoInterface, SolverInfo

VARIABLES = ROWS = 2000


@cache
def _size_limited() -> bool:
    import gurobipy

    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        model.addVars(VARIABLES + 1)
        try:
            model.optimize()
        except gurobipy.GurobiError as error:
            return error.errno == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED
    return False


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    import gurobipy

    known = {name.lower() for name in dir(gurobipy.GRB.Param)}
    return [key for key in native if key.lower() not in known]


GUROBI = SolverInfo(
    "gurobi",
    ("LP", "MILP", "MIQCP", "MINLP"),
    "pip install gurobipy (a licence is needed beyond 2000 variables or rows)",
    modules=("gurobipy",),
    distribution="gurobipy",
    pyomo=PyomoInterface(
        "gurobi_direct", new=True, nonlinear="gurobi_direct_minlp", takes_start=True
    ),
    option_names={"seed": "Seed"},
    safe_options={"FeasibilityTol": 1e-9, "OptimalityTol": 1e-9, "IntFeasTol": 1e-9},
    errors=("gurobipy:GurobiError",),
    unknown_options=_unknown_options,
    free_size=FreeSize(_size_limited, variables=VARIABLES, rows=ROWS),
)
