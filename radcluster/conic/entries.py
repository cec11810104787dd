"""What a user may type for a matrix, read into one form.

A symmetric matrix is given as a numpy array, a nested list, a mapping, a callable, a component
with ``matrix_expression()``, or an :class:`radcluster.conic.arrays.Affine`; its entries are numbers
and affine Pyomo expressions, mixed as it comes. Numbers on both sides of the diagonal that differ
by rounding are averaged, with a warning; anything else that is not symmetric is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from numbers import Integral, Real

import numpy as np
from pyomo.core.expr.numvalue import NumericValue
from scipy import sparse

from radcluster.conic.arrays import Affine
from radcluster.conic.compiling.linear import LinearReader, NotAffine
from radcluster.conic.triangle import triangle_indices
from radcluster.errors import InputError

#: Up to this, relative to the largest entry, two sides of the diagonal count as the same numbers.
NEARLY = 1e-8


def as_matrix(source, order=None) -> np.ndarray | Affine:
    """A matrix in whatever form it was typed, as an array of objects or numbers, or an Affine."""
    if hasattr(source, "matrix_expression"):
        source = source.matrix_expression()
    elif hasattr(source, "to_numpy"):  # a data frame
        source = source.to_numpy()
    elif isinstance(source, NumericValue):  # which can be called, too
        source = [[source]]
    if isinstance(source, Mapping) or (hasattr(source, "keys") and hasattr(source, "values")):
        return _mapped(source, order)
    if callable(source):
        return _called(source, order)
    if isinstance(source, Affine):
        matrix = source
    elif sparse.issparse(source):
        matrix = source.toarray()
    else:
        matrix = _array(list(source) if isinstance(source, Iterator) else source)
    if matrix.size == 1 and matrix.ndim < 2:
        # Pyomo takes a 1 x 1 array for a number when it multiplies it by a variable.
        matrix = matrix.reshape(1, 1)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"a cone of matrices needs a square matrix, not shape {matrix.shape}")
    if order is not None and len(_labels(order)) != matrix.shape[0]:
        raise InputError(f"the matrix has {matrix.shape[0]} rows, not {len(_labels(order))}")
    return matrix


def _array(source) -> np.ndarray:
    if isinstance(source, list | tuple):
        lengths = {len(row) if isinstance(row, list | tuple) else None for row in source}
        if len(lengths) > 1:
            raise InputError("the rows of a matrix must have the same length")
    return np.array(source) if _only_numbers(source) else np.array(source, dtype=object)


def _only_numbers(source) -> bool:
    if isinstance(source, np.ndarray):
        return source.dtype != object
    rows = source if isinstance(source, list | tuple) else [source]
    cells = [cell for row in rows for cell in (row if isinstance(row, list | tuple) else [row])]
    return all(isinstance(cell, Real) for cell in cells)


def _labels(order) -> tuple:
    return tuple(range(order)) if isinstance(order, Integral) else tuple(order)


def _called(source, order) -> np.ndarray:
    if order is None:
        raise InputError("a matrix given by a callable needs its order: PSD(f, order=n)")
    labels = _labels(order)
    matrix = np.empty((len(labels),) * 2, dtype=object)
    for q, j in enumerate(labels):
        for p, i in enumerate(labels[: q + 1]):
            matrix[p, q] = matrix[q, p] = source(i, j)
    return matrix


def _mapped(source, order) -> np.ndarray:
    """A mapping from pairs to entries: one triangle or both; what is missing is 0."""
    pairs = list(source.keys())
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InputError("a matrix given by a mapping has pairs (i, j) as its keys")
    labels = _labels(order) if order is not None else _in_order(pairs)
    position = {label: p for p, label in enumerate(labels)}
    matrix = np.zeros((len(labels),) * 2, dtype=object)
    given = set()
    for i, j in pairs:
        if i not in position or j not in position:
            raise InputError(f"the matrix has no entry {(i, j)!r}: its rows are {labels}")
        matrix[position[i], position[j]] = source[i, j]
        given.add((position[i], position[j]))
    for p, q in given:
        if (q, p) not in given:
            matrix[q, p] = matrix[p, q]
    return matrix


def _in_order(pairs) -> tuple:
    found = dict.fromkeys(label for pair in pairs for label in pair)
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(found)


def difference(matrix, rhs, negated: bool):
    """``matrix - rhs``, or its negative."""
    if rhs is not None:
        rhs = as_rhs(rhs, matrix)
        matrix = matrix if rhs is None else matrix - rhs
    return -matrix if negated else matrix


def as_rhs(rhs, matrix):
    """A right-hand side of the matrix' shape; None for zero."""
    if isinstance(rhs, Real):
        if rhs == 0:
            return None
        raise InputError(f"rhs must be 0 or a matrix; for a multiple of the identity, {rhs} * I")
    rhs = as_matrix(rhs)
    if rhs.shape != matrix.shape:
        raise InputError(f"the two sides have shapes {matrix.shape} and {rhs.shape}")
    return rhs


