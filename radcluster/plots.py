"""Figures, with one look: partitions, one-dimensional strips, curves with bands, gap over time.

Sizes are those of a two-column paper (:data:`COLUMN` and :data:`PAGE`, in inches) so that a figure
is printed at the size at which it was drawn, and reads the same in a notebook. Every function
draws on ``ax``, or on a figure of its own, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from scipy.spatial import ConvexHull, QhullError, cKDTree
from scipy.spatial.distance import cdist

from radcluster.errors import InputError
from radcluster.problem.diameters import sq_diameter
from radcluster.problem.instance import diameter_limit
from radcluster.problem.partition import cluster_centers

COLUMN, PAGE = 3.4, 7.0
#: Okabe and Ito's colours, told apart by colour-blind readers too; red is kept for violations.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#7A5C3E")
INK, FAINT, WRONG = "#222222", "#9A9A9A", "#C1121F"
MARKERS = ("o", "^", "s", "D", "v", "P")
_SMALL, _TEXT = 7, 8
#: More clusters than this are drawn without crosses, more points than this as a density.
MANY, DENSE = 60, 100_000
#: Kilometres in a degree of latitude.
KM_PER_DEGREE = 111.195


def figure(
    rows: int = 1, columns: int = 1, *, width: float = COLUMN, height: float | None = None, **kwargs
) -> tuple[Figure, Axes]:
    """An empty figure of the common look; ``kwargs`` go to :func:`matplotlib.pyplot.subplots`."""
    height = width * 0.72 * rows / columns if height is None else height
    return plt.subplots(
        rows, columns, figsize=(width, height), layout="constrained", dpi=150, **kwargs
    )


def partition(
    points,
    labels,
    centers=None,
    radius: float | None = None,
    classes=None,
    ax: Axes | None = None,
    title: str | None = None,
    *,
    axes: bool = False,
    latlon: bool = False,
    unit: str = "",
) -> Axes:
    """Clusters in the plane: hulls, centroids, and the radius to scale.

    Many points get small markers, many clusters no crosses, and more than :data:`DENSE` points are
    drawn as a density under the outlines of their clusters.

    Parameters
    ----------
    points : array of shape (N, 2)
    labels : array of N ints
    centers : array of shape (K, 2), optional
        Drawn as crosses; the means of the clusters when absent.
    radius : float, optional
        A disc of this radius is drawn in the emptiest corner, and in each cluster wider than
        ``2 * radius`` its two farthest points are joined in red.
    classes : array of N ints, optional
        Drawn as different markers.
    axes : bool
        Whether the axes carry numbers.
    latlon : bool
        The columns are latitude and longitude in degrees, the radius is in km. One degree of
        either has its true length, and a bar shows the scale.
    unit : str
        Unit of length, for the bar that shows the scale of a map of many points.
    """
    points, labels = np.asarray(points, dtype=float), np.asarray(labels)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"a partition is drawn in the plane: points have shape {points.shape}")
    names, labels = np.unique(labels, return_inverse=True)
    means = cluster_centers(points, labels, len(names))
    centers = means if centers is None else np.asarray(centers, dtype=float)
    if latlon:
        points, means, centers = points[:, ::-1], means[:, ::-1], centers[:, ::-1]
    ax = figure()[1] if ax is None else ax
    colours = _spread_colours(means)
    scale = _marker_scale(ax) * _crowding(len(points), len(names))
    order = np.argsort(labels, kind="stable")
    cuts = np.searchsorted(labels[order], np.arange(1, len(names)))
    for k, members in enumerate(np.split(order, cuts)):
        _hull(ax, points[members], colours[k], scale, only_edge=len(points) > DENSE)
    if len(points) > DENSE:
        ax.hexbin(*points.T, gridsize=160, bins="log", mincnt=1, cmap="Greys", lw=0, zorder=0)
    else:
        _scatter(ax, points, labels, classes, colours, scale)
    if len(names) <= MANY:
        cross = {"marker": "X", "s": 26 * scale**2, "c": INK, "edgecolors": "white"}
        ax.scatter(*centers.T, **cross, linewidths=0.7 * scale, zorder=4)
    known = radius is not None and np.isfinite(radius)
    if known and not latlon:
        _too_wide(ax, points, labels, radius)
        # A narrow panel has no room for the number.
        _radius_to_scale(ax, points, radius, f"r = {radius:.4g}" if scale > 0.8 else "r")
    finish_map(ax, points, ticks=axes, stretch=_stretch(points) if latlon else 1.0)
    if latlon or len(names) > MANY:
        _scale_bar(ax, points, 2 * radius if known else None, "km" if latlon else unit, latlon)
    return _titled(ax, title)


def finish_map(
    ax: Axes,
    points,
    radius: float | None = None,
    axes: Sequence[str] = ("", ""),
    ticks: bool = False,
    stretch: float = 1.0,
):
    """Equal scales, a faint frame; on demand ticks, the radius in a corner, names of the axes.

    ``stretch`` is how much longer the unit of the upright axis is than that of the other.
    """
    if radius is not None and np.isfinite(radius):
        _radius_to_scale(ax, points, radius, f"r = {radius:.4g}")
    ax.set_aspect(stretch, adjustable="datalim")
    ax.margins(0.06)
    if ticks:
        ax.tick_params(labelsize=_SMALL)
    else:
        ax.set(xticks=[], yticks=[])
    ax.set_xlabel(axes[0], fontsize=_SMALL)
    ax.set_ylabel(axes[1], fontsize=_SMALL)
    ax.spines[:].set_color("#DDDDDD")


def strip(
    points,
    labels,
    classes=None,
    radius: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Clusters on the line: one row of points a class, the extent of each cluster above them.

    A bar as long as a cluster may be (2 * radius) is drawn to scale at the bottom.
    """
    x, labels = np.asarray(points, dtype=float).ravel(), np.asarray(labels)
    rows = np.zeros(len(x), dtype=int) if classes is None else np.asarray(classes)
    ax = figure(height=1.5)[1] if ax is None else ax
    top = rows.max() + 1.0
    clusters = sorted(np.unique(labels), key=lambda k: x[labels == k].mean())
    for colour, k in zip(_cycle(PALETTE, len(clusters)), clusters, strict=True):
        mine = labels == k
        low, high, mean = x[mine].min(), x[mine].max(), x[mine].mean()
        ax.fill_between([low, high], -0.5, top + 0.3, color=colour, alpha=0.12, lw=0)
        ax.plot([low, high], [top, top], color=colour, lw=4, solid_capstyle="butt")
        ax.plot(mean, top, marker="X", ms=6, color=INK, mec="white", mew=0.7, zorder=4)
        ax.scatter(x[mine], rows[mine], s=9, color=colour, linewidths=0, alpha=0.8, zorder=3)
    if radius is not None and np.isfinite(radius):
        middle = (x.min() + x.max()) / 2
        ax.plot(middle + np.array([-radius, radius]), [-0.95, -0.95], color=INK, lw=1, marker="|")
        ax.text(middle, -1.1, f"2r = {2 * radius:g}", ha="center", va="top", fontsize=_SMALL)
    names = [f"source {r + 1}" for r in range(rows.max() + 1)] if classes is not None else [""]
    ax.set(yticks=range(rows.max() + 1), yticklabels=names, ylim=(-1.75, top + 0.5))
    _dress(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return _titled(ax, title)


def curves(
    series: Mapping[str, Sequence],
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str | None = None,
    drawstyle: str = "default",
    markers: bool = True,
) -> Axes:
    """One line a name: ``series[name] = (x, y)`` or ``(x, y, spread)`` for a band y +- spread."""
    ax = figure()[1] if ax is None else ax
    colours = _cycle(PALETTE, len(series))
    shapes = _cycle(MARKERS if markers else ("",), len(series))
    # Once the colours are used up, they come again dashed.
    dashes = ["-" if i < len(PALETTE) else "--" for i in range(len(series))]
    looks = zip(series.items(), colours, shapes, dashes, strict=True)
    for (name, (x, y, *spread)), colour, shape, dash in looks:
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        ax.plot(x, y, dash, color=colour, marker=shape, ms=3.5, lw=1.3, label=name, ds=drawstyle)
        for width in spread:
            step = "post" if drawstyle == "steps-post" else None
            width = np.asarray(width, dtype=float)
            ax.fill_between(x, y - width, y + width, color=colour, alpha=0.15, lw=0, step=step)
    if len(series) > 1:
        ax.legend(fontsize=_SMALL, frameon=False)
    return _titled(label(ax, xlabel, ylabel), title)


def bars(
    heights: Mapping[object, float],
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """One bar a name, with its height written on top."""
    ax = figure()[1] if ax is None else ax
    names = [str(name) for name in heights]
    drawn = ax.bar(names, list(heights.values()), color=PALETTE[0], width=0.7)
    ax.bar_label(drawn, fontsize=_SMALL)
    return _titled(label(ax, xlabel, ylabel), title)


def label(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    """Name the axes, in the common look."""
    ax.set_xlabel(xlabel, fontsize=_TEXT)
    ax.set_ylabel(ylabel, fontsize=_TEXT)
    _dress(ax)
    return ax


def gap_over_time(
    seconds, objectives, bounds, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """The best partition and the lower bound as they closed in, the gap between them shaded."""
    seconds = np.asarray(seconds, dtype=float)
    objectives, bounds = np.asarray(objectives, dtype=float), np.asarray(bounds, dtype=float)
    ax = figure()[1] if ax is None else ax
    ax.fill_between(seconds, bounds, objectives, step="post", color=FAINT, alpha=0.25, lw=0)
    series = {"best partition": (seconds, objectives), "lower bound": (seconds, bounds)}
    curves(series, "seconds", "sum of squares", ax, title, drawstyle="steps-post", markers=False)
    return ax


def _hull(ax, members, colour, scale, only_edge=False):
    """A cluster's outline: its hull, or the segment or point that it degenerates to."""
    members = outline = np.unique(members, axis=0)
    if len(members) > 2:
        try:
            outline = members[ConvexHull(members).vertices]
        except QhullError:  # collinear: the two ends, first and last in sorted order
            outline = members[[0, -1]]
    # The thick edge rounds the corners and shows segments. Fill and edge share one opaque tint,
    # since two translucent layers would show where they overlap.
    tint = tuple(0.35 * np.array(to_rgb(colour)) + 0.65)
    if len(outline) == 1:
        ax.plot(*outline[0], marker="o", ms=11 * scale, color=tint, mew=0, zorder=1)
        return
    if only_edge:
        ax.add_patch(Polygon(outline, closed=True, fc="none", ec=colour, lw=0.6, zorder=1))
        return
    shape = Polygon(outline, closed=True, fc=tint, ec=tint, lw=6 * scale, zorder=1)
    shape.set(joinstyle="round", capstyle="round")
    ax.add_patch(shape)


def _scatter(ax, points, labels, classes, colours, scale):
    classes = np.zeros(len(points), dtype=int) if classes is None else np.asarray(classes)
    kinds = np.unique(classes)
    for kind, marker in zip(kinds, _cycle(MARKERS, len(kinds)), strict=True):
        mine = classes == kind
        ax.scatter(
            *points[mine].T,
            s=11 * scale**2,
            marker=marker,
            c=[colours[k] for k in labels[mine]],
            edgecolors="white",
            linewidths=0.3,
            zorder=3,
        )


def _spread_colours(means):
    """A colour a cluster, clusters of one colour far apart, whatever their labels."""
    colours = np.full(len(means), -1)
    # The nearest neighbours of a cluster decide; the others are far enough.
    count = min(len(means), 60)
    distances, neighbours = cKDTree(means).query(means, k=count)
    distances, neighbours = distances.reshape(-1, count), neighbours.reshape(-1, count)
    for k in np.lexsort(means.T[::-1]):
        taken = colours[neighbours[k]]
        nearest = np.full(len(PALETTE), np.inf)
        np.minimum.at(nearest, taken[taken >= 0], distances[k][taken >= 0])
        colours[k] = nearest.argmax()
    return [PALETTE[colour] for colour in colours]


def _too_wide(ax, points, labels, radius):
    order = np.argsort(labels, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        members = points[part]
        if sq_diameter(members) <= diameter_limit(radius):
            continue
        if len(members) > 500:
            members = members[ConvexHull(members, qhull_options="QJ").vertices]
        distances = cdist(members, members)
        i, j = np.unravel_index(distances.argmax(), distances.shape)
        ax.plot(*members[[i, j]].T, color=WRONG, lw=1.1, zorder=2.5)


def _stretch(points) -> float:
    """How much longer a degree of latitude is than one of longitude."""
    return 1.0 / max(float(np.cos(np.radians(points[:, 1].mean()))), 0.01)


def _scale_bar(ax, points, length, unit, latlon):
    """A bar of a round length, or as long as a cluster may be wide, below the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    per_unit = _stretch(points) / KM_PER_DEGREE if latlon else 1.0
    if length is None:
        most = float(high[0] - low[0]) / per_unit / 4 or 1.0
        power = 10.0 ** np.floor(np.log10(most))
        length = power * max(step for step in (1, 2, 5) if step * power <= most)
        text = f"{length:g} {unit}"
    else:
        text = f"2r = {length:.4g} {unit}"
    left = np.array([low[0], low[1] - 0.05 * float(high[1] - low[1])])
    ends = np.array([left, left + [length * per_unit, 0.0]])
    ax.plot(*ends.T, color=INK, lw=1.4, solid_capstyle="butt", zorder=5)
    ax.annotate(
        text.strip(), ends[0], xytext=(0, -2), textcoords="offset points", va="top",
        fontsize=_SMALL, color=INK,
    )  # fmt: skip


def _radius_to_scale(ax, points, radius, text):
    """A disc of the radius in the corner that is farthest from all points."""
    low, high = points.min(axis=0) + radius, points.max(axis=0) - radius
    corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])])
    center = corners[cdist(corners, points).min(axis=1).argmax()]
    ax.add_patch(Circle(center, radius, fc="none", ec=FAINT, lw=0.9, ls=(0, (4, 2)), zorder=2))
    ax.plot(*np.array([center, center + [radius, 0]]).T, color=FAINT, lw=0.9, zorder=2)
    right, up = center > points.mean(axis=0)
    side = 0 if text == "r" else 1 if right else -1
    ax.annotate(
        text,
        center + radius * np.array([side, -1 if up else 1]),
        xytext=(0, -2 if up else 2),
        textcoords="offset points",
        ha={0: "center", 1: "right", -1: "left"}[side],
        va="top" if up else "bottom",
        fontsize=_SMALL,
        color=INK,
    )


def _crowding(n_points: int, n_clusters: int) -> float:
    """1 for some hundred points, less where markers would cover each other."""
    return float(np.clip(np.sqrt(400 / max(n_points, 6 * n_clusters)), 0.12, 1.0))


def _marker_scale(ax):
    """1 on an axes as wide as a column, less on the panels of a wider figure."""
    width = ax.get_position().width * ax.figure.get_figwidth()
    return float(np.clip(width / (0.78 * COLUMN), 0.6, 1.0))


def _cycle(values, n):
    return [values[i % len(values)] for i in range(n)]


def _dress(ax):
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=_SMALL)


def _titled(ax, title):
    if title is not None:
        ax.set_title(title, fontsize=_TEXT)
    return ax
