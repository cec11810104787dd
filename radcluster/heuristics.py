"""Good partitions quickly: agglomerate within the radius, then move and swap points.

*Agglomeration* merges, cheapest first, two clusters all of whose pairs are compatible, until K
remain. "Cheapest" is the increase of the sum of squares (Ward), or the diameter (complete
linkage), which reaches few clusters more often. *Local search* moves one point, or exchanges it
for the only point that keeps it out of another cluster, while that pays.

Everything returned is a partition into exactly K compatible, non-empty clusters, or None.
"""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform

from radcluster.colgen.problem import Problem, ProblemFactory
from radcluster.instance import Instance
from radcluster.verify import violations

#: Above this many groups no start that needs an N x N matrix is tried.
MAX_DENSE = 4000


def heuristic_partition(instance: Instance, *, seed: int = 0, tries: int = 10) -> np.ndarray | None:
    """Labels of a verified partition of good cost, or None when none was found.

    >>> heuristic_partition(Instance([[0.0], [0.1], [5.0]], 2, radius=0.5)).tolist()
    [0, 0, 1]
    """
    problem = ProblemFactory(instance).build()
    if problem is None or problem.n_groups < instance.n_clusters:
        return None
    groups = best_start(problem, np.random.default_rng(seed), tries)
    if groups is None:
        return None
    labels = groups[problem.labels]
    return None if violations(instance, labels) else labels


def best_start(problem: Problem, rng, tries: int = 10) -> np.ndarray | None:
    """Cluster of each group, the best of several starts after local search."""
    best, best_cost = None, np.inf
    for start in _starts(problem, rng, tries):
        groups = improve(problem, start)
        cost = partition_cost(problem, groups)
        if cost < best_cost:
            best, best_cost = groups, cost
    return best


def _starts(problem, rng, tries):
    if not problem.has_conflicts:
        for _ in range(tries):
            yield spread_out(problem, rng)
        return
    found = False
    methods = (ward, complete_linkage) if problem.n_groups <= MAX_DENSE else (ward,)
    for method in methods:
        clusters = method(problem)
        if len(clusters) <= problem.n_clusters:
            found = True
            yield to_exactly_k(problem, clusters)
    for nearest in (True, False):
        colours = None if found else colouring(problem, nearest)
        if colours is not None:
            found = True
            yield to_exactly_k(problem, [np.flatnonzero(colours == k) for k in set(colours)])


def partition_cost(problem: Problem, groups) -> float:
    """Cost of a partition of the groups, net of the problem's offset."""
    clusters = (np.flatnonzero(groups == k) for k in range(problem.n_clusters))
    return sum(problem.cost(c) for c in clusters)


def spread_out(problem: Problem, rng) -> np.ndarray:
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


def ward(problem: Problem) -> list[list[int]]:
    """Merge compatible clusters, the least increase of cost first, until K remain."""
    clusters = {a: [a] for a in range(problem.n_groups)}
    mass = problem.mass.tolist()
    mean = problem.centers.tolist()
    joinable = [set(problem.compatible_with(a).tolist()) for a in range(problem.n_groups)]
    heap = _first_merges(problem)
    while len(clusters) > problem.n_clusters and heap:
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


def complete_linkage(problem: Problem) -> list[np.ndarray]:
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


def colouring(problem: Problem, nearest: bool) -> np.ndarray | None:
    """Clusters by saturation: the group with the fewest clusters left chooses next.

    It joins the nearest of them, or the first; None when some group has no cluster left.
    """
    p = problem
    colours = np.full(p.n_groups, -1)
    done = _colour(p.centers, p.mass, p.start, p.neighbours, p.n_clusters, nearest, colours)
    return colours if done else None


@njit(cache=True)
def _colour(centers, mass, start, neighbours, n_clusters, nearest, colours):
    n, dim = centers.shape
    fits = np.ones((n, n_clusters), np.bool_)
    left = np.zeros(n, np.int64)
    sums = np.zeros((n_clusters, dim))
    total = np.zeros(n_clusters)
    compatible = np.zeros(n, np.bool_)
    used = 0
    for _ in range(n):
        i = -1
        for j in range(n):
            if colours[j] >= 0:
                continue
            fewer = i < 0 or left[j] < left[i]
            # Of equals, the one with the most conflicts.
            if fewer or (left[j] == left[i] and start[j + 1] - start[j] < start[i + 1] - start[i]):
                i = j
        best = -1
        for k in range(used):
            if fits[i, k] and (
                best < 0
                or (
                    nearest
                    and _gap(centers, sums, total, i, k) < _gap(centers, sums, total, i, best)
                )
            ):
                best = k
        if best < 0:
            if used == n_clusters:
                return False
            best = used
            used += 1
            left += 1
        colours[i] = best
        total[best] += mass[i]
        for a in range(dim):
            sums[best, a] += mass[i] * centers[i, a]
        compatible[:] = False
        for p in range(start[i], start[i + 1]):
            compatible[neighbours[p]] = True
        for j in range(n):
            if fits[j, best] and not compatible[j]:
                fits[j, best] = False
                left[j] -= 1
    return True


