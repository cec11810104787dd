"""Good partitions quickly, at any number of points.

Two questions are answered: the best partition into exactly K clusters
(:func:`heuristic_partition`), and one into as few clusters as possible (:func:`fewest_partition`).
Both grow maximal compatible sets, dissolve clusters while others can take their points, and move
and exchange points while that lowers the cost. Everything returned is valid: conflicts are read
from exact lists of neighbours, or from bounding boxes that are on the safe side; where neither
fits in memory, distances are computed as they are needed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from radcluster.clock import Clock
from radcluster.graph.eliminate import repair
from radcluster.graph.fewest import few_clusters
from radcluster.methods.colgen.problem import ProblemFactory
from radcluster.methods.heuristic import balls as many_dimensions
from radcluster.methods.heuristic import starts
from radcluster.methods.heuristic.improve import improve, partition_cost
from radcluster.methods.heuristic.kmeans import kmeans_labels
from radcluster.methods.heuristic.polish import Pool, polished
from radcluster.problem.cells import cell_order, compatible_cells
from radcluster.problem.grouping import Grouping, grouped
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.neighbours import Neighbours, TooManyPairs
from radcluster.problem.partition import cluster_centers, sq_diameters
from radcluster.proof.verify import violations

#: Up to this many groups starts are tried that look at all pairs, and k-means is not the end.
MAX_DENSE = 2000
#: With less time per point than this not even cells of a grid are formed and verified.
SECONDS_PER_POINT = 1e-6
#: Starts of each kind, on few points.
EACH_KIND = 5
#: Sweeps of Lloyd's algorithm where there are no lists of neighbours.
SWEEPS = 20
#: Sweeps over all points once there are as few clusters as can be found.
LAST_SWEEPS = 10


def heuristic_partition(
    instance: Instance, *, clock: Clock | None = None, seed: int = 0, initial=None
) -> np.ndarray | None:
    """Labels of a verified partition into exactly K clusters, of good cost; None if none is found.

    Parameters
    ----------
    instance : Instance
    clock : Clock, optional
        Read in every loop; what is best by then is returned.
    seed : int
    initial : array of labels, optional
        A partition to start from; one that is not valid is left aside.

    >>> heuristic_partition(Instance([[0.0], [0.1], [5.0]], 2, radius=0.5)).tolist()
    [0, 0, 1]
    """
    clock = clock or Clock(None)
    narrow = instance
    if not instance.uniform_radius:
        narrow = instance.replace(radius=float(instance.radii.min()))
    if initial is not None:
        initial = np.asarray(initial)
        initial = None if violations(narrow, initial) else initial
    try:
        labels = _partition(narrow, clock, seed, initial)
    except TimeoutError:
        labels = initial
    return None if labels is None or violations(instance, labels) else labels


def _partition(instance: Instance, clock: Clock, seed: int, initial) -> np.ndarray | None:
    rough = None
    if instance.points is not None and instance.n_points > MAX_DENSE:
        rough = kmeans_labels(instance, clock, seed)
        if rough is not None and initial is None and not violations(instance, rough):
            return rough
    try:
        problem = _problem(instance, clock)
    except TooManyPairs:
        return _without_lists(instance, clock, rough if initial is None else initial)
    if problem is None or problem.n_groups < instance.n_clusters:
        return None
    given = [labels for labels in (initial, rough) if labels is not None]
    rng = np.random.default_rng(seed)
    given = [_of_groups(problem, labels) for labels in given]
    groups = best_start(problem, rng, clock=clock, given=given, polish=True)
    return None if groups is None else groups[problem.labels]


def _problem(instance: Instance, clock: Clock):
    if instance.points is None:
        return ProblemFactory(instance).build()
    return grouped(instance, clock)


def _of_groups(problem, labels) -> np.ndarray:
    """Labels of the points as labels of the groups: those of the last point of each."""
    by_group = np.empty(problem.n_groups, dtype=np.int64)
    by_group[problem.labels] = labels
    return by_group


def _without_lists(instance: Instance, clock: Clock, labels) -> np.ndarray | None:
    """Many points in many dimensions: clusters of k-means made valid, then Lloyd's algorithm."""
    if len(instance.must_link) or len(instance.cannot_link):
        raise TooManyPairs(
            f"links between {instance.n_points} points in {instance.points.shape[1]} dimensions "
            "need a smaller radius: the lists of compatible pairs do not fit in memory"
        )
    balls = many_dimensions.Balls(instance.points, float(diameter_limit(instance.radii[0])), clock)
    labels = _made_valid(instance, balls, labels)
    if labels.max() + 1 > instance.n_clusters:
        labels = many_dimensions.merged(balls, labels, instance.n_clusters)
    if labels.max() + 1 > instance.n_clusters:
        return None
    labels = _split(labels, instance.n_clusters)
    return many_dimensions.lloyd(balls, labels, instance.weights, SWEEPS)


def _made_valid(instance, balls, labels) -> np.ndarray:
    if labels is None:
        nothing = np.full(instance.n_points, -1)
        return many_dimensions.repaired(balls, nothing, np.empty((0, instance.points.shape[1])), ())
    centers = cluster_centers(instance.points, labels, instance.n_clusters, instance.weights)
    wide = np.flatnonzero(sq_diameters(instance, labels) > balls.limit)
    return many_dimensions.repaired(balls, labels, centers, wide)


