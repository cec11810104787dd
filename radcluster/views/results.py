"""A result as a figure, as a table, as a data frame."""

from __future__ import annotations

import math

import numpy as np

from radcluster import plots, show
from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.problem.partition import sq_diameters
from radcluster.result import Result
from radcluster.views.flat import flatten


def explain(result: Result) -> str:
    """What the result says, in a sentence or two."""
    if not result.solved:
        if result.certificate is not None:
            return result.certificate.explain(result.instance)  # type: ignore[attr-defined]
        return f"No partition was found ({result.status}); this proves nothing."
    found = f"{result.n_clusters} clusters with objective {result.objective:.9g}"
    if result.lower_bound <= 0 < result.objective:
        return f"{found}; no lower bound is known."
    if result.status == "optimal":
        return f"{found}; no valid partition costs less than {result.lower_bound:.9g}: optimal."
    return (
        f"{found}; no valid partition costs less than {result.lower_bound:.9g}, "
        f"so at most {result.gap:.2%} could be saved."
    )


def summary(result: Result) -> show.Table:
    """One row per cluster."""
    instance, labels = _known(result), _labels(result)
    weights = instance.weights
    diameters = np.sqrt(sq_diameters(instance, labels))
    columns = ["cluster", "size", "diameter", "allowed", "cost", "medoid"]
    if instance.is_weighted:
        columns.insert(2, "weight")
    rows = []
    for k in range(result.n_clusters):
        members = np.flatnonzero(labels == k)
        to_center = _sq_to_center(instance, members)
        row = [k, len(members), diameters[k], 2 * instance.radii[k]]
        row += [float(weights[members] @ to_center), int(members[to_center.argmin()])]
        if instance.is_weighted:
            row.insert(2, weights[members].sum())
        rows.append(tuple(row))
    return show.Table(tuple(columns), tuple(rows))


def to_frame(result: Result, index=None):
    """One row per point: its coordinates, its cluster, the distance to that cluster's centre."""
    instance, labels = _known(result), _labels(result)
    distance = np.zeros(instance.n_points)
    for k in range(result.n_clusters):
        members = np.flatnonzero(labels == k)
        distance[members] = np.sqrt(_sq_to_center(instance, members))
    columns = {}
    if instance.points is not None:
        names = instance.columns or [f"x{j}" for j in range(instance.points.shape[1])]
        columns = dict(zip(names, instance.points.T, strict=True))
    index = instance.index if index is None else index
    columns |= {"label": labels, "distance_to_center": distance}
    return show.pandas().DataFrame(columns, index=index)


def plot(result: Result, ax=None, **options):
    """The partition; beside it the gap over time, where that is known; or the certificate."""
    instance = _known(result)
    if not result.solved:
        if result.certificate is None:
            raise InputError(f"there is nothing to draw: {explain(result)}")
        return result.certificate.plot(instance, ax, **options)  # type: ignore[attr-defined]
    times = _times(result)
    if ax is not None or times is None:
        return _partition(result, instance, ax, **options)
    _, (left, right) = plots.figure(
        1, 2, width=plots.PAGE, height=2.7, gridspec_kw={"width_ratios": (1.35, 1)}
    )
    _partition(result, instance, left, **options)
    plots.gap_over_time(*times, ax=right, title=f"gap {result.gap:.2g}")
    return left


def plot_instance(instance: Instance, ax=None, title=None):
    """The points of an instance, and its radius to scale."""
    flat = flatten(instance)
    ax = plots.figure()[1] if ax is None else ax
    ax.scatter(*flat.points.T, s=9, color=plots.PALETTE[0], linewidths=0, alpha=0.8)
    plots.finish_map(ax, flat.points, instance.radii.max() if flat.exact else None, flat.axes)
    ax.set_title(repr(instance) if title is None else title, fontsize=8)
    return ax


def _partition(result, instance, ax, **options):
    flat = flatten(instance)
    if flat.exact:
        radius = result.radius if isinstance(result.radius, float) else None
        options = {"radius": radius} | options
    options = {"title": _title(result)} | options
    if instance.points is not None and instance.points.shape[1] == 1:
        return plots.strip(instance.points, result.labels, ax=ax, **options)
    ax = plots.partition(flat.points, result.labels, ax=ax, **options)
    if not flat.exact:
        plots.label(ax, *flat.axes)
    return ax


def _title(result) -> str:
    return f"{result.n_clusters} clusters, objective {result.objective:.5g}, {result.status}"


def _times(result: Result):
    """Seconds, best objectives and bounds, or None where fewer than two were reported."""
    reports = [
        report
        for report in result.history
        if report.incumbent is not None and math.isfinite(report.incumbent)
    ]
    if len(reports) < 2 or result.sum_of_squares is not None:
        return None
    seconds = [report.seconds for report in reports]
    objectives = np.minimum.accumulate([report.incumbent for report in reports])
    bounds = np.maximum.accumulate([max(report.bound, 0.0) for report in reports])
    return seconds, objectives, bounds


def _sq_to_center(instance: Instance, members) -> np.ndarray:
    """Squared distances of a cluster's members to its centre, from points or from distances."""
    share = instance.weights[members] / instance.weights[members].sum()
    if instance.points is not None:
        offsets = instance.points[members] - instance.points[members[0]]
        return np.square(offsets - share @ offsets).sum(axis=1)
    within = instance.sq_distances[np.ix_(members, members)]
    return np.clip(within @ share - share @ within @ share / 2, 0.0, None)


def _known(result: Result) -> Instance:
    if result.instance is None:
        raise InputError("this result does not know its instance: use Result.load, or solve again")
    return result.instance


def _labels(result: Result) -> np.ndarray:
    if result.labels is None:
        raise InputError(f"there is no partition: {explain(result)}")
    return result.labels
