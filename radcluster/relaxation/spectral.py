"""A bound that is there at once, for any number of points.

In the Peng-Wei relaxation <C, Y> = tr G - <G, Y>, with G the Gram matrix of the centred points,
weighted. Y is at most the identity and has trace K - 1 on the complement of u, so the cost is at
least the sum of all eigenvalues of the scatter matrix but the K - 1 largest. Along at most K - 1
axes that is nothing.
"""

from __future__ import annotations

import numpy as np


def spectral_bound(points: np.ndarray, weights: np.ndarray, n_clusters: int) -> float:
    """The sum of all eigenvalues of the scatter matrix but the K - 1 largest.

    >>> round(spectral_bound(np.diag([3.0, 2.0, 1.0]), np.ones(3), 2), 6)
    2.333333
    """
    n, dim = points.shape
    centred = points - np.average(points, axis=0, weights=weights)
    values = np.linalg.eigvalsh((centred * weights[:, None]).T @ centred)
    eps, whole = np.finfo(float).eps, float(np.abs(values).sum())
    # Entries of X, the centred points times roots of weights, are wrong by E, so X'X by at most
    # 2 |X| |E| + |E|^2 in the sum of eigenvalues; sums of n products are wrong by the rest.
    wrong = (n + 8) * eps * float(np.abs(points).max()) * np.sqrt(weights.sum() * dim)
    rounding = wrong * (2 * np.sqrt(whole) + wrong) + 8 * (n + dim) * eps * whole
    kept = values[: max(dim - n_clusters + 1, 0)]
    return max(float(kept.sum() - rounding), 0.0)
