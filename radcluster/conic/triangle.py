"""Symmetric matrices as vectors: the upper triangle, column by column.

    [[a, b, d],
     [b, c, e],      is      (a, b, c, d, e, f);
     [d, e, f]]

with off-diagonal entries times sqrt 2, inner products of such vectors are those of the matrices.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def triangle_indices(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the upper triangle, column by column.

    >>> rows, columns = triangle_indices(2)
    >>> rows.tolist(), columns.tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    columns, rows = np.tril_indices(order)
    rows.flags.writeable = columns.flags.writeable = False
    return rows, columns


@lru_cache(maxsize=64)
def triangle_scale(order: int) -> np.ndarray:
    """1 on the diagonal, sqrt 2 off it, over the triangle of a symmetric matrix."""
    rows, columns = triangle_indices(order)
    scale = np.where(rows == columns, 1.0, math.sqrt(2.0))
    scale.flags.writeable = False
    return scale


def order_of(n_entries: int) -> int:
    """Order of the matrix whose triangle has this many entries.

    >>> order_of(6)
    3
    """
    return (math.isqrt(8 * n_entries + 1) - 1) // 2


def position_of(p: int, q: int) -> int:
    """Where the entry (p, q), in either order, stands in the triangle."""
    p, q = min(p, q), max(p, q)
    return q * (q + 1) // 2 + p


def unpack(triangle) -> np.ndarray:
    """Symmetric matrix from its upper triangle, column by column.

    >>> unpack([1, 2, 3])
    array([[1., 2.],
           [2., 3.]])
    """
    triangle = np.asarray(triangle, dtype=float)
    order = order_of(len(triangle))
    rows, columns = triangle_indices(order)
    matrix = np.empty((order, order))
    matrix[rows, columns] = matrix[columns, rows] = triangle
    return matrix
