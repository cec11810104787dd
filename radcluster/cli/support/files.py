"""Reading points, pairs and labels; errors name the row and the column."""

from __future__ import annotations

import csv
import math
import os
import stat
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radcluster.errors import InputError

#: Names of columns that number the rows instead of placing the points.
IDENTIFIERS = ("id", "index", "idx", "unnamed: 0")


@dataclass(frozen=True)
class Points:
    """Points read from a file.

    Attributes
    ----------
    values : array of shape (N, m)
    columns : tuple of str, or None
        Names of the columns that were used; None for a file without a header.
    """

    values: np.ndarray
    columns: tuple[str, ...] | None = None


def read_points(path: str | Path, columns: Sequence[str | int] | None = None) -> Points:
    """Points from a CSV file (header optional) or a ``.npy`` file, one row per point.

    ``columns`` are names in the header, or numbers counted from 0; all columns when omitted. A
    column that only numbers the rows is refused unless it is named.
    """
    path = Path(path)
    if path.suffix == ".npy":
        array = _read_npy(path)
        if columns is None or array.ndim != 2:
            return Points(array)
        return Points(array[:, _chosen(path, columns, None, array.shape[1])])
    header, rows = _split_header(_read_rows(path))
    if not rows:
        raise InputError(f"{path} holds no rows of numbers")
    width = _width(path, rows)
    if columns is not None:
        chosen = _chosen(path, columns, header, width)
    else:
        chosen = list(range(width))
        _refuse_identifier(path, header)
    values = _to_numbers(path, rows, chosen, header)
    return Points(values, None if header is None else tuple(header[c] for c in chosen))


def read_column(path: str | Path, name: str | int) -> list[str]:
    """The entries of one column of a CSV file, as they stand there."""
    path = Path(path)
    header, rows = _split_header(_read_rows(path))
    (c,) = _chosen(path, [name], header, _width(path, rows) if rows else 0)
    return [row[c].strip() for _, row in rows]


def other_columns(path: str | Path, names: Sequence[str | int]) -> list[str | int]:
    """The columns of a CSV file but these: their names, or their numbers where there are none."""
    path = Path(path)
    header, rows = _split_header(_read_rows(path))
    width = _width(path, rows) if rows else 0
    left = [c for c in range(width) if c not in _chosen(path, names, header, width)]
    return list(left) if header is None else [header[c] for c in left]


def read_pairs(path: str | Path) -> np.ndarray:
    """Pairs of 0-based indices from a CSV file, one pair per row."""
    path = Path(path)
    _, rows = _split_header(_read_rows(path))
    if not rows:
        return np.empty((0, 2), dtype=int)
    pairs = _to_numbers(path, rows, range(_width(path, rows)))
    if pairs.shape[1] != 2:
        raise InputError(f"{path}: each row must hold two point indices, not {pairs.shape[1]}")
    return _whole(path, pairs, "point indices")


def read_labels(path: str | Path) -> np.ndarray:
    """One label per line, as ``--out`` writes them; or a ``.npy`` file."""
    path = Path(path)
    if path.suffix == ".npy":
        return _whole(path, np.ravel(_read_npy(path)), "labels")
    _, rows = _split_header(_read_rows(path))
    if not rows:
        raise InputError(f"{path} holds no labels")
    labels = _to_numbers(path, rows, range(_width(path, rows)))
    if labels.shape[1] != 1:
        raise InputError(f"{path}: each row must hold one label, not {labels.shape[1]}")
    return _whole(path, labels[:, 0], "labels")


def _whole(path: Path, numbers: np.ndarray, what: str) -> np.ndarray:
    if not (np.abs(numbers) < 2**31).all() or (numbers != np.round(numbers)).any():
        raise InputError(f"{path}: {what} must be whole numbers")
    return numbers.astype(int)


def _read_npy(path: Path) -> np.ndarray:
    try:
        with _opened(path) as file:
            _check_npy(path, file)
            file.seek(0)
            return np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except _NO_HEADER as error:
        if isinstance(error, InputError):
            raise
        reason = "it is no .npy file, or holds Python objects"
        raise InputError(f"cannot read {path} as a plain array: {reason}") from error


#: What NumPy raises on headers that are none; it parses them as Python literals.
_NO_HEADER = (
    ValueError,
    EOFError,
    TypeError,
    SyntaxError,
    OverflowError,
    KeyError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)