def symmetric_triangle(matrix, what: str) -> Affine | list:
    """The upper triangle, column by column, of a matrix that is found to be symmetric.

    Returns
    -------
    Affine or list
        A vector kept as arrays when no number in it can change later; otherwise the expressions.
    """
    order = matrix.shape[0]
    rows, columns = triangle_indices(order)
    if isinstance(matrix, Affine):
        whole, volatile = matrix, False
    else:
        whole, volatile = _read(matrix, what)
    upper, lower = rows * order + columns, columns * order + rows
    mirrored = _symmetric(whole, upper, lower, what)
    if volatile:
        cells = matrix.ravel().tolist()
        return [cells[number] for number in upper.tolist()]
    return mirrored


def _read(matrix, what: str) -> tuple[Affine, bool]:
    """The matrix as arrays, and whether some of its numbers can change later."""
    reader = LinearReader()
    order = matrix.shape[0]
    for number, entry in enumerate(matrix.ravel().tolist()):
        try:
            if isinstance(entry, bool | str) or entry is None:
                raise InputError(f"it is {entry!r}")
            reader.read(entry)
        except InputError as error:
            hint = ""
            if isinstance(error, NotAffine):
                hint = ". A variable counts as a number if it is fixed before the cone is stated"
            where = f"entry {divmod(number, order)} of {what}"
            raise InputError(f"{where} is not affine in the variables: {error}{hint}") from None
    coefficients = reader.matrix()
    coefficients.sum_duplicates()
    found = Affine(matrix.shape, reader.variables, coefficients, reader.constants)
    return found, bool(reader.volatile)


def _symmetric(whole: Affine, upper, lower, what: str) -> Affine:
    """The triangle, averaged over the two sides where they differ by rounding."""
    above, below = whole._picked(upper, (len(upper),)), whole._picked(lower, (len(upper),))
    gap = above.coefficients - below.coefficients
    gaps = abs(gap).max(axis=1).toarray().ravel() if gap.nnz else np.zeros(len(upper))
    gaps = np.maximum(gaps, np.abs(above.constant - below.constant))
    if not gaps.any():
        return above
    data = whole.coefficients.data
    largest = max(np.abs(data).max(initial=0.0), np.abs(whole.constant).max(initial=0.0))
    worst = int(np.argmax(gaps))
    if not gaps[worst] <= NEARLY * largest:
        i, j = divmod(int(upper[worst]), whole.shape[0])
        raise InputError(
            f"{what} is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by "
            f"{gaps[worst]:.3g}. State (A + A.T) / 2 if that is what you mean. A matrix of "
            "variables is symmetric if SymmetricVar or PSDVar made it."
        )
    if gaps[worst] > 1e-13 * largest:
        warnings.warn(
            f"{what} is symmetric up to {gaps[worst]:.1e} only: its two sides were averaged",
            stacklevel=2,
        )
    return 0.5 * (above + below)
