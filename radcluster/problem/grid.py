"""A grid of cells in one to three dimensions: points in the order of their cells, pairs in reach.

Cells are at least as wide as the reach, so a point's neighbours lie in its own cell or in those
around it. Cells of one row lie next to each other in the order of cells, so that the three cells
of a row around a point form one run of points.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from radcluster.clock import Clock
from radcluster.problem.kernels import helper, kernel

#: Candidate pairs looked at between two looks at the clock.
SLICE = 20_000_000
#: So many candidate pairs are looked at, at most, for each entry that would be kept.
CANDIDATES = 8
#: Most cells along one axis, so that the cells' numbers fit into 64 bits.
MOST_CELLS = 2**20


class Cells:
    """Points sorted by cells of this side.

    Attributes
    ----------
    order : int array (N,)
        The points in the order of their cells.
    first : int array (n + 1,)
        Cell c, of the n that hold points, has the points ``order[first[c]:first[c + 1]]``.
    lows, highs : int arrays (n, runs)
        Candidates for the points of cell c: ``order[lows[c, r]:highs[c, r]]`` for every r.
    work : int array (n,)
        Candidate pairs of each cell.
    """

    def __init__(self, points: np.ndarray, side: float):
        lowest = points.min(axis=0)
        side = max(side, (points.max(axis=0) - lowest).max() / MOST_CELLS)
        numbers = np.floor((points - lowest) / side).astype(np.int64) + 1
        shape = numbers.max(axis=0) + 2
        dim = points.shape[1]
        strides = np.array([np.prod(shape[a + 1 :]) for a in range(dim)], dtype=np.int64)
        key = numbers @ strides
        self.order = np.argsort(key, kind="stable")
        ordered = key[self.order]
        own, first = np.unique(ordered, return_index=True)
        self.first = np.append(first, len(points))
        # Along the last axis the cells before, at and after form one run.
        shifts = [np.dot(shift, strides[:-1]) for shift in product((-1, 0, 1), repeat=dim - 1)]
        middle = own[:, None] + np.array(shifts, dtype=np.int64)
        self.lows = np.searchsorted(ordered, middle - 1, "left")
        self.highs = np.searchsorted(ordered, middle + 1, "right")
        self.work = np.diff(self.first) * (self.highs - self.lows).sum(axis=1)

    def slices(self, clock: Clock):
        """Ranges of cells with about :data:`SLICE` candidate pairs each, while there is time."""
        cuts = np.flatnonzero(np.diff(np.cumsum(self.work) // SLICE)) + 1
        for first, stop in zip(np.r_[0, cuts], np.r_[cuts, len(self.work)], strict=True):
            if clock.expired:
                raise TimeoutError("the time limit passed while neighbours were sought")
            yield first, stop


def three_axes(points: np.ndarray) -> np.ndarray:
    """The coordinates as three rows, zeros in those that the points lack."""
    axes = np.zeros((3, len(points)))
    axes[: points.shape[1]] = points.T
    return axes


def grid_neighbours(
    points: np.ndarray,
    limit: float,
    clock: Clock,
    max_entries: int,
    high: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Sorted lists of the points within ``limit`` (squared) of each; None when they are too long.

    With ``high``, boxes from ``points`` to ``high`` take the place of points: two are near when
    the farthest of their corners are. Returns ``start`` and ``index``, as in
    :class:`radcluster.problem.neighbours.Neighbours`.
    """
    # A hair wider than the reach, so that rounding cannot put a neighbour two cells away.
    cells = Cells(points, np.sqrt(limit) * (1 + 1e-9))
    if cells.work.sum() > CANDIDATES * max_entries:
        return None
    low = three_axes(points[cells.order])
    high = low if high is None else three_axes(high[cells.order])
    size = np.zeros(len(points), np.int64)
    for first, stop in cells.slices(clock):
        _count(low, high, limit, cells.first, cells.lows, cells.highs, first, stop, size)
    if size.sum() > max_entries:
        return None
    start = np.concatenate([[0], np.cumsum(size)])
    index = np.empty(start[-1] + 1, np.int32)
    for first, stop in cells.slices(clock):
        _fill(low, high, limit, cells.first, cells.lows, cells.highs, first, stop, start, index)
    return _in_given_order(start, index[:-1], cells.order)


def _in_given_order(start, index, order):
    n = len(order)
    if np.array_equal(order, np.arange(n)):
        return start, index
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    given = np.concatenate([[0], np.cumsum(np.diff(start)[place])])
    return given, _renumbered(start, index, order, place, given)


@helper
def _squared(low, high, i, j):
    """Largest squared distance between points of the boxes i and j."""
    x = max(high[0, i] - low[0, j], high[0, j] - low[0, i])
    y = max(high[1, i] - low[1, j], high[1, j] - low[1, i])
    z = max(high[2, i] - low[2, j], high[2, j] - low[2, i])
    return x * x + y * y + z * z


@kernel
def _count(low, high, limit, first, lows, highs, begin, stop, size):
    for c in range(begin, stop):
        for i in range(first[c], first[c + 1]):
            found = -(_squared(low, high, i, i) <= limit)
            for r in range(lows.shape[1]):
                for j in range(lows[c, r], highs[c, r]):
                    found += _squared(low, high, i, j) <= limit
            size[i] = found


@kernel
def _fill(low, high, limit, first, lows, highs, begin, stop, start, index):
    for c in range(begin, stop):
        for i in range(first[c], first[c + 1]):
            at = start[i]
            for r in range(lows.shape[1]):
                for j in range(lows[c, r], highs[c, r]):
                    # Written always, kept when near: quicker than a branch.
                    index[at] = j
                    at += i != j and _squared(low, high, i, j) <= limit


@kernel
def _renumbered(start, index, order, place, original):
    """The lists in the original numbering: rows visited in that order append themselves."""
    at = original[:-1].copy()
    new = np.empty(len(index), np.int32)
    for i in range(len(order)):
        row = place[i]
        for p in range(start[row], start[row + 1]):
            j = order[index[p]]
            new[at[j]] = i
            at[j] += 1
    return new
