"""The nearest matrix with eigenvalues between 0 and 1 and a given trace.

Only the eigenvalues above a threshold are used, and after some iterations they are few. Then a few
of the largest are computed; when the smallest of these is not below the threshold, there were too
few, and all are.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from radcluster.relaxation.engine import kernels

#: A part of the eigenvalues is computed when it is at most this part.
PART = 0.2


def spectral_factor(matrix: np.ndarray, trace: float, expected: int) -> tuple[int, np.ndarray]:
    """F with FF' the projection of a symmetric matrix, and its rank.

    The least eigenvalue belongs to the vector u, which the projection leaves out.

    Parameters
    ----------
    expected : int
        The rank that the last projection had.
    """
    n = len(matrix)
    some = expected + max(3, expected // 8)
    if some <= PART * n:
        values, vectors = scipy.linalg.eigh(
            matrix, driver="evr", subset_by_index=[n - some, n - 1], check_finite=False
        )
        x = np.empty_like(values)
        if values[0] < kernels.capped_simplex(values, trace, x):
            return _factor(x, vectors)
    values, vectors = scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
    x = np.zeros_like(values)
    kernels.capped_simplex(values[1:], trace, x[1:])
    return _factor(x, vectors)


def _factor(x: np.ndarray, vectors: np.ndarray) -> tuple[int, np.ndarray]:
    used = np.flatnonzero(x > 0.0)
    return len(used), vectors[:, used] * np.sqrt(x[used])