def to_exactly_k(problem: Problem, clusters) -> np.ndarray:
    """Split the costliest clusters until there are K: splitting never costs more."""
    heap = [(-problem.cost(c), i, np.asarray(c)) for i, c in enumerate(clusters)]
    heapq.heapify(heap)
    done = []
    while len(heap) + len(done) < problem.n_clusters:
        _, i, cluster = heapq.heappop(heap)
        if len(cluster) == 1:
            done.append(cluster)
            continue
        x = problem.centers[cluster] - problem.centers[cluster].mean(axis=0)
        side = x @ np.linalg.svd(x, full_matrices=False)[2][0]
        cut = np.argsort(side, kind="stable")
        half = min(max(int((side > 0).sum()), 1), len(cluster) - 1)
        for part in (cluster[cut[:-half]], cluster[cut[-half:]]):
            heapq.heappush(heap, (-problem.cost(part), len(heap) + len(done) + i + 1, part))
    groups = np.empty(problem.n_groups, dtype=np.int64)
    for k, cluster in enumerate(done + [c for _, _, c in heap]):
        groups[cluster] = k
    return groups


def improve(problem: Problem, groups) -> np.ndarray:
    """Move and exchange points while that lowers the cost; ``groups`` is left alone."""
    groups = np.array(groups, dtype=np.int64)
    _improve(
        problem.centers, problem.mass, problem.start, problem.neighbours, groups,
        problem.n_clusters,
    )  # fmt: skip
    return groups


@njit(cache=True)
def _gap(centers, sums, total, i, k):
    """Squared distance of point i to the mean of cluster k."""
    value = 0.0
    for a in range(centers.shape[1]):
        value += (centers[i, a] - sums[k, a] / total[k]) ** 2
    return value


@njit(cache=True)
def _shift(centers, mass, groups, sums, total, size, i, k):
    """Put point i into cluster k."""
    old = groups[i]
    for a in range(centers.shape[1]):
        sums[old, a] -= mass[i] * centers[i, a]
        sums[k, a] += mass[i] * centers[i, a]
    total[old] -= mass[i]
    total[k] += mass[i]
    size[old] -= 1
    size[k] += 1
    groups[i] = k


@njit(cache=True)
def _blocker(start, neighbours, groups, i, k, mark):
    """The point of cluster k that is incompatible with i, known to be the only one."""
    mark[i] = i
    for p in range(start[i], start[i + 1]):
        mark[neighbours[p]] = i
    for j in range(len(groups)):
        if groups[j] == k and mark[j] != i:
            return j
    return -1


@njit(cache=True)
def _fits(start, neighbours, groups, size, j, k, without):
    """Whether j is compatible with all of cluster k but ``without``."""
    hits = 0
    for p in range(start[j], start[j + 1]):
        b = neighbours[p]
        hits += groups[b] == k and b != without
    return hits == size[k] - 1


@njit(cache=True)
def _best_step(centers, mass, start, neighbours, groups, sums, total, size, i, hits, mark):
    """The most profitable cluster for point i, who must make room there, and the profit."""
    own = groups[i]
    leave = mass[i] * total[own] / (total[own] - mass[i]) * _gap(centers, sums, total, i, own)
    best, target, other = 1e-12 * leave, -1, -1
    for p in range(start[i], start[i + 1]):
        hits[groups[neighbours[p]]] += 1
    for p in range(start[i], start[i + 1]):
        k = groups[neighbours[p]]
        short = size[k] - hits[k]
        hits[k] = -len(groups)
        if k == own or short > 1 or short < 0:
            continue
        if short == 0:
            join = mass[i] * total[k] / (total[k] + mass[i]) * _gap(centers, sums, total, i, k)
            if leave - join > best:
                best, target, other = leave - join, k, -1
            continue
        j = _blocker(start, neighbours, groups, i, k, mark)
        if not _fits(start, neighbours, groups, size, j, own, i):
            continue
        gain = _exchange_gain(centers, mass, sums, total, i, j, own, k)
        if gain > best:
            best, target, other = gain, k, j
    for p in range(start[i], start[i + 1]):
        hits[groups[neighbours[p]]] = 0
    return target, other


@njit(cache=True)
def _exchange_gain(centers, mass, sums, total, i, j, a, b):
    """What exchanging i of cluster a for j of cluster b saves."""
    gain = 0.0
    for k in range(centers.shape[1]):
        # Per coordinate sum m x^2 stays; -(sum m x)^2 / mass changes.
        step = mass[j] * centers[j, k] - mass[i] * centers[i, k]
        gain += (sums[a, k] + step) ** 2 / (total[a] + mass[j] - mass[i])
        gain += (sums[b, k] - step) ** 2 / (total[b] + mass[i] - mass[j])
        gain -= sums[a, k] ** 2 / total[a] + sums[b, k] ** 2 / total[b]
    return gain


@njit(cache=True)
def _improve(centers, mass, start, neighbours, groups, n_clusters):
    n, dim = centers.shape
    sums = np.zeros((n_clusters, dim))
    total = np.zeros(n_clusters)
    size = np.zeros(n_clusters, np.int64)
    for i in range(n):
        for a in range(dim):
            sums[groups[i], a] += mass[i] * centers[i, a]
        total[groups[i]] += mass[i]
        size[groups[i]] += 1
    hits = np.zeros(n_clusters, np.int64)
    mark = np.full(n, -1)
    for _ in range(1000):
        changed = False
        for i in range(n):
            if size[groups[i]] == 1:
                continue
            own = groups[i]
            k, other = _best_step(
                centers, mass, start, neighbours, groups, sums, total, size, i, hits, mark
            )
            if k < 0:
                continue
            _shift(centers, mass, groups, sums, total, size, i, k)
            if other >= 0:
                _shift(centers, mass, groups, sums, total, size, other, own)
            changed = True
        if not changed:
            break
