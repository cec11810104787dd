"""HiGHS, the default for linear and mixed-integer programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radcluster.solvers.record import PyomoInterface, SolverInfo


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    import highspy

    known = highspy.Highs()
    known.setOptionValue("output_flag", False)
    return [key for key in native if known.getOptionType(key)[0] != highspy.HighsStatus.kOk]


HIGHS = SolverInfo(
    "highs",
    ("LP", "MILP"),
    "pip install highspy",
    modules=("highspy",),
    distribution="highspy",
    pyomo=PyomoInterface("highs", new=True),
    option_names={"seed": "random_seed"},
    safe_options={
        # HiGHS up to 1.15.1 (at least) can merge parallel columns of a mixed-integer program
        # wrongly and then call a worse solution optimal: 2 of 322 random small instances here.
        # That one presolve rule stays off; tests/models/test_milp.py keeps an instance on which
        # it fails.
        "presolve_rule_off": 1 << 13,
        # A small objective falls under looser tolerances, which are absolute.
        "mip_feasibility_tolerance": 1e-9,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    },
    unknown_options=_unknown_options,
)
