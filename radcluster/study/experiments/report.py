"""Tables on a terminal, and the few statistics that they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from rich.table import Table

from radcluster import show
from radcluster.study.records import Row


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose first column is text and whose others are numbers."""
    built = Table(title=title, title_justify="left")
    for index, name in enumerate(columns):
        built.add_column(name, justify="left" if index == 0 else "right")
    for row in rows:
        built.add_row(*row)
    return built


def shown(table: Table, columns: Iterable[int] | None = None) -> show.Table:
    """The table for a notebook, or some of its columns, by their positions.

    >>> shown(table("two", ["method", "k"], [["a", "1"], ["b", "2"]]), [1]).column("k")
    ['1', '2']
    """
    chosen = list(table.columns) if columns is None else [table.columns[c] for c in columns]
    rows = zip(*(column.cells for column in chosen), strict=True)
    words = [str(part) for part in (table.title, table.caption) if part]
    return show.Table(tuple(str(c.header) for c in chosen), tuple(rows), title=". ".join(words))


def values(rows: Iterable[Row], column: str, **wanted) -> np.ndarray:
    """A column's numbers over the rows that have the values wanted."""
    return np.array(
        [
            row[column]
            for row in rows
            if all(row[name] == value for name, value in wanted.items()) and row[column] is not None
        ],
        dtype=float,
    )


def spread(numbers: Sequence[float], digits: int = 3) -> str:
    """Mean, and the standard deviation where there is more than one number; a dash for none."""
    if not len(numbers):
        return "-"
    if len(numbers) == 1:
        return f"{numbers[0]:.{digits}f}"
    return f"{np.mean(numbers):.{digits}f} ± {np.std(numbers):.{digits}f}"
