"""Lists of neighbours and diameters: the same as from the whole matrix, in every dimension."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from radcluster import Instance
from radcluster.clock import Clock
from radcluster.problem.cells import compatible_cells
from radcluster.problem.diameters import sq_diameter
from radcluster.problem.grouping import grouped, micro_aggregated, must_link_labels
from radcluster.problem.instance import diameter_limit
from radcluster.problem.neighbours import DENSE, TooManyPairs, find_neighbours, within


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("rounded", [False, True])
def test_neighbours_are_those_of_the_matrix(dim, rounded):
    rng = np.random.default_rng(dim)
    points = rng.random((DENSE + 300, dim))
    if rounded:
        points = np.round(points, 2)  # ties at exactly 2r
    limit = float(diameter_limit(0.05 * dim))
    near = cdist(points, points, "sqeuclidean") <= limit
    np.fill_diagonal(near, False)
    found = within(points, limit)
    assert np.array_equal(found.matrix().toarray() > 0, near), f"dim={dim}"
    assert all(np.all(np.diff(found.of(i)) > 0) for i in range(0, len(points), 97))


def test_a_pair_at_exactly_twice_the_radius_is_compatible():
    rng = np.random.default_rng(3)
    points = rng.random((DENSE + 1, 2))
    radius = float(np.linalg.norm(points[0] - points[1])) / 2
    assert 1 in find_neighbours(Instance(points, 1, radius)).of(0)


def test_cannot_links_are_taken_out_and_restriction_renumbers():
    rng = np.random.default_rng(0)
    points = rng.random((40, 2))
    links = [(0, 5), (7, 3)]
    found = find_neighbours(Instance(points, 1, 0.3, cannot_link=links))
    full = find_neighbours(Instance(points, 1, 0.3))
    expected = full.matrix().toarray()
    for i, j in links:
        expected[i, j] = expected[j, i] = 0
    assert np.array_equal(found.matrix().toarray(), expected)
    some = np.array([1, 3, 7, 20])
    assert np.array_equal(found.restricted(some).matrix().toarray(), expected[np.ix_(some, some)])


def test_too_many_pairs_and_too_little_time_are_said():
    points = np.random.default_rng(0).random((3000, 2))
    with pytest.raises(TooManyPairs):
        within(points, 1.0, max_entries=10_000)
    with pytest.raises(TimeoutError):
        within(points, 0.01, clock=Clock(0.0))


@pytest.mark.parametrize("seed", range(20))
def test_diameters_are_those_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(2, 1200)), int(rng.integers(1, 7))
    points = rng.normal(size=(n, dim)) * rng.random(dim) + 50 * (seed % 3)
    if seed % 4 == 0:
        points = np.round(points, 1)
    if seed % 5 == 0:
        points = points[:, :1] * rng.random((1, max(dim, 2)))  # on a line
    expected = pdist(points, "sqeuclidean").max()
    assert sq_diameter(points) == pytest.approx(expected, rel=1e-13), f"seed={seed}"


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_cells_are_on_the_safe_side(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((400, 1 + seed % 3))
    instance = Instance(points, 5, 0.1, cannot_link=[(0, 1)], must_link=[(2, 3)])
    grouping = micro_aggregated(instance, must_link_labels(instance), Clock(None))
    limit = float(diameter_limit(0.1))
    conflict = cdist(points, points, "sqeuclidean") > limit
    conflict[0, 1] = conflict[1, 0] = True
    member = [np.flatnonzero(grouping.labels == g) for g in range(grouping.n_groups)]
    assert grouping.labels[2] == grouping.labels[3]
    assert grouping.mass.sum() == pytest.approx(400)
    for a in range(grouping.n_groups):
        if 2 not in member[a]:
            assert not conflict[np.ix_(member[a], member[a])].any(), f"seed={seed}"
        for b in grouping.lists.of(a):
            assert not conflict[np.ix_(member[a], member[b])].any(), f"seed={seed}"


def test_contradicting_links_have_no_groups():
    instance = Instance([[0.0], [1.0], [9.0]], 1, 1.0, must_link=[(0, 2)])
    assert grouped(instance, Clock(None)) is None


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cells_hold_no_conflict(dim):
    points = np.random.default_rng(dim).random((500, dim))
    limit = float(diameter_limit(0.07))
    labels = compatible_cells(points, limit)
    for k in np.unique(labels):
        assert sq_diameter(points[labels == k]) <= limit
