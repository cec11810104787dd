"""SCIP, the default for programs with quadratic constraints or ratios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radcluster.solvers.record import PyomoInterface, SolverInfo


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    import pyscipopt

    return sorted(set(native) - set(pyscipopt.Model().getParams()))


SCIP = SolverInfo(
    "scip",
    ("LP", "MILP", "MIQCP", "MINLP"),
    "pip install pyscipopt",
    modules=("pyscipopt",),
    distribution="pyscipopt",
    pyomo=PyomoInterface("scip_direct", new=True, takes_start=True, whole_start=True),
    option_names={"seed": "randomization/randomseedshift"},
    # A nonlinear objective is moved into a constraint, whose tolerance then blurs the bound.
    safe_options={"numerics/feastol": 1e-9, "numerics/dualfeastol": 1e-9},
    unknown_options=_unknown_options,
)
