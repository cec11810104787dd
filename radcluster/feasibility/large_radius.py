"""The smallest radius for K clusters of many points: bounds without an N x N matrix.

From below by points far apart (Gonzalez 1985), from above by a search over the radius in which
clusters are grown and dissolved. Links are not treated here.
"""

from __future__ import annotations

import math

import numpy as np

from radcluster.clock import Clock
from radcluster.feasibility.large import upper
from radcluster.problem.instance import Instance
from radcluster.problem.partition import sq_diameters

#: The search over the radius ends at this relative width, or after so many steps.
WIDTH = 1e-3
STEPS = 20


def radius_bounds(instance: Instance, clock: Clock) -> tuple[float, np.ndarray | None, list[int]]:
    """No smaller radius suffices; labels of a partition; the points that prove the bound."""
    chosen, labels, apart = _far_apart(instance.points, instance.n_clusters, clock)
    low = math.sqrt(apart) / 2
    if labels is None:
        return low, None, chosen
    best = _split(labels, instance.n_clusters)
    high = _radius(instance, best)
    floor = low
    for _ in range(STEPS):
        if clock.expired or high - floor <= WIDTH * high:
            break
        middle = (floor + high) / 2
        trial = instance.replace(radius=middle)
        found = upper(trial, Clock(clock.left), at_least=instance.n_clusters)
        if found is not None and found.max() < instance.n_clusters:
            best = _split(found, instance.n_clusters)
            high = min(middle, _radius(instance, best))
        else:
            floor = middle
    return low, best, chosen


def _radius(instance: Instance, labels: np.ndarray) -> float:
    return float(np.sqrt(sq_diameters(instance, labels).max()) / 2)


def _far_apart(points, n_clusters, clock):
    """K+1 points, each farthest from those before; the nearest of the first K; least d between.

    Without time for all of them the bound is 0 and there are no labels.
    """
    chosen = [int(np.square(points - points.mean(axis=0)).sum(axis=1).argmax())]
    nearest = np.zeros(len(points), dtype=np.int64)
    gap = np.square(points - points[chosen[0]]).sum(axis=1)
    while len(chosen) < n_clusters:
        if clock.expired:
            return chosen, None, 0.0
        chosen.append(int(gap.argmax()))
        to_new = np.square(points - points[chosen[-1]]).sum(axis=1)
        nearest[to_new < gap] = len(chosen) - 1
        gap = np.minimum(gap, to_new)
    # Every new point was the farthest, so the last gap is the least.
    return [*chosen, int(gap.argmax())], nearest, float(gap.max())


def _split(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The same partition refined to exactly ``n_clusters`` clusters, the largest halved first."""
    labels = np.unique(labels, return_inverse=True)[1]
    for fresh in range(int(labels.max()) + 1, n_clusters):
        largest = np.flatnonzero(labels == np.bincount(labels).argmax())
        labels[largest[len(largest) // 2 :]] = fresh
    return labels
