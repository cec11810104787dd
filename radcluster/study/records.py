"""Runs that write as they go and resume where they stopped.

A run is a list of tasks (keyword arguments) and a function of them. Its results live in one file,
CSV or Parquet, one row per task: the task's own values, then what the function returned. A task
whose values are in the file is not run again; delete the file to start afresh.

A row of a CSV file is on disk as soon as its task is finished. A Parquet file cannot grow by a
row, so finished rows also go to a CSV file beside it (``.journal.csv``). The Parquet file is
written anew now and then and at the end, and then the journal goes. Where the tasks run is
:mod:`radcluster.study.workers`.
"""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from radcluster.errors import InputError
from radcluster.study import workers

Row = dict[str, object]
#: Seconds between two writings of a Parquet file.
PAUSE = 2.0


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
    store = ParquetStore(path) if path.suffix == ".parquet" else CsvStore(path)
    known = {_key(row, tasks[0]): row for row in store.recover(tasks[0])}
    missing = [task for task in tasks if _key(task, tasks[0]) not in known]
    fresh = workers.results(function, missing, n_jobs)
    console = Console(stderr=True)
    progress = track(
        fresh, path.stem, len(missing), console=console, disable=not console.is_terminal
    )
    try:
        for row in progress:
            known[_key(row, tasks[0])] = _parsed(row)
            store.add(row, known)
    finally:
        fresh.close()
    if missing:
        store.finish(_in_order(tasks, known))
    return [known[_key(task, tasks[0])] for task in tasks]


class CsvStore:
    """A CSV file: a row is appended as soon as it is known."""

    def __init__(self, path: Path):
        self.path = path

    def recover(self, task: Row) -> list[Row]:
        """Rows of an earlier run; a last line that was cut off by a kill is dropped."""
        if not self.path.exists():
            return []
        text = self.path.read_text()
        if not text.endswith("\n"):
            self.path.write_text(text[: text.rfind("\n") + 1])
        rows = read(self.path)
        _refuse_others(self.path, rows, task)
        return rows

    def add(self, row: Row, known) -> None:
        # Opened anew for each row: what is written survives whatever happens next.
        is_new = not self.path.exists() or self.path.stat().st_size == 0
        with open(self.path, "a", newline="") as file:
            _write(file, [row], header=is_new)

    def finish(self, rows: list[Row]) -> None:
        part = self.path.with_suffix(".part")
        with open(part, "w", newline="") as file:
            _write(file, rows, header=True)
        os.replace(part, self.path)


class ParquetStore:
    """A Parquet file, with a CSV journal of what it does not hold yet."""

    def __init__(self, path: Path):
        workers.require_dask("Parquet files", "pyarrow")
        self.path = path
        self.journal = CsvStore(path.with_suffix(".journal.csv"))
        self.written = -PAUSE

    def recover(self, task: Row) -> list[Row]:
        """Rows of an earlier run."""
        rows = self.journal.recover(task)
        if self.path.exists():
            stored = read(self.path)
            _refuse_others(self.path, stored, task)
            rows = stored + rows
        return rows

    def add(self, row: Row, known) -> None:
        self.journal.add(row, known)
        if time.monotonic() - self.written >= PAUSE:
            self._write(list(known.values()))

    def finish(self, rows: list[Row]) -> None:
        self._write(rows)
        self.journal.path.unlink(missing_ok=True)

    def _write(self, rows: list[Row]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: _column([row.get(name) for row in rows]) for name in names}
        part = self.path.with_suffix(".part")
        pq.write_table(pa.table(columns), part)
        os.replace(part, self.path)
        self.written = time.monotonic()


def _column(values: list) -> list:
    """Values of one type: numbers where all are, else text."""
    given = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) for value in given):
        whole = all(isinstance(value, int) for value in given)
        return values if whole else [None if v is None else float(v) for v in values]
    return [None if value is None else str(value) for value in values]


def read(path: str | Path) -> list[Row]:
    """The rows of a results file, numbers as numbers and empty cells as None."""
    if Path(path).suffix == ".parquet":
        import pyarrow.parquet as pq

        return [_parsed(row) for row in pq.read_table(path).to_pylist()]
    with open(path, newline="") as file:
        return [_parsed(row) for row in csv.DictReader(file)]


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


def _refuse_others(path, rows, task):
    if rows and list(rows[0])[: len(task)] != list(task):
        raise InputError(f"{path} holds other results than these: remove it, or use another --out")


def _in_order(tasks, known) -> list[Row]:
    """All rows in the order of the tasks, those of other runs after them."""
    wanted = {_key(task, tasks[0]): None for task in tasks}
    return [known[key] for key in wanted] + [known[key] for key in known if key not in wanted]


def _write(file, rows: Iterable[Row], header: bool):
    rows = list(rows)
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
