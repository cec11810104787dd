"""Several methods and solvers on one instance, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radcluster import api, plots, show
from radcluster.errors import InputError, SolverFailure, SolverUnavailable
from radcluster.methods.register import METHODS
from radcluster.problem.instance import Instance
from radcluster.result import Result


@dataclass(frozen=True)
class Comparison:
    """Outcome of :func:`compare`.

    Attributes
    ----------
    table : Table
        One row per run: method, solver, status, objective, lower bound, gap, seconds, and a note
        where a run was refused.
    results : dict
        The :class:`radcluster.Result` of each run that was not refused, by (method, solver).
    """

    table: show.Table
    results: dict[tuple[str, str | None], Result]

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def to_frame(self):
        """The table as a pandas data frame."""
        return self.table.to_frame()

    def plot(self, ax=None, title: str | None = None):
        """Each run as a bar from its bound to its partition; the seconds stand beside it."""
        runs = [(name, result) for name, result in self.results.items() if result.solved]
        if not runs:
            raise InputError("no run found a partition: there is nothing to draw")
        height = 0.6 + 0.26 * len(runs)
        ax = plots.figure(width=1.4 * plots.COLUMN, height=height)[1] if ax is None else ax
        best = min(result.objective for _, result in runs)
        known = [result.lower_bound for _, result in runs if result.lower_bound > 0]
        lowest = min([*known, best])
        left = lowest - 0.12 * max(best - lowest, 0.02 * best)
        for row, (_, result) in enumerate(runs):
            _bar(ax, row, result, left)
        ax.axvline(best, color=plots.FAINT, lw=0.8, zorder=0)
        names = [" / ".join(part for part in name if part) for name, _ in runs]
        ax.set_yticks(range(len(runs)), names, fontsize=7)
        ax.invert_yaxis()
        plots.label(ax, "objective (dot), lower bound (bar's left end)", "")
        ax.set_title("" if title is None else title, fontsize=8)
        return ax


def compare(
    instance: Instance,
    methods: Sequence[str] = ("exact", "pipeline", "heuristic"),
    solvers: Sequence[str | None] = (None,),
    **settings,
) -> Comparison:
    """Solve one instance by several methods and solvers.

    Parameters
    ----------
    instance : Instance
    methods : sequence of str
        Names of :func:`radcluster.solve`.
    solvers : sequence of str or None
        Each method runs with each solver; None is the method's own choice. A solver that cannot
        take a method's program, or is not installed, is noted in the table and passed over.
    **settings
        The settings of :func:`radcluster.solve`, such as ``time_limit``, for every run.

    Returns
    -------
    Comparison
        It prints as a table; ``.plot()`` draws bounds and objectives, ``.results`` holds the
        results.

    Examples
    --------
    >>> from radcluster import Instance, compare
    >>> line = Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1)
    >>> comparison = compare(line, methods=["milp", "heuristic"], solvers=["highs"])
    >>> comparison.table.column("objective")
    [1.0, 1.0]
    """
    if not methods or not solvers:
        raise InputError("compare needs at least one method and one solver (None: its own)")
    rows, results = [], {}
    for method in methods:
        for solver in _named_for(method, solvers):
            try:
                result = api.solve(instance, method, solver, **settings)
            except (InputError, SolverUnavailable, SolverFailure) as error:
                rows.append((method, solver or "", "refused", *[None] * 4, _first_line(error)))
                continue
            results[method, solver] = result
            rows.append((method, result.solver or solver or "", *_numbers(result), ""))
    columns = ("method", "solver", "status", "objective", "lower_bound", "gap", "seconds", "note")
    return Comparison(show.Table(columns, tuple(rows)), results)


def _named_for(method: str, solvers: Sequence[str | None]) -> Sequence[str | None]:
    """A method that calls no solver runs once."""
    known = METHODS.get(method)
    return solvers if known is None or known.calls_solvers else [None]


def _numbers(result: Result) -> tuple:
    """Status, objective, bound, gap and seconds; what is not known is left empty."""
    bounded = np.isfinite(result.lower_bound) and result.lower_bound > 0
    return (
        str(result.status),
        result.objective if result.solved else None,
        result.lower_bound if bounded else None,
        result.gap if result.solved and bounded else None,
        round(result.seconds, 2),
    )


def _bar(ax, row, result: Result, left: float) -> None:
    """The bar ends at the left edge where no bound is known."""
    known = result.lower_bound > 0
    start = result.lower_bound if known else left
    colour = plots.PALETTE[0] if known else plots.FAINT
    ax.plot([start, result.objective], [row, row], lw=3, color=colour, alpha=0.4)
    if known:
        ax.plot(start, row, "|", ms=9, mew=1.4, color=colour)
    ax.plot(result.objective, row, "o", ms=4.5, color=plots.INK)
    words = f"{result.seconds:.2g} s" + ("" if known else ", no bound")
    where = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    ax.annotate(words, (result.objective, row), fontsize=6, color=plots.INK, **where)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
