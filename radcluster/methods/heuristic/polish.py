"""Better than a local optimum: a few clusters at a time are formed anew, and all seen are combined.

*Ruin and recreate* takes a cluster and some beside it, forms as many from their points in another
way, and keeps what costs less. Every cluster seen on the way is kept in a pool; in the end a
set-partitioning program chooses the cheapest K of them that hold all points, by HiGHS.
"""

from __future__ import annotations

import numpy as np

from radcluster.clock import Clock
from radcluster.graph.eliminate import repair
from radcluster.graph.fewest import few_clusters
from radcluster.methods.colgen.columns import Columns
from radcluster.methods.colgen.primal import best_choice
from radcluster.methods.heuristic import starts
from radcluster.methods.heuristic.improve import improve, partition_cost
from radcluster.problem.grouping import Grouping
from radcluster.problem.neighbours import Neighbours

#: Most clusters formed anew at a time.
REGION = 6
#: Attempts per cluster, and most attempts.
TRIES_PER_CLUSTER = 6
MOST_TRIES = 600
#: Most clusters in the program, and seconds for it.
MOST_COLUMNS = 6000
PROGRAM_SECONDS = 3.0


class Pool:
    """Clusters seen, each once, with their costs."""

    def __init__(self, problem):
        self.problem = problem
        self.costs: dict[tuple[int, ...], float] = {}

    def add(self, members: np.ndarray) -> None:
        key = tuple(members.tolist())
        if key not in self.costs and len(self.costs) < MOST_COLUMNS:
            self.costs[key] = self.problem.cost(members)

    def add_all(self, groups: np.ndarray) -> None:
        for members in starts.clusters_of(groups):
            self.add(members)

    def best(self, clock: Clock) -> np.ndarray | None:
        """The cheapest partition into clusters of the pool that the program finds."""
        costs = np.array(list(self.costs.values()))
        seconds = PROGRAM_SECONDS if clock.left is None else min(PROGRAM_SECONDS, clock.left)
        columns = Columns.of([np.array(members) for members in self.costs])
        unit = max(float(costs.max()), np.finfo(float).tiny)
        return best_choice(self.problem, columns, costs, unit, seconds)


def polished(problem, groups: np.ndarray, pool: Pool, rng, clock: Clock) -> np.ndarray:
    """The partition after ruin and recreate, and after the best choice among all clusters seen."""
    lists = Neighbours(problem.start, problem.neighbours)
    tries = min(TRIES_PER_CLUSTER * problem.n_clusters, MOST_TRIES)
    for _ in range(tries):
        if clock.expired:
            return groups
        groups = _recreated(problem, lists, groups, pool, rng, clock)
    groups = improve(problem, groups, clock)
    pool.add_all(groups)
    chosen = None if clock.expired else pool.best(clock)
    if chosen is not None:
        chosen = improve(problem, chosen, clock)
        if partition_cost(problem, chosen) < partition_cost(problem, groups):
            return chosen
    return groups


def _recreated(problem, lists, groups, pool, rng, clock) -> np.ndarray:
    """The partition with a few clusters formed anew, if that costs less."""
    own = groups[rng.integers(problem.n_groups)]
    members = np.flatnonzero(groups == own)
    near = np.concatenate([lists.of(i) for i in members]) if len(members) else members
    beside = np.setdiff1d(groups[near], [own])
    count = min(int(rng.integers(1, REGION)), len(beside))
    if count == 0:
        return groups
    chosen = np.append(rng.choice(beside, count, replace=False), own)
    members = np.flatnonzero(np.isin(groups, chosen))
    region = Grouping(
        len(chosen),
        members,
        problem.mass[members],
        problem.centers[members],
        lists.restricted(members),
    )
    labels = repair(region.lists, starts.spread_out(region, rng), clock, patience=20)
    if labels is None:
        seed = int(rng.integers(2**31))
        labels = few_clusters(region.lists, clock, seed=seed, at_least=len(chosen), spread=0.5)
        if labels.min() < 0 or labels.max() >= len(chosen):
            return groups
    labels = improve(region, starts.exactly_k(region, labels), clock)
    for cluster in starts.clusters_of(labels):
        pool.add(members[cluster])
    before = np.searchsorted(np.sort(chosen), groups[members])
    if partition_cost(region, labels) >= partition_cost(region, before) * (1 - 1e-12):
        return groups
    groups = groups.copy()
    groups[members] = chosen[labels]
    groups = improve(problem, groups, clock)
    pool.add_all(groups)
    return groups
