"""Reading points and pairs, writing labels; whatever is wrong is said with row and column."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from radcluster.errors import InputError


def read_points(path: str | Path) -> np.ndarray:
    """Points from a CSV file (header optional) or a ``.npy`` file, one row a point."""
    path = Path(path)
    if path.suffix == ".npy":
        return _read_npy(path)
    return _to_numbers(path, _read_rows(path))


def read_pairs(path: str | Path) -> np.ndarray:
    """Pairs of 0-based indices from a CSV file, one pair a row."""
    path = Path(path)
    rows = _read_rows(path)
    if not rows:
        return np.empty((0, 2), dtype=int)
    pairs = _to_numbers(path, rows)
    if pairs.shape[1] != 2:
        raise InputError(f"{path}: each row must hold two point indices, not {pairs.shape[1]}")
    if not (np.abs(pairs) < 2**31).all() or (pairs != np.round(pairs)).any():
        raise InputError(f"{path}: point indices must be whole numbers")
    return pairs.astype(int)


def check_writable(path: str | Path) -> None:
    """Refuse a path that cannot be written, before the work is done."""
    parent = Path(path).resolve().parent
    if Path(path).is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"cannot write {path}: no folder to write to at {parent}")


def write_labels(path: str | Path, labels) -> None:
    """One label a line, in the order of the points."""
    try:
        Path(path).write_text("".join(f"{label}\n" for label in labels))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _read_npy(path: Path) -> np.ndarray:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        reason = "it is no .npy file, or holds Python objects"
        raise InputError(f"cannot read {path} as a plain array: {reason}") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise InputError(f"{path} does not hold one array of numbers")
    return array


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Rows that are not blank, each with its number in the file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is not a text file") from None
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = next((mark for mark in ",;\t" if mark in first), None)
    # Without any of these marks, columns are what white space separates.
    plain = delimiter is None and '"' not in first
    rows = map(str.split, lines) if plain else csv.reader(lines, delimiter=delimiter or ",")
    return [
        (number, row)
        for number, row in enumerate(rows, start=1)
        if any(cell.strip() for cell in row)
    ]


def _to_numbers(path: Path, rows) -> np.ndarray:
    if rows and not rows[0][1][0].strip() and not any(map(_is_number, rows[0][1])):
        raise InputError(
            f"{path}: the first column has no name, as an index has: write the file without it"
        )
    if rows and not any(_is_number(cell) or _is_missing(cell) for cell in rows[0][1]):
        rows = rows[1:]  # a header
    if not rows:
        raise InputError(f"{path} holds no rows of numbers")
    width = len(rows[0][1])
    for number, row in rows:
        if len(row) != width:
            raise InputError(
                f"{path}: row {number} has {len(row)} columns, row {rows[0][0]} has {width}"
            )
    try:
        return np.array([row for _, row in rows], dtype=float)
    except ValueError:
        for number, row in rows:
            for column, cell in enumerate(row, start=1):
                if not _is_number(cell):
                    raise InputError(
                        f"{path}: row {number}, column {column} is not a number: {cell!r}"
                    ) from None
        raise


def _is_missing(cell: str) -> bool:
    """Whether it stands for a number that is not known: such a row is no header."""
    return cell.strip().lower() in ("", "na", "n/a", "null", "none", "?", "-")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
