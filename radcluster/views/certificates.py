"""The signature picture: the points in conflict, drawn on the data, with their distances."""

from __future__ import annotations

import textwrap
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from radcluster import plots
from radcluster.problem.instance import Instance
from radcluster.proof.certificate import Certificate
from radcluster.proof.facts import Facts
from radcluster.views.flat import Flat, flatten

#: Numbers are written beside so many points, and into matrices of this order, and no more.
NUMBERED, MATRIX = 40, 20
_SMALL = 6


def plot(
    certificate: Certificate, instance: Instance, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw a certificate; its sentence stands under the picture."""
    flat = flatten(instance)
    ax = _figure(flat) if ax is None else ax
    drawn = _DRAWN.get(certificate.kind)
    if drawn is _clique and not flat.exact:
        return _matrix(certificate, instance, ax, title)
    _data(ax, flat)
    heading = (
        certificate.kind.replace("_", " ")
        if drawn is None
        else drawn(certificate, instance, flat, ax)
    )
    plots.finish_map(ax, flat.points, None, flat.axes)
    ax.set_title(heading if title is None else title, fontsize=8)
    if drawn is None:
        _sentence(ax, certificate, instance)
    return ax


def _figure(flat: Flat) -> Axes:
    """As high as the data ask for."""
    width = 1.5 * plots.COLUMN
    across, up = np.ptp(flat.points, axis=0)
    shape = np.clip(up / across, 0.35, 0.8) if flat.exact and across > 0 else 0.7
    return plots.figure(width=width, height=width * float(shape) + 0.7)[1]


def _data(ax, flat: Flat) -> None:
    ax.scatter(*flat.points.T, s=9, color=plots.FAINT, linewidths=0, alpha=0.55, zorder=2)


def _clique(certificate, instance, flat: Flat, ax) -> str:
    """Discs of radius r around the points: none overlap, because all are more than 2r apart."""
    points = list(certificate["points"])
    radius = float(instance.radii.max())
    facts = Facts(instance)
    far = all(facts.too_far(i, j) for i, j in combinations(points, 2))
    pairs = _nearest_pairs(facts, points)
    _numbered(ax, flat, points, pairs)
    if far and np.isfinite(radius):
        for i in points:
            ax.add_patch(Circle(flat.points[i], radius, fc=plots.PALETTE[4], alpha=0.22, lw=0))
            ax.add_patch(Circle(flat.points[i], radius, fc="none", ec=plots.PALETTE[0], lw=0.7))
    for i, j in pairs:
        _measured(ax, flat, i, j, np.sqrt(facts.sq_distance(i, j)))
    if not far:
        return f"{len(points)} points that may not share a cluster, pairwise"
    closest = min(np.sqrt(facts.sq_distance(i, j)) for i, j in combinations(points, 2))
    return (
        f"{len(points)} points, every two more than 2r = {2 * radius:.4g} apart "
        f"(closest: {closest:.5g}),\nso {instance.n_clusters} clusters are too few. "
        "Discs have radius r: none overlap"
    )


def _nearest_pairs(facts: Facts, points) -> list[tuple[int, int]]:
    """Each point with the nearest other one; the pairs whose distances are closest to 2r."""
    if len(points) < 2:
        return []
    pairs = {
        tuple(
            sorted((i, min((j for j in points if j != i), key=lambda j: facts.sq_distance(i, j))))
        )
        for i in points
    }
    return sorted(pairs)


def _matrix(certificate, instance, ax, title) -> Axes:
    """The distances of the points, as numbers: all exceed 2r."""
    points = list(certificate["points"])
    facts = Facts(instance)
    distances = np.array([[np.sqrt(facts.sq_distance(i, j)) for j in points] for i in points])
    limit = 2 * float(instance.radii.max())
    np.fill_diagonal(distances, np.nan)
    image = ax.imshow(distances, cmap="Blues", vmin=limit, aspect="equal")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.85)
    bar.set_label(f"distance (the palest is 2r = {limit:.4g})", fontsize=7)
    bar.ax.tick_params(labelsize=_SMALL)
    if len(points) <= MATRIX:
        middle = (np.nanmax(distances) + limit) / 2
        for a, b in np.argwhere(~np.isnan(distances)):
            colour = "white" if distances[a, b] > middle else plots.INK
            words = f"{distances[a, b]:.3g}"
            ax.text(b, a, words, ha="center", va="center", fontsize=_SMALL, color=colour)
    ax.set_xticks(range(len(points)), points, fontsize=_SMALL, rotation=90)
    ax.set_yticks(range(len(points)), points, fontsize=_SMALL)
    plots.label(ax, "point", "point")
    heading = f"{len(points)} points, every two more than 2r = {limit:.4g} apart"
    ax.set_title(heading if title is None else title, fontsize=8)
    return ax


def _group_clique(certificate, instance, flat: Flat, ax) -> str:
    groups = certificate["groups"]
    facts = Facts(instance)
    for g, group in enumerate(groups):
        colour = plots.PALETTE[g % len(plots.PALETTE)]
        ax.plot(*flat.points[list(group)].T, "o-", color=colour, ms=4, lw=1.6, zorder=3)
    for a, b in combinations(groups, 2):
        i, j = max(((i, j) for i in a for j in b), key=lambda pair: facts.sq_distance(*pair))
        _measured(ax, flat, i, j, np.sqrt(facts.sq_distance(i, j)))
    return (
        f"{len(groups)} must-linked sets, every two with points that may not meet;\n"
        f"{instance.n_clusters} clusters are too few"
    )


def _must_link(certificate, instance, flat: Flat, ax) -> str:
    i, j = certificate["pair"]
    path = list(certificate.get("path", [i, j]))
    ax.plot(*flat.points[path].T, "o-", color=plots.PALETTE[0], ms=4, lw=1.4, zorder=3)
    distance = float(np.sqrt(Facts(instance).sq_distance(i, j)))
    _measured(ax, flat, i, j, distance, plots.WRONG)
    _numbered(ax, flat, [i, j])
    return (
        f"points {i} and {j} are must-linked, and {distance:.5g} apart "
        f"(2r = {2 * instance.radii.max():.5g})"
    )


def _propagation(certificate, instance, flat: Flat, ax) -> str:
    """Anchors and forced points with their clusters, and the point that has no place."""
    facts = Facts(instance)
    placed = [(i, k) for k, i in enumerate(certificate["anchors"])] + [
        tuple(step) for step in certificate["forced"]
    ]
    for order, (i, k) in enumerate(placed):
        colour = plots.PALETTE[k % len(plots.PALETTE)]
        free = order < len(certificate["anchors"])
        ax.scatter(*flat.points[i], s=34, marker="s" if free else "o", color=colour, zorder=4)
        _text(ax, flat.points[i], str(k), colour)
    stuck = certificate["point"]
    for k in range(instance.n_clusters):
        rivals = [i for i, cluster in placed if cluster == k and facts.conflict(i, stuck)]
        if rivals:
            i = min(rivals, key=lambda i: facts.sq_distance(i, stuck))
            _measured(ax, flat, i, stuck, np.sqrt(facts.sq_distance(i, stuck)), plots.WRONG)
    ax.scatter(*flat.points[stuck], s=50, marker="X", color=plots.WRONG, zorder=5)
    return (
        "squares are named freely, discs follow (numbers: clusters);\n"
        f"point {stuck} (cross) is too far from a member of every cluster"
    )


def _weights(certificate, instance, flat: Flat, ax) -> str:
    points, weights = list(certificate["points"]), np.array(certificate["weights"])
    heavy = weights > 0
    sizes = 30 * weights[heavy] / weights.max()
    chosen = flat.points[np.array(points)[heavy]]
    ax.scatter(*chosen.T, s=6 + sizes, color=plots.PALETTE[0], zorder=3, linewidths=0)
    if len(chosen) <= NUMBERED:
        for at, weight in zip(chosen, weights[heavy], strict=True):
            _text(ax, at, str(weight), plots.INK)
    return (
        f"{int(heavy.sum())} points weigh {int(weights.sum())} together (numbers); "
        f"no admissible cluster\nweighs more than {certificate['capacity']}, so more than "
        f"{instance.n_clusters} clusters are needed"
    )


def _numbered(ax, flat: Flat, points, pairs=()) -> None:
    """The points with their numbers, which stand on the side away from the lines."""
    ax.scatter(*flat.points[points].T, s=16, color=plots.INK, linewidths=0, zorder=4)
    if len(points) > NUMBERED:
        return
    for i in points:
        others = [j if i == first else first for first, j in pairs if i in (first, j)]
        away = flat.points[i] - flat.points[others].mean(axis=0) if others else np.ones(2)
        _text(ax, flat.points[i], str(i), plots.INK, away)


def _measured(ax, flat: Flat, i, j, distance, colour=plots.INK) -> None:
    """A line between two points, its length written on it."""
    ends = flat.points[[i, j]]
    ax.plot(*ends.T, color=colour, lw=0.8, ls=(0, (3, 2)), zorder=3)
    box = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.85}
    x, y = ends.mean(axis=0)
    written = {"ha": "center", "va": "center", "fontsize": _SMALL, "color": colour}
    ax.text(x, y, f"{distance:.4g}", bbox=box, zorder=5, **written)


def _text(ax, at, words, colour, away=(1.0, 1.0)) -> None:
    length = np.hypot(*away)
    x, y = 7 * np.asarray(away) / length if length else (5, 5)
    ax.annotate(
        words,
        at,
        xytext=(x, y),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=_SMALL,
        color=colour,
        zorder=6,
    )


def _sentence(ax, certificate, instance) -> None:
    words = "\n".join(textwrap.wrap(certificate.explain(instance), 78)[:6])
    ax.set_xlabel(words, fontsize=_SMALL + 1)


_DRAWN = {
    "clique": _clique,
    "group_clique": _group_clique,
    "must_link": _must_link,
    "propagation": _propagation,
    "weights": _weights,
}
