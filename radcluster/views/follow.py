"""A line that follows a long run: in a notebook, on a terminal, silent in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

from rich.console import Console

from radcluster.progress import Progress

#: Seconds between two refreshes of a notebook's cell.
REFRESH = 0.2


def words(report: Progress) -> str:
    """One line about a report.

    >>> words(Progress(3, 40, 2.5, 2.0, 1.25, 1))
    'iteration 3  best 2.5  bound 2  gap 20.00%  1.2 s'
    """
    best = "-" if report.incumbent is None else f"{report.incumbent:.6g}"
    return (
        f"iteration {report.iteration}  best {best}  bound {report.bound:.6g}  "
        f"gap {report.gap:.2%}  {report.seconds:.1f} s"
    )


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and hasattr(found, "kernel")


@contextmanager
def following(title: str) -> Iterator[Callable | None]:
    """Yield the callable to hand to ``solve(progress=...)``; None where nobody is looking."""
    if in_notebook():
        with _in_notebook(title) as shown:
            yield shown
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(title) as status:
        yield lambda report: status.update(f"{title}  {words(report)}")


@contextmanager
def _in_notebook(title: str) -> Iterator[Callable]:
    from IPython.display import HTML, display

    handle = display(HTML(_bar(title, None)), display_id=True)
    last = 0.0

    def show(report: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= REFRESH:
            last = time.monotonic()
            handle.update(HTML(_bar(title, report)))

    try:
        yield show
    finally:
        handle.update(HTML(""))  # the result that follows says the rest


def _bar(title: str, report: Progress | None) -> str:
    """The closed part of the gap as a bar, and the numbers."""
    closed = 0.0 if report is None else min(max(1 - report.gap, 0.0), 1.0)
    line = title if report is None else f"{title}  {words(report)}"
    return (
        '<div style="width:20em;height:0.5em;background:#8883;border-radius:3px">'
        f'<div style="width:{100 * closed:.0f}%;height:100%;background:#0072B2;border-radius:3px">'
        f'</div></div><code style="font-size:0.85em;background:none">{escape(line)}</code>'
    )
