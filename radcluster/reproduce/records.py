"""Runs that write as they go and resume where they stopped.

A run is a list of tasks (keyword arguments) and a function of them. Its results live in a CSV
file, one row a task: the task's own values, then what the function returned. A task whose values
are in the file is not run again; delete the file to start afresh.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from radcluster.errors import InputError

Row = dict[str, object]


def run(
    path: str | Path,
    tasks: Sequence[Row],
    function: Callable[..., Row],
    *,
    n_jobs: int = 1,
) -> list[Row]:
    """Rows of all tasks, in their order: read from ``path`` where it has them, computed elsewhere.

    The function is called with each task's values by name, in ``n_jobs`` processes, and returns
    the values that follow them in the row. Progress shows on a terminal.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {_key(row, tasks[0]): row for row in _recover(path, tasks[0])}
    missing = [task for task in tasks if _key(task, tasks[0]) not in known]
    fresh = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_one)(function, task) for task in missing
    )
    console = Console(stderr=True)
    progress = track(
        fresh, path.stem, len(missing), console=console, disable=not console.is_terminal
    )
    for row in progress:
        _append(path, row)
        known[_key(row, tasks[0])] = _parsed(row)
    if missing:
        _rewrite(path, tasks, known)
    return [known[_key(task, tasks[0])] for task in tasks]


def read(path: str | Path) -> list[Row]:
    """The rows of a results file, numbers as numbers and empty cells as None."""
    with open(path, newline="") as file:
        return [_parsed(row) for row in csv.DictReader(file)]


def _one(function, task):
    return task | function(**task)


def _key(row, task):
    return tuple(_text(row[name]) for name in task)


def _text(value):
    return "" if value is None else str(value)


def _parsed(row):
    return {name: _number(_text(value)) for name, value in row.items()}


def _number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def _recover(path, task):
    """Rows of an earlier run; a last line that was cut off by a kill is dropped."""
    if not path.exists():
        return []
    text = path.read_text()
    if not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1])
    rows = read(path)
    if rows and list(rows[0])[: len(task)] != list(task):
        raise InputError(f"{path} holds other results than these: remove it, or use another --out")
    return rows


def _append(path, row):
    # Opened anew for each row: what is written survives whatever happens next.
    is_new = not path.exists() or path.stat().st_size == 0
    with open(path, "a", newline="") as file:
        _write(file, [row], header=is_new)


def _rewrite(path, tasks, known):
    """All rows again, in the order of the tasks, those of other runs after them."""
    wanted = {_key(task, tasks[0]): None for task in tasks}
    rows = [known[key] for key in wanted] + [known[key] for key in known if key not in wanted]
    part = path.with_suffix(".part")
    with open(part, "w", newline="") as file:
        _write(file, rows, header=True)
    os.replace(part, path)


def _write(file, rows: Iterable[Row], header: bool):
    rows = list(rows)
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
