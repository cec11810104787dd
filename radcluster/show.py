"""How objects show themselves: tables and cards as text and HTML, and the way to the figures.

Results, instances, certificates and models lie on low floors; figures lie on a high one, and an
import may only point down. So an object that can be drawn asks :func:`view` for the function that
draws it. The package's ``__init__`` says which room that is, once (:func:`use`), and the room is
loaded when the first figure is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Integral, Real

_room: str | None = None
#: Rows of a table that are printed in full; of longer ones the first and the last are.
PRINTED_ROWS = 40

_TABLE = "border-collapse:collapse;font-size:0.9em;margin:0.3em 0"
_CELL = "padding:0.1em 0.7em 0.1em 0;text-align:{align};border:0;background:none"
_CARD = "border-left:3px solid #0072B2;padding:0.2em 0 0.2em 0.9em;margin:0.4em 0;line-height:1.35"


def use(room: str) -> None:
    """Name the package that draws: its modules hold the functions that :func:`view` finds."""
    global _room
    _room = room


def view(module: str, function: str) -> Callable:
    """The function of the drawing room; its module is imported now, if it was not before."""
    if _room is None:
        raise RuntimeError("no room draws: import radcluster")
    return getattr(importlib.import_module(f"{_room}.{module}"), function)


@dataclass(frozen=True)
class Table:
    """A small table that prints itself, as text and in a notebook.

    Examples
    --------
    >>> table = Table(("cluster", "size"), ((0, 12), (1, 7)), title="two clusters")
    >>> table
    two clusters
    cluster  size
          0    12
          1     7
    >>> table.column("size")
    [12, 7]
    """

    columns: tuple[str, ...]
    rows: tuple[tuple, ...]
    title: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def column(self, name: str) -> list:
        """One column's values."""
        return [row[self.columns.index(name)] for row in self.rows]

    def to_frame(self):
        """The table as a :class:`pandas.DataFrame`."""
        return pandas().DataFrame(list(self.rows), columns=list(self.columns))

    def __repr__(self) -> str:
        body = [[text(cell) for cell in row] for row in _shortened(self.rows, len(self.columns))]
        widths = [max(map(len, column)) for column in zip(self.columns, *body, strict=True)]
        right = [_is_numeric(column) for column in _by_column(self.rows, len(self.columns))]
        lines = [_line(row, widths, right) for row in [list(self.columns), *body]]
        return "\n".join([self.title] * bool(self.title) + lines)

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self.title)}</b>" if self.title else ""
        return title + html_table(self.columns, _shortened(self.rows, len(self.columns)))


def pandas():
    """The package pandas, or a line that says how to get it."""
    try:
        return importlib.import_module("pandas")
    except ImportError:
        raise ImportError(
            "a data frame needs pandas: pip install 'radcluster[notebooks]'"
        ) from None


def text(value) -> str:
    """A cell: floats with six digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{value:.6g}"
    return str(value)


def html_table(columns: Sequence[str], rows: Iterable[Sequence], numeric=None) -> str:
    """A table in HTML, numbers to the right; ``columns`` may be empty: no head."""
    rows = [list(row) for row in rows]
    width = len(columns) or (len(rows[0]) if rows else 0)
    right = numeric or [_is_numeric(column) for column in _by_column(rows, width)]
    style = [_CELL.format(align="right" if r else "left") for r in right]
    head = (
        "".join(
            f'<th style="{s};opacity:0.65">{escape(c)}</th>'
            for c, s in zip(columns, style, strict=True)
        )
        if columns
        else ""
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{s}">{escape(text(c))}</td>' for c, s in zip(row, style, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table style="{_TABLE}">{f"<tr>{head}</tr>" if head else ""}{body}</table>'


def card(title: str, facts: Iterable[tuple[str, object]], *parts: str) -> str:
    """A titled list of facts, and more HTML under it, as one object in a notebook."""
    listed = [(name, text(value)) for name, value in facts]
    rows = html_table((), listed, [False, False]) if listed else ""
    return f'<div style="{_CARD}"><b>{escape(title)}</b>{rows}{"".join(parts)}</div>'


class Shown:
    """What shows itself by its name, its status and :meth:`_facts`: in a line and as a card."""

    status: str

    def _facts(self) -> list[tuple[str, object]]:
        """What a person reads first, in words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {text(value)}" for name, value in self._facts())
        return f"{type(self).__name__}({self.status}: {facts})"

    def _repr_html_(self) -> str:
        return card(f"{type(self).__name__}: {self.status}", self._facts())


def folded(summary: str, inner: str) -> str:
    """HTML that opens on a click."""
    return f"<details><summary>{escape(summary)}</summary>{inner}</details>"


def paragraph(words: str) -> str:
    """A sentence in HTML."""
    return f'<div style="max-width:46em">{escape(words)}</div>'


def _shortened(rows, width):
    if len(rows) <= PRINTED_ROWS:
        return rows
    half = PRINTED_ROWS // 2
    return (*rows[:half], ("...",) * width, *rows[-half:])


def _by_column(rows, width):
    return [[row[c] for row in rows] for c in range(width)]


def _is_numeric(values) -> bool:
    known = [value for value in values if value is not None and value != "..."]
    return bool(known) and all(isinstance(v, Real) for v in known)


def _line(cells, widths, right) -> str:
    aligned = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(aligned).rstrip()
