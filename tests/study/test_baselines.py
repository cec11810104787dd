"""Baselines: sizes, centres and exactness of what they solve."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from radcluster import InputError, datasets, metrics
from radcluster.study.baselines import (
    CardinalityKMeans,
    CompleteLinkage,
    GreedyKCenter,
    KMedoids,
    bounded_assignment,
)
from radcluster.study.tkmeans import TKMeans

ALL = [KMedoids, GreedyKCenter, CardinalityKMeans, TKMeans, CompleteLinkage]


@pytest.fixture(scope="module")
def moons():
    return datasets.two_moons()


@pytest.mark.parametrize("method", ALL)
def test_estimators_label_every_point_and_repeat(method, moons):
    points, _ = moons
    seeded = {} if method is CompleteLinkage else {"random_state": 3}
    first, second = (method(5, **seeded).fit(points) for _ in range(2))
    assert first.labels_.shape == (100,)
    assert set(np.unique(first.labels_)) <= set(range(5))
    assert first.cluster_centers_.shape == (5, 2)
    assert np.array_equal(first.labels_, second.labels_)
    assert first.get_params()["n_clusters"] == 5


def test_medoids_are_points_and_minimise_within_their_cluster(moons):
    points, _ = moons
    model = KMedoids(8, random_state=0).fit(points)
    distances = cdist(points, points)
    for k, medoid in enumerate(model.medoid_indices_):
        members = np.flatnonzero(model.labels_ == k)
        assert medoid in members
        totals = distances[np.ix_(members, members)].sum(axis=0)
        assert distances[medoid, members].sum() == pytest.approx(totals.min())


def test_greedy_k_center_takes_the_farthest_point_each_time(moons):
    points, _ = moons
    chosen = GreedyKCenter(6, random_state=1).fit(points).center_indices_
    for t in range(1, 6):
        nearest = cdist(points, points[chosen[:t]]).min(axis=1)
        assert nearest[chosen[t]] == nearest.max()


def _cheapest_by_enumeration(costs, size_min, size_max):
    n, k = costs.shape
    totals = (
        costs[np.arange(n), list(labels)].sum()
        for labels in itertools.product(range(k), repeat=n)
        if all(size_min <= labels.count(c) <= size_max for c in range(k))
    )
    return min(totals)


@pytest.mark.parametrize("solver", [None, "highs", "scip"])
@pytest.mark.parametrize("sizes", [(0, 7), (1, 7), (2, 3), (2, 4)])
def test_bounded_assignment_is_exact(solver, sizes):
    costs = np.random.default_rng(5).random((7, 3))
    costs[:, 0] *= 0.2  # so that the bounds bind
    labels = bounded_assignment(costs, *sizes, solver=solver)
    found = np.bincount(labels, minlength=3)
    assert sizes[0] <= found.min() and found.max() <= sizes[1]
    total = costs[np.arange(7), labels].sum()
    assert total == pytest.approx(_cheapest_by_enumeration(costs, *sizes))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((4, 7), "need 12 points"), ((0, 2), "hold 6 points"), ((3, 2), "size_min <= size_max")],
)
def test_impossible_sizes_are_refused_with_the_arithmetic(sizes, message):
    for solver in (None, "highs"):
        with pytest.raises(InputError, match=message):
            bounded_assignment(np.zeros((7, 3)), *sizes, solver=solver)


def test_cardinality_bounds_hold_and_the_solver_does_not_matter(moons):
    points, _ = moons
    ours = CardinalityKMeans(6, size_min=12, size_max=20, n_init=2, random_state=0).fit(points)
    by_name = CardinalityKMeans(
        6, size_min=12, size_max=20, n_init=2, random_state=0, solver="highs"
    ).fit(points)
    sizes = np.bincount(ours.labels_)
    assert sizes.min() >= 12 and sizes.max() <= 20
    assert ours.inertia_ == pytest.approx(by_name.inertia_)
    assert ours.inertia_ == pytest.approx(metrics.wcss(points, ours.labels_))


def test_loose_bounds_leave_plain_k_means(moons):
    points, _ = moons
    loose = CardinalityKMeans(16, n_init=10, random_state=0).fit(points)
    plain = KMeans(16, n_init=10, random_state=0).fit(points)
    assert loose.inertia_ == pytest.approx(plain.inertia_, rel=0.05)


def test_full_tk_means_finds_separated_groups_and_their_scale():
    rng = np.random.default_rng(0)
    truth = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    points = np.concatenate([c + rng.standard_t(4, (60, 2)) for c in truth])
    runs = [TKMeans(3, variant="full", random_state=s, tol=1e-4).fit(points) for s in range(8)]
    best = min(runs, key=lambda m: metrics.wcss(points, m.labels_))
    assert cdist(truth, best.cluster_centers_).min(axis=1).max() < 1.0
    assert 1.0 < best.degrees_of_freedom_ < 30.0
    assert 0.3 < best.scale_ < 3.0


def test_tk_means_refuses_an_unknown_variant():
    with pytest.raises(InputError, match="fast, full"):
        TKMeans(2, variant="slow").fit(np.zeros((3, 1)))


def test_complete_linkage_keeps_the_radius_with_more_clusters_than_needed():
    points, _ = datasets.ruspini()
    radius = 47.634021 / 2 + 1e-6  # the smallest at which four clusters suffice
    model = CompleteLinkage(radius=radius).fit(points)
    assert metrics.partition_radii(points, model.labels_).max() <= radius
    assert model.labels_.max() + 1 == 5
