"""Fewest clusters of many points: bounds from both sides by lists of neighbours, no N x N matrix.

From above: compatible sets grown and dissolved (:mod:`radcluster.graph.fewest`), and cells of a
grid where time is short. From below: whole weights of some of the points, of which no compatible
set holds more than a capacity (:mod:`radcluster.feasibility.packing`). What holds for some of the
points holds for all, so where they lie densely one point of each small cell stands for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.clock import Clock
from radcluster.feasibility import packing
from radcluster.graph.conflicts import ConflictGraph
from radcluster.graph.fewest import few_clusters
from radcluster.graph.reduce import dominated
from radcluster.problem.cells import cell_labels, compatible_cells
from radcluster.problem.grid import Cells
from radcluster.problem.grouping import grouped, must_link_labels
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.neighbours import Neighbours, TooManyPairs, within

#: Entries in the lists of the points that the lower bound uses.
MOST_ENTRIES = 2_000_000
#: Sides of the cells in which one point stands for all, as parts of the radius.
SIDES = (1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 1.0)
#: The part of the time that is kept for the lower bound.
FOR_THE_BOUND = 0.6
#: With less time per point than this not even cells of a grid are formed and verified.
SECONDS_PER_POINT = 1e-6


@dataclass(frozen=True)
class Bounds:
    """Labels of a partition (None without one), a lower bound, and what proves it."""

    labels: np.ndarray | None
    lower_bound: int
    certificate: dict


def contradiction(instance: Instance) -> dict | None:
    """A certificate when points that must share a cluster may not."""
    if not len(instance.must_link):
        return None
    groups = must_link_labels(instance)
    size = np.bincount(groups)
    for g in np.flatnonzero(size > 1):
        points = np.flatnonzero(groups == g)
        number = {int(i): t for t, i in enumerate(points)}
        links = {
            name: [(number[i], number[j]) for i, j in pairs.tolist() if i in number and j in number]
            for name, pairs in (
                ("cannot_link", instance.cannot_link),
                ("must_link", instance.must_link),
            )
        }
        part = Instance(instance.points[points], 1, float(instance.radii[0]), **links)
        if certificate := ConflictGraph(part).broken_must_link():
            for key in {"pair", "path"} & certificate.keys():
                certificate[key] = [int(points[t]) for t in certificate[key]]
            return certificate
    return None


def bounds(instance: Instance, clock: Clock) -> Bounds:
    """Few clusters, and how few are possible, within the time that the clock leaves."""
    limit = float(diameter_limit(instance.radii[0]))
    for_labels = Clock(None if clock.left is None else clock.left * (1 - FOR_THE_BOUND))
    labels = upper(instance, for_labels)
    try:
        chosen, lists = _representatives(instance.points, limit, clock)
        weights = packing.packing_weights(lists, clock)
    except TimeoutError:
        return Bounds(labels, 1, {"kind": "clique", "points": [0]})
    bound = packing.bound_of(lists, weights)
    return Bounds(labels, bound, _certificate(chosen, weights))


def upper(
    instance: Instance, clock: Clock, *, at_least: int = 1, seed: int = 0
) -> np.ndarray | None:
    """Labels of a partition into few clusters; None when there was no time for one."""
    has_links = len(instance.cannot_link) or len(instance.must_link)
    quick = None
    if clock.left is not None and clock.left < SECONDS_PER_POINT * instance.n_points:
        return None
    if not has_links:
        quick = compatible_cells(instance.points, float(diameter_limit(instance.radii[0])))
    try:
        if clock.expired:
            return quick
        problem = grouped(instance, clock)
    except (TimeoutError, TooManyPairs):
        return quick
    thorough = clock.left is None or clock.left > 10
    groups = few_clusters(problem.lists, clock, seed=seed, at_least=at_least, thorough=thorough)
    labels = groups[problem.labels]
    if labels.min() < 0:
        if quick is None:
            return None
        labels = np.where(labels < 0, labels.max() + 1 + quick, labels)
    return np.unique(labels, return_inverse=True)[1]


def _representatives(points, limit, clock) -> tuple[np.ndarray, Neighbours]:
    """Points that the bound uses, none dominated by another, and their lists of neighbours."""
    for part in (0.0, *SIDES):
        if clock.expired:
            raise TimeoutError("the time limit passed while points were chosen")
        chosen = np.arange(len(points))
        if part and points.shape[1] <= 3 and limit > 0:
            cells = cell_labels(points, part * np.sqrt(limit) / 2)
            chosen = np.unique(cells, return_index=True)[1]
        if points.shape[1] <= 3 and limit > 0:
            chosen = chosen[Cells(points[chosen], np.sqrt(limit)).order]
        try:
            lists = within(points[chosen], limit, clock=clock, max_entries=MOST_ENTRIES)
        except TooManyPairs:
            if points.shape[1] > 3:
                break
            continue
        leader = dominated(lists, clock)
        kept = np.flatnonzero(leader == np.arange(len(leader)))
        return chosen[kept], lists.restricted(kept)
    return _far_apart(points, limit, clock)


def _far_apart(points, limit, clock) -> tuple[np.ndarray, Neighbours]:
    """Points in conflict with each other, found one by one, each far from those before."""
    chosen = []
    gap = np.full(len(points), np.inf)
    farthest = int(np.square(points - points.mean(axis=0)).sum(axis=1).argmax())
    while gap[farthest] > limit and not clock.expired:
        chosen.append(farthest)
        gap = np.minimum(gap, np.square(points - points[farthest]).sum(axis=1))
        farthest = int(gap.argmax())
    if not chosen:
        raise TimeoutError("the time limit passed while points far apart were sought")
    nothing = np.empty(0, np.int32)
    return np.array(chosen), Neighbours(np.zeros(len(chosen) + 1, np.int64), nothing)


def _certificate(chosen: np.ndarray, weights: np.ndarray) -> dict:
    used = np.flatnonzero(weights)
    if set(weights[used].tolist()) == {packing.SCALE}:
        return {"kind": "clique", "points": sorted(chosen[used].tolist())}
    order = used[np.argsort(chosen[used])]
    return {
        "kind": "weights",
        "points": chosen[order].tolist(),
        "weights": weights[order].tolist(),
        "capacity": packing.SCALE,
    }
