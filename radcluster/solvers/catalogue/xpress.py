"""FICO Xpress; its free licence takes small models."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from radcluster.solvers.record import FreeSize, PyomoInterface, SolverInfo

ROWS_AND_COLUMNS = 5000


@cache
def _size_limited() -> bool:
    import xpress

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = xpress.problem()
    model.setControl("outputlog", 0)
    try:
        model.addVariables(ROWS_AND_COLUMNS + 1)
        model.optimize()
    except xpress.SolverError as error:
        return "too many rows and columns" in str(error)
    return False


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    import xpress

    controls = xpress.problem().controls
    return [key for key in native if not _has(controls, key, xpress.InterfaceError)]


def _has(controls, key: str, error: type[Exception]) -> bool:
    try:
        getattr(controls, key)
    except (AttributeError, error):
        return False
    return True


XPRESS = SolverInfo(
    "xpress",
    ("LP", "MILP"),
    "pip install xpress (a licence is needed beyond 5000 rows and columns)",
    modules=("xpress",),
    distribution="xpress",
    pyomo=PyomoInterface("xpress_direct", takes_start=True),
    option_names={
        "time_limit": "timelimit",
        "rel_gap": "miprelstop",
        "threads": "threads",
        "seed": "randomseed",
    },
    # It stops, or cuts off, at absolute differences that a small objective falls under.
    safe_options={
        "mipaddcutoff": 0.0,
        "mipabsstop": 0.0,
        "feastol": 1e-9,
        "optimalitytol": 1e-9,
        "miptol": 1e-9,
    },
    errors=("xpress:SolverError",),
    unknown_options=_unknown_options,
    free_size=FreeSize(_size_limited, both=ROWS_AND_COLUMNS),
)
