"""Exact k-means on the line, with a radius or with a cap on the sizes, by dynamic programming.

On the line some optimal partition consists of intervals, so that with the points in order

    f(k, j) = min over i < j of  f(k-1, i) + cost(i..j-1),    intervals i..j-1 that are allowed,

is the cheapest partition of the first j points into k clusters. Why intervals suffice:

- *A radius.* Take clusters A and B with means a <= b whose ranges overlap, and let t be the number
  in the common range that is nearest to (a+b)/2. Give A the points of both below t and B those
  above (points at t stay). Each point that moves comes nearer to its mean, so the cost does not
  rise. The lower part begins where A or B began and ends at t, which both ranges contain, so it is
  no longer than that range; likewise the upper part. Diameters stay within 2r.
- *A cap on sizes.* If x in A lies right of y in B and a <= b, swapping them keeps the sizes and
  does not raise the cost.
"""

from __future__ import annotations

import numpy as np

from radcluster.errors import InputError
from radcluster.problem.instance import diameter_limit


def optimal_on_line(
    points, n_clusters: int, radius: float = np.inf, max_size: int | None = None
) -> np.ndarray:
    """Labels of an optimal partition of points on the line, clusters numbered from the left.

    >>> optimal_on_line([5.0, 0.0, 1.0, 2.0], 2, radius=0.5).tolist()
    Traceback (most recent call last):
    ...
    radcluster.errors.InputError: 2 clusters of radius 0.5 and at most 4 points do not suffice
    >>> optimal_on_line([5.0, 0.0, 1.0, 2.0], 2).tolist()
    [1, 0, 0, 0]
    """
    x = np.asarray(points, dtype=float).ravel()
    n = len(x)
    max_size = n if max_size is None else max_size
    order = np.argsort(x, kind="stable")
    cost = _interval_costs(x[order], radius, max_size)
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    starts = np.zeros((n_clusters, n + 1), dtype=int)
    for k in range(n_clusters):
        through = best[:n, None] + cost[:, 1:]  # [i, j-1]: k clusters up to i, one more up to j
        starts[k, 1:] = through.argmin(axis=0)
        best = np.concatenate([[np.inf], through.min(axis=0)])
    if not np.isfinite(best[n]):
        raise InputError(
            f"{n_clusters} clusters of radius {radius:g} and at most {max_size} points "
            "do not suffice"
        )
    labels = np.empty(n, dtype=int)
    end = n
    for k in reversed(range(n_clusters)):
        start = starts[k, end]
        labels[order[start:end]] = k
        end = start
    return labels


def _interval_costs(x, radius, max_size):
    """cost[i, j] of the points i..j-1 in order as one cluster; inf where that is not allowed."""
    x = x - x.mean()  # the differences of prefix sums below cancel less near zero
    n = len(x)
    sums = np.concatenate([[0.0], np.cumsum(x)])
    squares = np.concatenate([[0.0], np.cumsum(x * x)])
    i, j = np.triu_indices(n + 1, k=1)
    size = j - i
    total = sums[j] - sums[i]
    cost = np.full((n, n + 1), np.inf)
    allowed = (np.square(x[j - 1] - x[i]) <= diameter_limit(radius)) & (size <= max_size)
    i, j, size, total = i[allowed], j[allowed], size[allowed], total[allowed]
    cost[i, j] = np.maximum(squares[j] - squares[i] - total * total / size, 0.0)
    return cost
