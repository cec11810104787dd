"""Tables on a terminal, and the few statistics that they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from rich.table import Table

from radcluster.study.records import Row


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose first column is text and whose others are numbers."""
    built = Table(title=title, title_justify="left")
    for index, name in enumerate(columns):
        built.add_column(name, justify="left" if index == 0 else "right")
    for row in rows:
        built.add_row(*row)
    return built


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
