"""Lower bounds from any prices, optimal or not.

Let S_1..S_k, k <= K, be a partition, rc(S) = cost(S) - sum_{i in S} lambda_i + sigma with
lambda, sigma >= 0. Adding up rc,

    sum_k cost(S_k) = sum_i lambda_i - k sigma + sum_k rc(S_k).

Pricing charges each set to one of its points, the head. Disjoint sets have different heads, so
the last sum is at least the sum of the K smallest floors, floor_i <= 0 being a lower bound on
the reduced costs charged to i. With one floor for all, K times the least reduced cost, this is
the usual Lagrangian bound; here a set that prices out in one place costs nothing elsewhere.
"""

from __future__ import annotations

import numpy as np

#: Relative error allowed for in sums of floating-point numbers: far more than can build up.
ROUNDING = 1e-12


def lagrangian_bound(prices: np.ndarray, sigma: float, floor: np.ndarray, n_clusters: int) -> float:
    """No partition into at most ``n_clusters`` columns costs less.

    >>> float(np.round(lagrangian_bound(np.ones(4), 0.5, np.array([-0.1, 0.0, 0.0, 0.0]), 2), 6))
    2.9
    """
    total = float(prices.sum())
    lowest = np.partition(floor, n_clusters - 1)[:n_clusters] if n_clusters < len(floor) else floor
    margin = ROUNDING * (total + n_clusters * sigma)
    return total - n_clusters * sigma + float(np.minimum(lowest, 0.0).sum()) - margin
