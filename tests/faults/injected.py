"""Faults to inject, what must come out, and the table of both.

python tests/faults/injected.py > docs/faults.md
"""

from __future__ import annotations

import math
import os
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from surroundings import SURROUNDINGS

from radcluster import Instance, solve
from radcluster.errors import InputError, SolverFailure
from radcluster.solvers import mip
from radcluster.status import Status

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
#: Six points in three pairs.
SMALL = Instance(np.array([[0.0], [1.0], [4.0], [5.0], [9.0], [10.0]]), 3, 1.0)
OPTIMUM = 1.5
KNOWN = (0, 0, 1, 1, 2, 2)
#: Six points with a second partition, which costs 5.16667 instead of 4.1875.
ROOMY = Instance(np.array([[0.0], [1.0], [2.0], [2.5], [4.0], [5.0]]), 2, 1.4)


@dataclass(frozen=True)
class Fault:
    """A lie or failure of a solver, and how the answer begins in spite of it."""

    name: str
    lie: Callable
    comes_out: str
    instance: Instance = SMALL
    known: tuple[int, ...] = KNOWN


def _solved(model, change: Callable) -> None:
    """Put the optimal partition into the model, changed."""
    labels = change(list(KNOWN))
    for (i, k), pi in model.pi.items():
        pi.set_value(float(labels[i] == k), skip_validation=True)
    for var in model.component_data_objects(mip.pyo.Var):
        if var.value is None:
            var.set_value(0.0, skip_validation=True)


def _with(change: Callable, status=Status.OPTIMAL, bound=OPTIMUM):
    def lie(info, model, options, problem_class):
        _solved(model, change)
        # Objectives are handed over in another unit.
        return status, True, bound * info.cost_unit, "fake"

    return lie


def _stuck_at(labels):
    """A solver that looks at one partition only, and is honest about that one."""
    solve_honestly = mip._solve_new

    def lie(info, model, options, problem_class):
        for (i, k), pi in model.pi.items():
            pi.fix(float(labels[i] == k))
        try:
            return solve_honestly(info, model, options, problem_class)
        finally:
            model.pi.unfix()

    return lie


def _nan(info, model, options, problem_class):
    for var in model.component_data_objects(mip.pyo.Var):
        var.set_value(math.nan, skip_validation=True)
    return Status.OPTIMAL, True, math.nan, "fake"


def _nothing(info, model, options, problem_class):
    return Status.ERROR, False, None, "fake"


def _infeasible(info, model, options, problem_class):
    return Status.INFEASIBLE, False, None, "fake"


def _crash(info, model, options, problem_class):
    raise mip.ApplicationError("Solver (fake) did not exit normally")


def _interrupt(info, model, options, problem_class):
    raise KeyboardInterrupt


FAULTS = (
    Fault("the truth", _with(lambda x: x), "optimal, objective 1.5, bound 1.5"),
    Fault("a cluster too wide", _with(lambda x: [0, 1, 1, 2, 2, 2]), "error, exit 1"),
    Fault("an empty cluster", _with(lambda x: [0, 0, 1, 1, 1, 1]), "error, exit 1"),
    Fault("NaN in every variable", _nan, "error, exit 1"),
    Fault("a bound above its objective", _with(lambda x: x, bound=99.0), "error, exit 1: highs cl"),
    Fault("a bound a little above it", _with(lambda x: x, bound=1.5001), "feasible, objective 1.5"),
    Fault(
        "optimal, though one move improves it",
        _stuck_at([0, 0, 0, 1, 1, 1]),
        "error, exit 1: highs calls a partition of cost 5.16666667 optimal",
        ROOMY,
        (0, 0, 0, 0, 1, 1),
    ),
    Fault("a bound of nan", _with(lambda x: x, bound=math.nan), "feasible, objective 1.5"),
    Fault("a bound of -inf", _with(lambda x: x, bound=-math.inf), "feasible, objective 1.5"),
    Fault("no answer at all", _nothing, "error, exit 1"),
    Fault("infeasible, though a partition is known", _infeasible, "error, exit 1"),
    Fault("its process killed", _crash, "error, exit 1"),
    Fault("an interrupt", _interrupt, "interrupted, exit 130"),
)


@contextmanager
def injected(fault: Fault):
    """HiGHS replaced by a liar."""
    honest = mip._solve_new
    mip._solve_new = fault.lie
    try:
        yield
    finally:
        mip._solve_new = honest


def outcome(fault: Fault) -> str:
    """What ``solve`` makes of it, in words."""
    with injected(fault):
        try:
            result = solve(fault.instance, "milp", "highs", anchored=False, initial=fault.known)
        except SolverFailure as error:
            return f"error, exit 1: {error}"
        except InputError as error:
            return f"refused, exit 2: {error}"
        except KeyboardInterrupt:
            return "interrupted, exit 130"
    bound = "none" if result.lower_bound <= 0 else f"{result.lower_bound:.6g}"
    return f"{result.status}, objective {result.objective:.6g}, bound {bound}"


def table(rows) -> str:
    """Injected and came out, as Markdown."""
    lines = ["| injected | came out |", "| --- | --- |"]
    lines += [f"| {name} | {came_out} |" for name, came_out in rows]
    return "\n".join(lines) + "\n"


def listed() -> dict[str, str]:
    """What the page says that came out, by what was injected."""
    rows = dict(re.findall(r"^\| (.*?) \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
    return {name: out for name, out in rows.items() if name not in ("injected", "---")}


def page() -> str:
    """The page of the documentation."""
    folders = [(each, tempfile.TemporaryDirectory()) for each in SURROUNDINGS]
    around = [(each.name, each.happens(Path(folder.name))) for each, folder in folders]
    for _, folder in folders:
        folder.cleanup()
    return (
        "# Faults\n\n`python tests/faults/injected.py > docs/faults.md` wrote this page.\n\n"
        "## A solver lies, crashes or says nothing\n\n"
        + table((fault.name, outcome(fault)) for fault in FAULTS)
        + "\n## Machine, folders, programs and licences\n\n"
        + table(around)
    )


if __name__ == "__main__":
    sys.stdout.write(page())
