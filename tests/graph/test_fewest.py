"""Few clusters from lists of neighbours, repair, dominance, and heaviest sets."""

from itertools import combinations

import numpy as np
import pytest

from radcluster import Instance, min_clusters
from radcluster.clock import Clock
from radcluster.datasets import two_moons
from radcluster.feasibility import packing
from radcluster.graph.eliminate import repair
from radcluster.graph.fewest import few_clusters
from radcluster.graph.grow import grow
from radcluster.graph.heaviest import enlarged, heaviest_sets
from radcluster.graph.reduce import dominated
from radcluster.problem.neighbours import from_matrix, within
from radcluster.proof.verify import violations


def random_graph(seed, n=14):
    rng = np.random.default_rng(seed)
    near = rng.random((n, n)) < rng.uniform(0.2, 0.8)
    near = np.triu(near, 1)
    return from_matrix(near | near.T), near | near.T


def is_partition(near, labels):
    same = labels[:, None] == labels[None, :]
    np.fill_diagonal(same, False)
    return labels.min() >= 0 and not np.any(same & ~near)


@pytest.mark.parametrize("seed", range(30))
def test_few_clusters_are_valid_and_not_fewer_than_a_clique(seed):
    lists, near = random_graph(seed, n=5 + seed)
    labels = few_clusters(lists, Clock(None), seed=seed, spread=0.3 * (seed % 2))
    assert is_partition(near, labels), f"seed={seed}"
    apart = packing.independent(lists)
    assert not near[np.ix_(apart, apart)].any()
    assert labels.max() + 1 >= apart.sum()


def test_few_clusters_stop_where_asked():
    lists = within(two_moons(n=(850, 150))[0], 4 * 0.05**2)
    assert grow(lists, Clock(None)).max() + 1 > 122
    assert few_clusters(lists, Clock(None), at_least=122).max() + 1 == 122


@pytest.mark.parametrize("seed", range(20))
def test_repair_keeps_the_number_of_clusters_or_gives_up(seed):
    lists, near = random_graph(seed)
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, 7, lists.n_points), return_inverse=True)[1]
    mended = repair(lists, labels, Clock(None), seed=seed)
    if mended is not None:
        assert is_partition(near, mended), f"seed={seed}"
        assert mended.max() <= labels.max()


@pytest.mark.parametrize("seed", range(20))
def test_who_is_dominated_fits_wherever_the_leader_is(seed):
    points = np.random.default_rng(seed).random((60, 2))
    lists = within(points, 0.1)
    near = lists.matrix().toarray() > 0
    np.fill_diagonal(near, True)
    leader = dominated(lists, Clock(None))
    kept = leader == np.arange(60)
    assert kept[leader].all()
    for i in np.flatnonzero(~kept):
        among = near[leader[i]] & kept
        assert near[i, leader[i]] and near[i][among].all(), f"seed={seed}, point {i}"


@pytest.mark.parametrize("seed", range(15))
def test_heaviest_sets_are_those_of_enumeration(seed):
    lists, near = random_graph(seed, n=11)
    rng = np.random.default_rng(seed)
    weights = rng.random(11) * (rng.random(11) < 0.8)
    bounds, _ = heaviest_sets(lists, weights, np.arange(11), 0.0, 10**6, Clock(None))
    best = np.zeros(11)
    for size in range(1, 12):
        for members in combinations(np.flatnonzero(weights).tolist(), size):
            if all(near[i, j] for i, j in combinations(members, 2)):
                best[members[-1]] = max(best[members[-1]], weights[list(members)].sum())
    assert bounds == pytest.approx(best), f"seed={seed}"
    rough, _ = heaviest_sets(lists, weights, np.arange(11), 0.0, 1, Clock(None))
    assert np.all(rough >= best - 1e-12)


def test_enlarged_sets_are_compatible_and_maximal():
    lists, near = random_graph(4)
    members = enlarged(lists, np.array([3]), np.arange(14))
    assert near[np.ix_(members, members)].sum() == len(members) * (len(members) - 1)
    rest = np.setdiff1d(np.arange(14), members)
    assert not near[np.ix_(rest, members)].all(axis=1).any()


@pytest.mark.parametrize("seed", range(8))
def test_weights_bound_the_fewest_clusters(seed):
    points = np.random.default_rng(seed).random((120, 2))
    lists = within(points, 4 * 0.06**2)
    weights = packing.packing_weights(lists, Clock(None))
    bounds, _ = heaviest_sets(
        lists, weights / packing.SCALE, np.arange(120), 1.0, 10**7, Clock(None)
    )
    assert bounds.max() <= 1 + 1e-12, f"seed={seed}"
    fewest = min_clusters(points, 0.06)
    assert fewest.status == "optimal"
    assert 0.95 * fewest.n_clusters <= packing.bound_of(lists, weights) <= fewest.n_clusters


def test_the_moons_need_at_most_three_percent_more_than_the_fewest():
    points = two_moons(n=(850, 150))[0]
    labels = few_clusters(within(points, 4 * 0.05**2 * (1 + 1e-12)), Clock(None))
    n_clusters = int(labels.max()) + 1
    assert violations(Instance(points, n_clusters, 0.05), labels) == []
    assert 116 <= n_clusters <= 119  # 116 is proven
