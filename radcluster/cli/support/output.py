"""What the commands print: one look for people, one JSON object for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

from radcluster.result import Result

EXIT_CODES = {"infeasible": 3, "interrupted": 130}
TIME_LIMIT_WITHOUT_SOLUTION = 4


def exit_code(result: Result) -> int:
    """0 with a partition, 3 proven infeasible, 4 stopped without a partition, 130 interrupted."""
    if result.solved and result.status != "interrupted":
        return 0
    return EXIT_CODES.get(result.status, TIME_LIMIT_WITHOUT_SOLUTION)


@contextmanager
def only_json():
    """Send everything that solvers print to standard error; standard output is for the JSON."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


@contextmanager
def progress_line(text: str):
    """A line on the terminal that follows a long run; nothing in a pipe.

    Yields the callable to hand to ``solve(progress=...)``.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(text) as status:
        yield _follow(status, text)


def _follow(status, text) -> Callable:
    def show(report):
        incumbent = "-" if report.incumbent is None else f"{report.incumbent:.6g}"
        status.update(
            f"{text}  iteration {report.iteration}  columns {report.columns}  "
            f"best {incumbent}  bound {report.bound:.6g}  gap {report.gap:.2%}  "
            f"{report.seconds:.1f} s"
        )

    return show


def print_result(console: Console, result: Result) -> None:
    """A readable summary of a result."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in _summary(result):
        table.add_row(name, value)
    console.print(table)
    if result.steps:
        console.print(steps_table(result))
        for step in result.steps:
            if step.note:
                note = f"{step.step}: {step.note}"
                console.print(note, style="dim", markup=False, highlight=False, soft_wrap=True)


def _summary(result: Result):
    yield "status", result.status
    if result.solved:
        custom = result.sum_of_squares is not None
        yield "objective", f"{result.objective:.9g}" + ("  (custom)" if custom else "")
        if custom:
            yield "sum of squares", f"{result.sum_of_squares:.9g}"
    known = result.lower_bound or (result.solved and result.gap == 0)
    yield "lower bound", f"{result.lower_bound:.9g}" if known else "none"
    if result.solved:
        yield "gap", f"{result.gap:.2g}" if result.gap < 1 else "unknown"
        yield "max radius", f"{result.max_radius:.6g}  (asked: {_radius(result.radius)})"
    yield "clusters", str(result.n_clusters)
    yield "method", result.method + (f" with {result.solver}" if result.solver else "")
    yield "seconds", f"{result.seconds:.2f}"


def _radius(radius) -> str:
    return f"{radius:g}" if isinstance(radius, float) else ", ".join(f"{r:g}" for r in radius)


def steps_table(result: Result) -> Table:
    """The programs solved on the way."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("step", "model", "solver", "variables", "rows", "seconds", "value", "bound"):
        numeric = column in ("variables", "rows", "seconds", "value", "bound")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    for step in result.steps:
        table.add_row(
            step.step,
            step.model,
            step.solver or "-",
            _cell(step.n_variables, "d"),
            _cell(step.n_constraints, "d"),
            _cell(step.seconds, ".2f"),
            _cell(step.objective, ".6g"),
            _cell(step.bound, ".6g"),
        )
    return table


def _cell(value, spec) -> str:
    return "-" if value is None else format(value, spec)
