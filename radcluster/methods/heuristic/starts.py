"""Partitions to start from: agglomeration within the radius, seeds far apart.

*Agglomeration* merges, cheapest first, two clusters all of whose pairs are compatible, until K
remain. "Cheapest" is the increase of the sum of squares (Ward), or the diameter (complete
linkage), which reaches few clusters more often.
"""

from __future__ import annotations

import heapq
import itertools

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform

from radcluster.clock import Clock

#: Merges between two looks at the clock.
SLICE = 500


def spread_out(problem, rng) -> np.ndarray:
    """Nearest of K seeds drawn with probability proportional to the squared distance."""
    x, mass = problem.centers, problem.mass
    seeds = [rng.choice(len(x), p=mass / mass.sum())]
    distance = np.square(x - x[seeds[0]]).sum(axis=1)
    groups = np.zeros(len(x), dtype=np.int64)
    for k in range(1, problem.n_clusters):
        odds = mass * distance
        if odds.sum() == 0:
            odds = np.where(np.isin(np.arange(len(x)), seeds), 0.0, 1.0)
        seeds.append(rng.choice(len(x), p=odds / odds.sum()))
        to_new = np.square(x - x[seeds[-1]]).sum(axis=1)
        groups[to_new < distance] = k
        groups[seeds[-1]] = k
        distance = np.minimum(distance, to_new)
    return groups


def ward(problem, clock: Clock | None = None) -> list[list[int]]:
    """Merge compatible clusters, the least increase of cost first, until K remain.

    When the clock runs out, more than K may remain.
    """
    clock = clock or Clock(None)
    clusters = {a: [a] for a in range(problem.n_groups)}
    mass = problem.mass.tolist()
    mean = problem.centers.tolist()
    joinable = [set(problem.compatible_with(a).tolist()) for a in range(problem.n_groups)]
    heap = _first_merges(problem)
    while len(clusters) > problem.n_clusters and heap:
        if len(clusters) % SLICE == 0 and clock.expired:
            break
        _, a, b = heapq.heappop(heap)
        if a not in clusters or b not in clusters:
            continue
        fresh = len(mass)
        clusters[fresh] = clusters.pop(a) + clusters.pop(b)
        total = mass[a] + mass[b]
        mass.append(total)
        pairs = zip(mean[a], mean[b], strict=True)
        mean.append([(mass[a] * x + mass[b] * y) / total for x, y in pairs])
        for c in (joinable[a] | joinable[b]) - {a, b}:
            joinable[c] -= {a, b}
        # All of c is compatible with the union when it is with both parts.
        joinable.append(joinable[a] & joinable[b])
        joinable[a] = joinable[b] = set()
        for c in joinable[fresh]:
            joinable[c].add(fresh)
            gap = sum((x - y) ** 2 for x, y in zip(mean[fresh], mean[c], strict=True))
            heapq.heappush(heap, (total * mass[c] / (total + mass[c]) * gap, fresh, c))
    return list(clusters.values())


def _first_merges(problem):
    a = np.repeat(np.arange(problem.n_groups), np.diff(problem.start))
    b = problem.neighbours
    a, b = a[a < b], b[a < b]
    price = np.square(problem.centers[a] - problem.centers[b]).sum(axis=1)
    price *= problem.mass[a] * problem.mass[b] / (problem.mass[a] + problem.mass[b])
    heap = list(zip(price.tolist(), a.tolist(), b.tolist(), strict=True))
    heapq.heapify(heap)
    return heap


def complete_linkage(problem) -> list[np.ndarray]:
    """Merge compatible clusters, the least diameter first, until K remain."""
    n = problem.n_groups
    distance = cdist(problem.centers, problem.centers)
    never = 2 * distance.max() + 1
    apart = np.ones((n, n), dtype=bool)
    apart[np.repeat(np.arange(n), np.diff(problem.start)), problem.neighbours] = False
    distance[apart] = never
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "complete")
    merges = min(n - problem.n_clusters, int((tree[:, 2] < never).sum()))
    height = tree[merges - 1, 2] if merges else -1.0
    labels = fcluster(tree, height, "distance")
    return [np.flatnonzero(labels == c) for c in np.unique(labels)]


def clusters_of(labels: np.ndarray) -> list[np.ndarray]:
    """Members of each cluster that has any, increasing."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def exactly_k(problem, labels: np.ndarray) -> np.ndarray:
    """:func:`to_exactly_k` for labels."""
    return to_exactly_k(problem, clusters_of(labels))


def to_exactly_k(problem, clusters) -> np.ndarray:
    """Split the costliest clusters until there are K: splitting never costs more."""
    # A number of its own breaks ties, so that clusters themselves are never compared.
    number = itertools.count()
    heap = [(-problem.cost(c), next(number), np.asarray(c)) for c in clusters]
    heapq.heapify(heap)
    done = []
    while len(heap) + len(done) < problem.n_clusters:
        cluster = heapq.heappop(heap)[2]
        if len(cluster) == 1:
            done.append(cluster)
            continue
        x = problem.centers[cluster] - problem.centers[cluster].mean(axis=0)
        side = x @ np.linalg.svd(x, full_matrices=False)[2][0]
        cut = np.argsort(side, kind="stable")
        half = min(max(int((side > 0).sum()), 1), len(cluster) - 1)
        for part in (cluster[cut[:-half]], cluster[cut[-half:]]):
            heapq.heappush(heap, (-problem.cost(part), next(number), part))
    groups = np.empty(problem.n_groups, dtype=np.int64)
    for k, cluster in enumerate(done + [c for _, _, c in heap]):
        groups[cluster] = k
    return groups
