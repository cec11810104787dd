"""Heuristic partitions: valid, of exactly K clusters, and locally optimal."""

import numpy as np
import pytest
from cases import brute_force, moons, random_instance

from radcluster import Instance, solve
from radcluster.datasets import two_moons
from radcluster.methods.colgen.problem import ProblemFactory
from radcluster.methods.heuristic.improve import improve, partition_cost
from radcluster.methods.heuristic.search import heuristic_partition
from radcluster.methods.heuristic.starts import (
    complete_linkage,
    to_exactly_k,
    ward,
)
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations


def test_what_is_found_is_valid_and_costs_no_less_than_the_optimum():
    found = 0
    for seed in range(100):
        instance = random_instance(seed, per_cluster_radii=False)
        labels = heuristic_partition(instance)
        if labels is None:
            continue
        found += 1
        assert violations(instance, labels) == []
        assert objective_of(instance, labels) >= brute_force(instance) * (1 - 1e-9)
    assert found > 40


def test_nothing_is_found_where_nothing_is():
    assert heuristic_partition(moons(15, 0.189)) is None
    assert heuristic_partition(Instance([[0.0], [0.0]], 1, cannot_link=[(0, 1)])) is None
    assert heuristic_partition(Instance([[0.0], [0.0]], 2, must_link=[(0, 1)])) is None


def test_the_seed_decides():
    instance = Instance(np.random.default_rng(0).random((50, 3)), 6)
    first, again = (heuristic_partition(instance, seed=4) for _ in range(2))
    assert np.array_equal(first, again)


@pytest.mark.parametrize("start", [ward, complete_linkage])
def test_starts_respect_the_conflicts(start):
    instance = Instance(two_moons(n=(170, 30))[0], 32, 0.12)
    problem = ProblemFactory(instance).build()
    groups = to_exactly_k(problem, start(problem))
    assert violations(instance, groups[problem.labels]) == []
    better = improve(problem, groups)
    assert violations(instance, better[problem.labels]) == []
    assert partition_cost(problem, better) < partition_cost(problem, groups)


def test_local_search_leaves_no_single_move_that_pays():
    instance = Instance(np.random.default_rng(1).random((40, 2)), 5, 0.5)
    labels = heuristic_partition(instance)
    best = objective_of(instance, labels)
    for i in range(40):
        for k in range(5):
            moved = labels.copy()
            moved[i] = k
            if not violations(instance, moved):
                assert objective_of(instance, moved) >= best - 1e-9


def test_an_exchange_is_found_where_no_move_is_possible():
    """Each of two points fits the other's cluster only after the other has left."""
    points = np.array([[0.0], [0.1], [1.0], [1.1], [0.9], [0.2]])
    instance = Instance(points, 2, 0.5)
    problem = ProblemFactory(instance).build()
    crossed = np.array([0, 0, 1, 1, 1, 0])
    crossed[[1, 4]] = crossed[[4, 1]]
    assert objective_of(instance, improve(problem, crossed)) < objective_of(instance, crossed)


def test_heavy_points_weigh():
    """Three points at 0 that must stay together outweigh one at 3, so the one in between joins."""
    instance = Instance([[0.0], [0.0], [0.0], [1.4], [3.0]], 2, must_link=[(0, 1), (1, 2)])
    labels = heuristic_partition(instance)
    assert objective_of(instance, labels) == pytest.approx(brute_force(instance))


@pytest.mark.parametrize("method", ["exact", "colgen", "heuristic"])
def test_clusters_that_tie_in_cost_are_split_all_the_same(method):
    """Of duplicates every part costs nothing; the parts themselves cannot be compared."""
    instance = Instance(np.ones((5, 3)), 4, 1.0, cannot_link=[(0, 1), (0, 3)])
    result = solve(instance, method)
    assert result.objective == 0.0 and len(set(result.labels.tolist())) == 4
