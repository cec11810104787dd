"""A grid of cells in one to three dimensions: points in the order of their cells, pairs in reach.

Cells are as wide as the reach, or a part of it where many points lie, so a point's neighbours lie
in its own cell or in those around it. Cells of one row lie next to each other in the order of
cells, so that the cells of a row around a point form one run of points. Where cells are small, most
of them lie wholly within reach or wholly out of it, and their points are not looked at one by one.
"""

from __future__ import annotations

from collections import namedtuple
from itertools import product

import numpy as np

from radcluster.clock import Clock
from radcluster.problem.kernels import helper, kernel

#: Candidate pairs looked at between two looks at the clock.
SLICE = 20_000_000
#: So many candidate pairs are looked at, at most, for each entry that would be kept.
CANDIDATES = 8
#: A cell narrower than the reach holds about so many points, and this many cells make up the reach
#: at most, in one, two and three dimensions.
CROWD = 2.0
MOST_AROUND = (32, 8, 3)
#: Most cells along one axis, so that the cells' numbers fit into 64 bits.
MOST_CELLS = 2**20

#: Cells: first points, runs of cells nearby, and of their boxes the least and the largest lower
#: corner, and the largest upper corner.
_Grid = namedtuple("_Grid", "first lows highs bottom middle top")


class Cells:
    """Points sorted by cells of this side.

    Attributes
    ----------
    order : int array (N,)
        The points in the order of their cells.
    first : int array (n + 1,)
        Cell c, of the n that hold points, has the points ``order[first[c]:first[c + 1]]``.
    """

    def __init__(self, points: np.ndarray, side: float, around: int = 0):
        lowest = points.min(axis=0)
        side = max(side, (points.max(axis=0) - lowest).max() / MOST_CELLS)
        numbers = np.floor((points - lowest) / side).astype(np.int64) + around
        # Empty cells around the whole keep the runs of one row from reaching into the next.
        shape = numbers.max(axis=0) + around + 1
        self._strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)
        key = numbers @ self._strides
        self.order = np.argsort(key, kind="stable")
        self._key, first = np.unique(key[self.order], return_index=True)
        self.first = np.append(first, len(key))

    def _runs(self, around: int) -> tuple[np.ndarray, np.ndarray]:
        reach = range(-around, around + 1)
        # Along the last axis the cells from before to after form one run.
        shifts = [
            np.dot(shift, self._strides[:-1])
            for shift in product(reach, repeat=len(self._strides) - 1)
        ]
        middle = self._key[:, None] + np.array(shifts, dtype=np.int64)
        lows = np.searchsorted(self._key, middle - around, "left")
        return lows, np.searchsorted(self._key, middle + around, "right")


class Reach(Cells):
    """Cells of which the ``around`` next along each axis hold all points within the reach.

    Attributes
    ----------
    lows, highs : int arrays (n, runs)
        Cells near cell c, for every run r: ``lows[c, r]`` to ``highs[c, r] - 1``.
    work : int array (n,)
        Candidate pairs of each cell.
    """

    def __init__(self, points: np.ndarray, limit: float):
        # A hair wider than the reach, so that rounding cannot put a neighbour one cell further.
        side = np.sqrt(limit) * (1 + 1e-9)
        dim = points.shape[1]
        super().__init__(points, side, around=1)
        crowd = len(points) / (len(self.first) - 1)
        around = int(min(max((crowd / CROWD) ** (1 / dim), 1), MOST_AROUND[dim - 1]))
        if around > 1:
            super().__init__(points, side / around, around)
        self.lows, self.highs = self._runs(around)
        self.work = np.diff(self.first) * (self.first[self.highs] - self.first[self.lows]).sum(
            axis=1
        )

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
    cells = Reach(points, limit)
    if cells.work.sum() > CANDIDATES * max_entries:
        return None
    low = three_axes(points[cells.order])
    high = low if high is None else three_axes(high[cells.order])
    grid = _Grid(
        cells.first, cells.lows, cells.highs,
        np.minimum.reduceat(low, cells.first[:-1], axis=1),
        np.maximum.reduceat(low, cells.first[:-1], axis=1),
        np.maximum.reduceat(high, cells.first[:-1], axis=1),
    )  # fmt: skip
    parts = np.empty((3, cells.lows.shape[1] * int((cells.highs - cells.lows).max())), np.int64)
    size = np.zeros(len(points), np.int64)
    entries = 0
    for first, stop in cells.slices(clock):
        entries += _count(low, high, limit, grid, parts, first, stop, size)
        if entries > max_entries:
            return None
    start = np.concatenate([[0], np.cumsum(size)])
    index = np.empty(start[-1] + 1, np.int32)
    for first, stop in cells.slices(clock):
        _fill(low, high, limit, grid, parts, first, stop, start, index)
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


@helper
def _parts_near(limit, grid, c, parts):
    """Runs of points near cell c, from, to, and whether all are near all of c; how many runs.

    The boxes of two cells settle most cases: no pair is further apart than the farthest corners,
    nor nearer than the gap between them.
    """
    count = 0
    for r in range(grid.lows.shape[1]):
        for d in range(grid.lows[c, r], grid.highs[c, r]):
            farthest, gap = 0.0, 0.0
            for a in range(3):
                over = max(grid.top[a, c] - grid.bottom[a, d], grid.top[a, d] - grid.bottom[a, c])
                farthest += over * over
                apart = max(
                    grid.bottom[a, d] - grid.middle[a, c], grid.bottom[a, c] - grid.middle[a, d]
                )
                if apart > 0:
                    gap += apart * apart
            if gap > limit:
                continue
            sure = farthest <= limit
            begin, end = grid.first[d], grid.first[d + 1]
            if count > 0 and parts[1, count - 1] == begin and parts[2, count - 1] == sure:
                parts[1, count - 1] = end
            else:
                parts[0, count] = begin
                parts[1, count] = end
                parts[2, count] = sure
                count += 1
    return count


@kernel
def _count(low, high, limit, grid, parts, begin, stop, size):
    """How many are near each point of some cells, itself left out; and of all of them."""
    total = 0
    for c in range(begin, stop):
        count = _parts_near(limit, grid, c, parts)
        sure = 0
        for t in range(count):
            sure += parts[2, t] * (parts[1, t] - parts[0, t])
        for i in range(grid.first[c], grid.first[c + 1]):
            found = sure - (_squared(low, high, i, i) <= limit)
            for t in range(count):
                if parts[2, t] == 0:
                    for j in range(parts[0, t], parts[1, t]):
                        found += _squared(low, high, i, j) <= limit
            size[i] = found
            total += found
    return total


@helper
def _append(index, at, begin, end):
    """Write begin, begin + 1, ... before end; where the next entry goes."""
    for j in range(begin, end):
        index[at + j - begin] = j
    return at + max(end - begin, 0)


@kernel
def _fill(low, high, limit, grid, parts, begin, stop, start, index):
    for c in range(begin, stop):
        count = _parts_near(limit, grid, c, parts)
        for i in range(grid.first[c], grid.first[c + 1]):
            at = start[i]
            for t in range(count):
                begin_run, end_run = parts[0, t], parts[1, t]
                if parts[2, t]:
                    at = _append(index, at, begin_run, min(end_run, i))
                    at = _append(index, at, max(begin_run, i + 1), end_run)
                    continue
                for j in range(begin_run, end_run):
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