def _split(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The same partition refined to exactly ``n_clusters`` clusters, the largest halved first."""
    labels = labels.copy()
    for fresh in range(labels.max() + 1, n_clusters):
        largest = np.flatnonzero(labels == np.bincount(labels).argmax())
        labels[largest[len(largest) // 2 :]] = fresh
    return labels


def fewest_partition(
    source,
    radius: float | None = None,
    *,
    clock: Clock | None = None,
    seed: int = 0,
    cheaper: bool = False,
) -> np.ndarray | None:
    """Labels of a partition into few clusters; their number is not given.

    ``source`` is an Instance, whose own number of clusters plays no part, or an array of points
    with a ``radius``. With ``cheaper`` points are moved and exchanged afterwards while that lowers
    the cost. None when must-links contradict, or when the clock ran out too soon.

    >>> int(fewest_partition(np.array([[0.0], [1.0], [2.0], [5.0]]), 0.5).max()) + 1
    3
    """
    clock = clock or Clock(None)
    instance = source if isinstance(source, Instance) else Instance(source, 1, radius)
    has_links = len(instance.cannot_link) or len(instance.must_link)
    if clock.left is not None and clock.left < SECONDS_PER_POINT * instance.n_points:
        return None
    limit = float(diameter_limit(instance.radii[0]))
    if instance.points is not None and not has_links and instance.points.shape[1] <= 3:
        # Points of one cell next to each other: quicker to list, and to read.
        order = cell_order(instance.points, limit)
        if not np.array_equal(order, np.arange(len(order))):
            ordered = Instance(
                instance.points[order], 1, instance.radius, sample_weight=instance.weights[order]
            )
            labels = fewest_partition(ordered, clock=clock, seed=seed, cheaper=cheaper)
            return None if labels is None else labels[np.argsort(order)]
    try:
        problem = _problem(instance, clock)
        if problem is None:
            return None
        groups = few_clusters(_lists_of(problem), clock, seed=seed)
        if cheaper and groups.min() >= 0:
            settled = replace(problem, n_clusters=int(groups.max()) + 1)
            groups = improve(settled, groups, clock, LAST_SWEEPS)
        labels = groups[problem.labels]
        if labels.min() >= 0:
            return labels
    except TooManyPairs:
        if has_links:
            raise
        with suppress(TimeoutError):
            balls = many_dimensions.Balls(instance.points, limit, clock)
            return many_dimensions.merged(balls, _made_valid(instance, balls, None), 1)
        labels = np.full(instance.n_points, -1)
    except TimeoutError:
        labels = np.full(instance.n_points, -1)
    return None if has_links else _completed(instance.points, limit, labels)


def _completed(points: np.ndarray | None, limit: float, labels: np.ndarray) -> np.ndarray | None:
    """Points that the clock left no time for, put into small cells of a grid."""
    cells = None if points is None else compatible_cells(points, limit)
    if cells is None:
        return None
    return np.unique(np.where(labels < 0, labels.max() + 1 + cells, labels), return_inverse=True)[1]


def _lists_of(problem) -> Neighbours:
    if isinstance(problem, Grouping):
        return problem.lists
    return Neighbours(problem.start, problem.neighbours)


def best_start(
    problem, rng, tries: int = 10, clock: Clock | None = None, given=(), polish: bool = False
) -> np.ndarray | None:
    """Cluster of each group, the best of several starts after local search.

    ``given`` are labels to start from; those that hold conflicts are repaired. With ``polish``,
    more effort is made where the groups are few.
    """
    clock = clock or Clock(None)
    pool = Pool(problem)
    polish = polish and problem.n_groups <= MAX_DENSE
    best, best_cost = None, np.inf
    for start in _starts(problem, rng, tries, clock, given):
        groups = improve(problem, start, clock)
        if polish:
            pool.add_all(groups)
        cost = partition_cost(problem, groups)
        if cost < best_cost:
            best, best_cost = groups, cost
        if clock.expired:
            break
    if best is None or not polish or problem.n_clusters in (1, problem.n_groups):
        return best
    return polished(problem, best, pool, rng, clock)


def _starts(problem, rng, tries, clock, given):
    if not problem.has_conflicts:
        yield from given
        for _ in range(tries):
            yield starts.spread_out(problem, rng)
        return
    lists = _lists_of(problem)
    small = problem.n_groups <= MAX_DENSE
    seeds = EACH_KIND if small else 0
    for rough in (*given, *(starts.spread_out(problem, rng) for _ in range(seeds))):
        labels = repair(lists, rough, clock)
        if labels is not None:
            yield starts.exactly_k(problem, labels)
    if small:
        for method in (starts.ward, starts.complete_linkage):
            clusters = method(problem)
            if len(clusters) <= problem.n_clusters:
                yield starts.to_exactly_k(problem, clusters)
    for seed in range(EACH_KIND if small else 1):
        spread = 0.5 if seed else 0.0
        labels = few_clusters(lists, clock, seed=seed, at_least=problem.n_clusters, spread=spread)
        if labels.min() >= 0 and labels.max() < problem.n_clusters:
            yield starts.exactly_k(problem, labels)
