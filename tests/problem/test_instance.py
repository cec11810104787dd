"""Everything wrong with the data is refused at the door, with a message that says what."""

import numpy as np
import pytest

from radcluster import InputError, Instance, min_clusters, min_radius

POINTS = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.0], [np.nan]], r"points\[1, 0\] is nan"),
        ([[0.0], [np.inf]], r"points\[1, 0\] is inf"),
        ([1.0, 2.0], r"reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"shape \(N, m\)"),
        ([], "empty"),
        (np.empty((0, 2)), "empty"),
        (np.empty((3, 0)), "empty"),
        ([["a", "b"]], "numbers"),
        ([[1.0], [1.0, 2.0]], "numbers"),
        (None, r"shape|numbers|finite"),
    ],
)
def test_bad_points(points, message):
    with pytest.raises(InputError, match=message):
        Instance(points, 1)


@pytest.mark.parametrize(
    ("n_clusters", "message"),
    [
        (0, "at least 1"),
        (-1, "at least 1"),
        (4, "exceeds the number of points, 3"),
        (1.5, "whole number"),
        (2.0, "whole number"),
        ("2", "whole number"),
        (True, "whole number"),
        (None, "whole number"),
    ],
)
def test_bad_n_clusters(n_clusters, message):
    with pytest.raises(InputError, match=message):
        Instance(POINTS, n_clusters)


@pytest.mark.parametrize("radius", [-1, np.nan, [1.0], [1.0, 2.0, 3.0], [1.0, np.nan], "wide"])
def test_bad_radius(radius):
    with pytest.raises(InputError, match="radius"):
        Instance(POINTS, 2, radius)


@pytest.mark.parametrize("name", ["cannot_link", "must_link"])
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 3)], "out of range: indices run from 0 to 2"),
        ([(-1, 0)], "out of range"),
        ([(1, 1)], "joins a point to itself"),
        ([(0, 1, 2)], "pairs"),
        ([(0.5, 1)], "whole numbers"),
        ([0, 1], "pairs"),
        (5, "pairs"),
    ],
)
def test_bad_links(name, pairs, message):
    with pytest.raises(InputError, match=message):
        Instance(POINTS, 2, **{name: pairs})


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.0, 1.0]], "square"),
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([[1.0, 1.0], [1.0, 0.0]], "zero diagonal"),
        ([[0.0, np.nan], [np.nan, 0.0]], "finite"),
        (np.empty((0, 0)), "empty"),
    ],
)
def test_bad_distances(matrix, message):
    with pytest.raises(InputError, match=message):
        Instance.from_distances(matrix, 1)


def test_overflow_is_refused():
    with pytest.raises(InputError, match="overflow"):
        _ = Instance([[1e200], [-1e200]], 1).sq_distances


def test_input_errors_are_value_errors():
    assert issubclass(InputError, ValueError)


def test_good_instance():
    instance = Instance(
        np.array(POINTS, dtype=int), np.int64(2), [1, 2], must_link=[(2, 0), (0, 2)]
    )
    assert instance.radius == (1.0, 2.0)
    assert not instance.uniform_radius
    assert instance.must_link.tolist() == [[0, 2]]
    assert instance.sq_distances.tolist() == [[0, 1, 4], [1, 0, 5], [4, 5, 0]]


def test_points_are_copied():
    points = np.array(POINTS)
    instance = Instance(points, 2)
    points[0, 0] = 9.0
    assert instance.points[0, 0] == 0.0


def test_replace_and_scale_keep_the_rest():
    instance = Instance(POINTS, 2, 1.5, cannot_link=[(0, 1)])
    wider = instance.replace(radius=3.0)
    assert (wider.radius, wider.n_clusters, wider.cannot_link.tolist()) == (3.0, 2, [[0, 1]])
    half = instance.scaled(0.5)
    assert half.radius == 0.75
    np.testing.assert_array_equal(half.sq_distances, instance.sq_distances / 4)


def test_squared_distances_cannot_be_written():
    instance = Instance([[0.0], [1.0], [3.0]], 2)
    for each in (instance, instance.scaled(2.0), instance.replace(n_clusters=1)):
        with pytest.raises(ValueError, match="read-only"):
            each.sq_distances[0, 1] = 0.0


SQUARES = np.square(np.subtract.outer([0.0, 1.0, 2.0, 5.0], [0.0, 1.0, 2.0, 5.0]))


def test_a_matrix_of_distances_is_not_taken_for_points():
    points = [[0.0], [1.0], [2.0], [5.0]]
    assert min_clusters(points, 0.5).n_clusters == 3
    with pytest.warns(UserWarning, match="precomputed"):
        min_clusters(SQUARES, 0.5)
    assert min_clusters(SQUARES, 0.5, metric="precomputed").n_clusters == 3
    assert min_clusters(Instance.from_distances(SQUARES, 2, 0.5)).n_clusters == 3
    assert min_clusters(Instance(points, 2, 0.5), 1.0).n_clusters == 2
    assert min_radius(SQUARES, 2, metric="precomputed").radius == 1.0
    assert min_radius(Instance(points, 2)).radius == 1.0


def test_what_is_missing_or_given_twice_is_refused():
    with pytest.raises(InputError, match="needs a radius"):
        min_clusters([[0.0]])
    with pytest.raises(InputError, match="needs n_clusters"):
        min_radius([[0.0]])
    with pytest.raises(InputError, match="its own links"):
        min_clusters(Instance([[0.0], [1.0]], 1, 1.0), cannot_link=[(0, 1)])
    with pytest.raises(InputError, match="metric"):
        min_clusters([[0.0]], 1.0, metric="cosine")
