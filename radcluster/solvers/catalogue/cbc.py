"""CBC, called as a program."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Any

from radcluster.solvers.record import PyomoInterface, SolverInfo


def _unknown_options(native: Mapping[str, Any]) -> list[str]:
    """Those that cbc answers with "No match"; in a run it would only skip them."""
    return [key for key in native if "No match" in _answer(key)]


def _answer(key: str) -> str:
    command = ["cbc", f"-{key}", "-quit"]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout


CBC = SolverInfo(
    "cbc",
    ("LP", "MILP"),
    "apt-get install coinor-cbc",
    executable="cbc",
    version_flags=("-stop",),
    pyomo=PyomoInterface("cbc", takes_start=True),
    option_names={
        "time_limit": "seconds",
        "rel_gap": "ratioGap",
        "threads": "threads",
        "seed": "randomCbcSeed",
    },
    # By default a solution must be better by 1e-5 to count as better.
    safe_options={
        "increment": 0.0,
        # Its seconds are those of the processor otherwise.
        "timeMode": "elapsed",
        "primalTolerance": 1e-9,
        "integerTolerance": 1e-9,
    },
    # With a smaller dualTolerance than its own 1e-7 it aborts now and then.
    dual_tolerance=1e-7,
    # Pyomo reads the bound from the log, where it often has six digits.
    printed_bound=5e-6,
    unknown_options=_unknown_options,
)
