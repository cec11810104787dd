"""A lower bound on the number of clusters at any size: weights that no compatible set exceeds.

If y >= 0 has y(S) <= 1 for every compatible set S, every cover takes at least sum(y) sets. The best
such y solves a linear program with too many rows for many points at once. So it is solved tile by
tile: the weights of a tile, some hundred points that hang together, are chosen anew while those
around it stay. Every step keeps y feasible, nearly, and sum(y) grows; the tiles' weights add up.
In the end each weight is divided by the most that a set with that point weighs, which makes
y(S) <= 1 hold for all S: with c_i >= y(S) for all i in S, sum_{i in S} y_i / c_i <= y(S)/y(S).
"""

from __future__ import annotations

from contextlib import suppress

import highspy
import numpy as np
from scipy.sparse.csgraph import connected_components

from radcluster.clock import Clock
from radcluster.graph.heaviest import enlarged, heaviest_sets
from radcluster.problem.neighbours import Neighbours

#: Vertices of a tile, pass after pass. Tiles are drawn anew each time, so borders move.
TILES = (300, 500, 500, 500, 500, 600, 600, 600)
#: A tile where points lie densely may take long: then it is left as it was.
TILE_SECONDS = 1.0
#: Sets heavier than 1 by less than this are left to the division in the end.
SLACK = 0.003
#: Rounds of the linear program of a tile.
ROUNDS = 25
#: Steps of the search for a heaviest set, per head: in a tile, and in the end.
STEPS = 20_000
LAST_STEPS = 200_000
#: A pass that adds less than this part ends the work.
LEAST_GAIN = 1e-3
#: Weights are whole multiples of 1 / SCALE.
SCALE = 10**6


def packing_weights(neighbours: Neighbours, clock: Clock, seed: int = 0) -> np.ndarray:
    """Whole weights of the vertices, of which no compatible set holds more than SCALE."""
    y = independent(neighbours).astype(float)
    best = independent(neighbours) * SCALE
    rng = np.random.default_rng(seed)
    # The division needs some of the time.
    until = Clock(None if clock.left is None else 0.8 * clock.left)
    for size in TILES:
        before = y.sum()
        for tile in _tiles(neighbours, size, rng):
            if until.expired:
                break
            left = TILE_SECONDS if until.left is None else min(TILE_SECONDS, until.left)
            with suppress(TimeoutError):
                _improve_tile(neighbours, y, tile, Clock(left))
        if until.expired or y.sum() <= before * (1 + LEAST_GAIN):
            break
    with suppress(TimeoutError):
        best = max(best, _divided(neighbours, y, clock), key=np.sum)
    return best


def bound_of(neighbours: Neighbours, weights: np.ndarray) -> int:
    """No fewer clusters suffice: the parts' weights, each rounded up to whole clusters."""
    _, part = connected_components(neighbours.matrix(), directed=False)
    totals = np.bincount(part, weights)
    return int(np.ceil(totals / SCALE - 1e-9).sum())


def independent(neighbours: Neighbours) -> np.ndarray:
    """Mutually conflicting vertices, those with few neighbours first, as a mask."""
    chosen = np.zeros(neighbours.n_points, dtype=bool)
    excluded = np.zeros(neighbours.n_points, dtype=bool)
    for i in np.argsort(neighbours.degree, kind="stable").tolist():
        if not excluded[i]:
            chosen[i] = excluded[i] = True
            excluded[neighbours.of(i)] = True
    return chosen


def _tiles(neighbours: Neighbours, size: int, rng):
    """Every vertex in one tile: what hangs together, from a random vertex on."""
    left = np.ones(neighbours.n_points, dtype=bool)
    for seed in rng.permutation(neighbours.n_points).tolist():
        if not left[seed]:
            continue
        tile = [seed]
        left[seed] = False
        for i in tile:
            if len(tile) >= size:
                break
            fresh = neighbours.of(i)
            fresh = fresh[left[fresh]]
            left[fresh] = False
            tile += fresh.tolist()
        yield np.sort(tile)


def _improve_tile(neighbours: Neighbours, y: np.ndarray, tile: np.ndarray, clock: Clock) -> None:
    """Choose the weights of a tile anew, the others staying as they are."""
    around = np.unique(np.concatenate([neighbours.of(i) for i in tile]))
    around = np.setdiff1d(around[y[around] > 0], tile)
    vertices = np.sort(np.concatenate([tile, around]))
    local = neighbours.restricted(vertices)
    inside = np.isin(vertices, tile)
    own = np.flatnonzero(inside)
    number = np.cumsum(inside) - 1
    weights = np.where(inside, 0.0, y[vertices])
    program = _Program(len(own))
    heads = np.arange(len(vertices))
    # Maximal sets around every vertex first: with weights of 1 everywhere the search is slow.
    for i in own:
        members = enlarged(local, np.array([i]), own)
        program.add(number[members], 1.0)
    for _ in range(ROUNDS):
        weights[own] = program.solve(clock)
        _, heavy = heaviest_sets(local, weights, heads, 1.0 + SLACK, STEPS, clock)
        heavy = [members for members in heavy if inside[members].any()]
        if not heavy:
            break
        for members in heavy:
            members = enlarged(local, members, own)
            room = 1.0 - weights[members[~inside[members]]].sum()
            program.add(number[members[inside[members]]], max(room, 0.0))
    if weights[own].sum() > y[tile].sum():
        y[vertices[own]] = weights[own]


class _Program:
    """max sum(y) over 0 <= y <= 1 and the rows added so far, warm-started."""

    def __init__(self, n: int):
        self._highs = highspy.Highs()
        self._highs.silent()
        self._highs.setOptionValue("threads", 1)
        for _ in range(n):
            self._highs.addVar(0.0, 1.0)
        self._highs.changeColsCost(n, np.arange(n, dtype=np.int32), -np.ones(n))

    def add(self, members: np.ndarray, room: float) -> None:
        index = members.astype(np.int32)
        self._highs.addRow(-highspy.kHighsInf, room, len(index), index, np.ones(len(index)))

    def solve(self, clock: Clock) -> np.ndarray:
        if clock.left is not None:
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + clock.left)
        self._highs.run()
        return np.clip(np.array(self._highs.getSolution().col_value), 0.0, 1.0)


def _divided(neighbours: Neighbours, y: np.ndarray, clock: Clock) -> np.ndarray:
    """The weights, each divided by the most that a set with it weighs."""
    support = np.flatnonzero(y > 1e-6)
    local = neighbours.restricted(support)
    weights = y[support]
    most = np.ones(len(support))
    heads = np.arange(len(support))
    bounds, _ = heaviest_sets(local, weights, heads, 1.0, LAST_STEPS, clock)
    for head in np.flatnonzero(bounds > 1.0).tolist():
        near = local.of(head)
        near = np.append(near[near < head], head)
        most[near] = np.maximum(most[near], bounds[head])
    whole = np.zeros(neighbours.n_points, dtype=np.int64)
    whole[support] = np.floor(SCALE * (1 - 1e-9) * weights / most).astype(np.int64)
    return whole