def _check_npy(path: Path, file) -> None:
    """Refuse a header that promises more than the file holds, before memory is asked for."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0}
    header = read.get(version, np.lib.format.read_array_header_2_0)(file)
    shape, _, dtype = header
    if dtype.kind not in "fiub":
        raise InputError(f"{path} does not hold one array of numbers")
    promised = math.prod(shape) * dtype.itemsize
    held = os.fstat(file.fileno()).st_size - file.tell()
    if promised > held or any(length < 0 for length in shape):
        raise InputError(f"{path} is damaged: its header promises {promised} bytes, not {held}")


def _opened(path: Path):
    """The file, opened to read bytes; refuses what never ends."""
    try:
        if stat.S_ISCHR(os.stat(path).st_mode) and os.fspath(path) != "/dev/stdin":
            raise InputError(f"cannot read {path}: it is a device")
        return open(path, "rb")
    except ValueError as error:  # a NUL in the path
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {str(path)!r}: {error}") from None


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Rows that are not blank, each with its number in the file."""
    try:
        with _opened(path) as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is not a text file") from None
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    # A comma may also stand for the decimal point: the other marks cannot.
    delimiter = next((mark for mark in "\t;," if mark in first), None)
    # Without any of these marks, columns are what white space separates.
    plain = delimiter is None and '"' not in first
    rows = map(str.split, lines) if plain else csv.reader(lines, delimiter=delimiter or ",")
    try:
        return [
            (number, row)
            for number, row in enumerate(rows, start=1)
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise InputError(f"cannot read {path} as CSV: {error}") from None


def _split_header(rows):
    """The names in the first row, or None where that row holds numbers; and the other rows."""
    cells = [cell.strip() for cell in rows[0][1]] if rows else []
    if cells and cells[0].startswith("#"):  # so NumPy marks a header
        cells[0] = cells[0].lstrip("# ")
    words = [cell for cell in cells if cell and not _is_number(cell) and not _is_missing(cell)]
    if words and not any(_is_number(cell) or (cell and _is_missing(cell)) for cell in cells):
        return cells, rows[1:]
    return None, rows


def _width(path: Path, rows) -> int:
    first, width = rows[0][0], len(rows[0][1])
    for number, row in rows:
        if len(row) != width:
            raise InputError(
                f"{path}: row {number} has {len(row)} columns, row {first} has {width}"
            )
    return width


def _chosen(path: Path, columns, header: list[str] | None, width: int) -> list[int]:
    """Positions of the columns that the user chose by name or by number."""
    chosen = []
    for column in columns:
        text = str(column).strip()
        if header is not None and text in header:
            chosen.append(header.index(text))
        elif text.isdigit() and int(text) < width:
            chosen.append(int(text))
        elif header is None:
            raise InputError(f"{path} has no column {text!r}: columns are 0 to {width - 1}")
        else:
            raise InputError(f"{path} has no column {text!r}: columns are {', '.join(header)}")
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"columns must be different ones, and at least one: {columns}")
    return chosen


def _refuse_identifier(path: Path, header: list[str] | None) -> None:
    """Refuse a column that numbers the rows: as a coordinate it would spoil every distance."""
    for c, name in enumerate(header or ()):
        if name and name.lower() not in IDENTIFIERS and not name.lower().endswith("_id"):
            continue
        if name or c == 0:
            others = ",".join(other for other in header if other != name) or "x,y"
            what = f"column {name!r}" if name else "the first column, which has no name,"
            raise InputError(
                f"{path}: {what} seems to number the rows. "
                f"Choose the coordinates: --columns {others}"
            )


def _to_numbers(path: Path, rows, chosen, header=None) -> np.ndarray:
    try:
        return np.array([[row[c] for c in chosen] for _, row in rows], dtype=float)
    except ValueError:
        for number, row in rows:
            for c in chosen:
                if not _is_number(row[c]):
                    raise InputError(
                        f"{path}: row {number}, column {c + 1} is not a number: {row[c]!r}"
                        + _cure(row[c], header)
                    ) from None
        raise


def _cure(cell: str, header) -> str:
    """What to do about a cell that is no number."""
    if _is_missing(cell):
        return ". Fill it in, or leave the row out"
    if _is_number(cell.replace(",", ".")):
        return ". Write a point for the decimal comma"
    return ". Choose the coordinates by --columns" if header else ""


def _is_missing(cell: str) -> bool:
    """Whether it stands for a number that is not known: such a row is no header."""
    return cell.strip().lower() in ("", "na", "n/a", "null", "none", "?", "-")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
