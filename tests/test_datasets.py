# ruff: noqa: NPY002 - the authors drew from the global state
"""The data of the paper, drawn as its authors drew it."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from radcluster import InputError, datasets


def test_two_moons_is_the_authors_draw():
    state = np.random.get_state()
    try:
        np.random.seed(10)
        points, classes = make_moons(n_samples=(85, 15), shuffle=False, noise=0.05)
    finally:
        np.random.set_state(state)
    ours, our_classes = datasets.two_moons()
    assert np.array_equal(ours, points)
    assert np.array_equal(our_classes, classes)


@pytest.mark.parametrize(
    "draw", [datasets.two_moons, datasets.three_uniforms, datasets.digits_imbalanced]
)
def test_drawing_leaves_the_global_state_alone(draw):
    before = np.random.get_state()[1].copy()
    first, _ = draw(seed=3)
    second, _ = draw(seed=3)
    other, _ = draw(seed=4)
    assert np.array_equal(np.random.get_state()[1], before)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_three_uniforms_stay_in_their_intervals():
    points, classes = datasets.three_uniforms(seed=1)
    for source, low in enumerate((-3, -1, 1)):
        mine = points[classes == source, 0]
        assert low <= mine.min() <= mine.max() <= low + 2
    assert np.bincount(classes).tolist() == [51, 26, 25]


def test_ruspini_groups_are_its_best_four_clusters():
    points, classes = datasets.ruspini()
    squares = sum(
        np.square(points[classes == k] - points[classes == k].mean(0)).sum() for k in range(4)
    )
    assert points.shape == (75, 2)
    assert squares == pytest.approx(12881.0512361466)  # the published optimum


def test_digits_are_imbalanced_as_asked():
    points, classes = datasets.digits_imbalanced(seed=0, n_common=20, n_rare=2)
    assert points.shape == (64, 64)
    assert np.bincount(classes).tolist() == [2, 20, 20, 20, 2]
    with pytest.raises(InputError, match="fewer than 1000"):
        datasets.digits_imbalanced(n_common=1000)


def test_airports_lie_on_the_ground_from_hawaii_to_puerto_rico():
    points, classes = datasets.airports(seed=0, n=200)
    assert points.shape == (200, 3)
    assert np.linalg.norm(points, axis=1) == pytest.approx(6371.0088)
    assert classes.min() == 0 and classes.max() < 56
    widest = np.linalg.norm(points[:, None] - points[None], axis=2).max()
    assert 4500 < widest < 9500  # kilometres; Honolulu to San Juan is 9300 on the ground
