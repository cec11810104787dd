"""GLPK, called as a program."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Mapping
from typing import Any

from radcluster.solvers.record import PyomoInterface, SolverInfo


def _whole_seconds(options: dict) -> dict:
    """glpsol takes whole seconds, and 0 would mean no limit at all."""
    if "tmlim" in options:
        options["tmlim"] = max(1, math.ceil(options["tmlim"]))
    return options


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    """Those that ``glpsol --help`` does not list."""
    text = subprocess.run(["glpsol", "--help"], capture_output=True, text=True, check=False).stdout
    return sorted(set(native) - set(re.findall(r"--(\w+)", text)))


GLPK = SolverInfo(
    "glpk",
    ("LP", "MILP"),
    "apt-get install glpk-utils",
    executable="glpsol",
    version_flags=("--version",),
    pyomo=PyomoInterface("glpk"),
    option_names={"time_limit": "tmlim", "rel_gap": "mipgap", "seed": "seed"},
    # glpsol lets no tolerance be set.
    dual_tolerance=1e-6,
    bound_margin=4e-7,
    unknown_options=_unknown_options,
    adjust=_whole_seconds,
)
