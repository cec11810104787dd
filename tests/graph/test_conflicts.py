"""The conflict graph: cliques, anchors, propagation, certificates."""

import itertools

import networkx as nx
import numpy as np
import pytest
from cases import brute_force, moons, random_instance

from radcluster import Instance
from radcluster.graph.cliques import edge_clique_cover, max_clique
from radcluster.graph.conflicts import AdmissiblePairs, ConflictGraph, analyse, conflict_matrix


def random_adjacency(seed, n=14, density=0.5):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return upper | upper.T


@pytest.mark.parametrize("seed", range(30))
def test_max_clique_agrees_with_networkx(seed):
    adjacency = random_adjacency(seed, density=0.3 + 0.02 * seed)
    clique, proven = max_clique(adjacency)
    expected = max(map(len, nx.find_cliques(nx.from_numpy_array(adjacency))))
    assert proven
    assert len(clique) == expected
    assert all(adjacency[i, j] for i, j in itertools.combinations(clique, 2))


def test_max_clique_without_time_is_still_a_clique():
    adjacency = random_adjacency(0, n=200, density=0.9)
    clique, proven = max_clique(adjacency, budget=0.0)
    assert not proven
    assert len(clique) > 10
    assert all(adjacency[i, j] for i, j in itertools.combinations(clique, 2))


@pytest.mark.parametrize("seed", range(10))
def test_edge_clique_cover(seed):
    adjacency = random_adjacency(seed)
    covered = np.zeros_like(adjacency)
    for clique in edge_clique_cover(adjacency):
        for i, j in itertools.combinations(clique, 2):
            assert adjacency[i, j]
            covered[i, j] = covered[j, i] = True
    assert (covered == adjacency).all()


def test_a_radius_of_half_a_distance_admits_that_pair():
    rng = np.random.default_rng(0)
    for points in rng.normal(size=(500, 2, 3)):
        radius = np.sqrt(np.square(points[0] - points[1]).sum()) / 2
        assert not conflict_matrix(Instance(points, 1, radius)).any()


@pytest.mark.parametrize(
    ("radius", "size"), [(0.17, 17), (0.175, 16), (0.18, 16), (0.189, 16), (0.195, 15), (0.2, 15)]
)
def test_largest_clique_of_the_moons(radius, size):
    analysis = analyse(moons(20, radius))
    assert (len(analysis.clique), analysis.clique_proven) == (size, True)


def test_moons_with_15_clusters_are_infeasible_by_16_points():
    instance = moons(15, 0.189)
    certificate = analyse(instance).certificate
    assert certificate["kind"] == "clique"
    points = instance.points[certificate["points"]]
    assert len(points) == 16
    for a, b in itertools.combinations(points, 2):
        assert np.linalg.norm(a - b) > 2 * 0.189


def test_anchoring_the_moons_leaves_few_pairs():
    labelling = analyse(moons()).labelling
    assert len(labelling.anchors) == 16
    assert labelling.n_pairs < 170
    for k, point in enumerate(labelling.anchors):
        assert labelling.allowed[point].tolist() == [h == k for h in range(16)]


@pytest.mark.parametrize("seed", range(120))
def test_propagation_keeps_an_optimal_partition(seed):
    """Brute force restricted to the admissible pairs finds the unrestricted optimum."""
    instance = random_instance(seed, max_points=7)
    optimum = brute_force(instance)
    analysis = analyse(instance)
    if analysis.certificate:
        assert optimum == np.inf
        return
    best = np.inf
    allowed = [np.flatnonzero(row).tolist() for row in analysis.labelling.allowed]
    for labels in itertools.product(*allowed):
        if len(set(labels)) == instance.n_clusters:
            best = min(best, _cost(instance, np.array(labels)))
    assert best == pytest.approx(optimum, abs=1e-9)


def _cost(instance, labels):
    total = 0.0
    for k in range(instance.n_clusters):
        members = np.flatnonzero(labels == k)
        d = instance.sq_distances[np.ix_(members, members)]
        if d.max() > 4 * instance.radii[k] ** 2 * (1 + 1e-9):
            return np.inf
        total += d.sum() / (2 * len(members))
    if any(labels[i] == labels[j] for i, j in instance.cannot_link):
        return np.inf
    if any(labels[i] != labels[j] for i, j in instance.must_link):
        return np.inf
    return total


def test_different_radii_are_not_anchored():
    instance = Instance([[0.0], [5.0], [10.0]], 3, [1.0, 1.0, 2.0])
    labelling = analyse(instance).labelling
    assert labelling.anchors == ()
    assert labelling.allowed.all()
    assert labelling.interchangeable == ((0, 1),)


def test_leftover_clusters_are_interchangeable():
    instance = Instance([[0.0], [0.1], [0.2], [5.0], [5.1]], 4, 1.0)
    labelling = analyse(instance).labelling
    assert len(labelling.anchors) == 2
    assert labelling.interchangeable == ((2, 3),)


def test_unanchored_labelling_is_full():
    labelling = analyse(moons(), anchored=False).labelling
    assert labelling == AdmissiblePairs(labelling.allowed)
    assert labelling.n_pairs == 1600


def test_must_link_pair_in_conflict():
    instance = Instance([[0.0], [9.0], [1.0]], 2, 1.0, must_link=[(0, 1)])
    assert analyse(instance).certificate == {"kind": "must_link", "pair": [0, 1]}


def test_must_link_chain_in_conflict_names_the_path():
    instance = Instance([[0.0], [1.5], [3.0]], 2, 1.0, must_link=[(0, 1), (1, 2)])
    certificate = analyse(instance).certificate
    assert certificate == {"kind": "must_link", "pair": [0, 2], "path": [0, 1, 2]}


def test_must_and_cannot_link():
    instance = Instance([[0.0], [1.0]], 1, must_link=[(0, 1)], cannot_link=[(1, 0)])
    assert analyse(instance).certificate == {"kind": "must_link", "pair": [0, 1]}


def test_too_few_groups():
    instance = Instance([[0.0], [1.0], [2.0]], 3, must_link=[(0, 1)])
    assert analyse(instance).certificate == {"kind": "must_link_groups", "n_groups": 2}


def test_clique_of_groups():
    """Linked pairs conflict as groups although no three single points do."""
    points = [[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]]
    instance = Instance(
        points,
        2,
        must_link=[(0, 1), (2, 3), (4, 5)],
        cannot_link=[(0, 2), (3, 4), (1, 5)],
    )
    certificate = analyse(instance).certificate
    assert certificate == {"kind": "group_clique", "groups": [[0, 1], [2, 3], [4, 5]]}


def test_colouring_is_proper():
    graph = ConflictGraph(moons())
    colours = graph.colouring()
    assert not (graph.matrix & (colours[:, None] == colours[None, :])).any()
