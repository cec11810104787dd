"""Figures: what is drawn, to scale, for ordinary and degenerate partitions."""

import itertools

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Polygon

from radcluster import InputError, datasets, plots


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def _red_lines(ax):
    return [line for line in ax.lines if to_hex(line.get_color()) == plots.WRONG.lower()]


def test_partition_draws_hulls_centroids_and_the_radius_to_scale():
    points, classes = datasets.two_moons()
    labels = np.arange(100) // 7  # 15 arbitrary clusters, all of more than two points but the last
    ax = plots.partition(points, labels, radius=0.189, classes=classes, title="arbitrary")
    assert len([p for p in ax.patches if isinstance(p, Polygon)]) == 15
    (disc,) = [p for p in ax.patches if isinstance(p, Circle)]
    assert disc.radius == 0.189
    assert any(text.get_text() == "r = 0.189" for text in ax.texts)
    assert ax.get_aspect() == 1.0
    assert ax.get_title() == "arbitrary"
    assert sum(len(c.get_offsets()) for c in ax.collections) == 100 + 15


def test_clusters_wider_than_the_diameter_are_marked_and_no_others():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [8.0, 0.0]])
    ax = plots.partition(points, [0, 0, 1, 1], radius=0.5)
    (line,) = _red_lines(ax)
    assert sorted(line.get_xdata()) == [5.0, 8.0]
    assert not _red_lines(plots.partition(points, [0, 0, 1, 2], radius=0.5))
    assert not _red_lines(plots.partition(points, [0, 0, 1, 1]))


def test_degenerate_clusters_can_be_drawn():
    line = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [9.0, 9.0], [3.0, 0.0], [3.0, 0.0]])
    ax = plots.partition(line, [4, 4, 4, 7, 9, 9], radius=np.inf)
    ax.figure.canvas.draw()
    assert not any(isinstance(p, Circle) for p in ax.patches)


def test_neighbouring_clusters_have_different_colours():
    points = np.array([[float(i), 0.0] for i in range(12)])
    ax = plots.partition(points, np.arange(12))
    colours = [to_hex(c) for c in ax.collections[0].get_facecolors()]
    assert all(a != b for a, b in itertools.pairwise(colours))


def test_partition_refuses_what_is_not_planar():
    with pytest.raises(InputError, match="in the plane"):
        plots.partition(np.zeros((4, 3)), [0, 0, 1, 1])


def test_strip_shows_extents_and_the_diameter_to_scale():
    points, sources = datasets.three_uniforms()
    ax = plots.strip(points, sources, sources, radius=1.0)
    lengths = [np.ptp(line.get_xdata()) for line in ax.lines]
    assert any(length == pytest.approx(2.0) for length in lengths)
    for k in range(3):
        extent = np.ptp(points[sources == k])
        assert any(length == pytest.approx(extent) for length in lengths)
    assert sum(len(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 1) == 102


def test_curves_carry_names_and_bands():
    series = {"a": ([0, 1, 2], [1.0, 2.0, 3.0], [0.1, 0.1, 0.1]), "b": ([0, 1], [3.0, 2.0])}
    ax = plots.curves(series, "x", "y")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert len(ax.collections) == 1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")


def test_gap_over_time_draws_both_bounds():
    ax = plots.gap_over_time([0.0, 1.0, 2.0], [3.0, 2.0, 2.0], [0.0, 1.0, 2.0])
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["best partition", "lower bound"]
    assert ax.lines[0].get_ydata().tolist() == [3.0, 2.0, 2.0]


def test_many_clusters_have_no_crosses_and_a_bar_shows_the_scale():
    rng = np.random.default_rng(0)
    points = rng.random((3000, 2))
    labels = np.floor(points[:, 0] * 10).astype(int) * 10 + np.floor(points[:, 1] * 10).astype(int)
    ax = plots.partition(points, labels, unit="km", axes=True)
    assert sum(len(c.get_offsets()) for c in ax.collections) == 3000
    assert any(text.get_text().endswith("km") for text in ax.texts)
    assert len(ax.get_xticks()) > 0
    assert not plots.partition(points, labels % 3).texts


def test_latitude_and_longitude_have_their_true_proportions():
    points = np.column_stack([60 + np.linspace(0, 1, 30), 10 + np.linspace(0, 1, 30) ** 2])
    ax = plots.partition(points, np.arange(30) // 10, radius=5.0, latlon=True)
    assert ax.get_aspect() == pytest.approx(1 / np.cos(np.radians(60.5)), rel=1e-6)
    assert any(text.get_text() == "2r = 10 km" for text in ax.texts)
    (bar,) = [line for line in ax.lines if line.get_linewidth() == 1.4]
    degrees = np.ptp(bar.get_xdata())
    assert degrees * np.cos(np.radians(60.5)) * 111.195 == pytest.approx(10.0, rel=1e-6)


def test_a_hundred_thousand_points_are_drawn_as_a_density(monkeypatch):
    monkeypatch.setattr(plots, "DENSE", 500)
    points = np.random.default_rng(0).normal(size=(1000, 2))
    ax = plots.partition(points, (points[:, 0] > 0).astype(int))
    outlines = [p for p in ax.patches if isinstance(p, Polygon)]
    assert len(outlines) == 2 and all(p.get_facecolor()[3] == 0 for p in outlines)
