"""Exact pricing by branch and bound over the centre's location, for points in low dimension.

The column of least reduced cost solves  min over S, c of  sigma + sum_{j in S} (m_j |x_j - c|^2
- lambda_j)  over compatible sets S and centres c. A node of the search is a box B for c, a set I
of members, and candidates R compatible with I. With w_j(B) = lambda_j - m_j dist(x_j, B)^2,

    sigma + min_{c in B} sum_{i in I} (m_i |x_i - c|^2 - lambda_i)
          - sum over conflict cliques Q covering R of max_{j in Q} max(0, w_j(B))

bounds every set of the node from below: of mutually conflicting candidates only one can join.
Branching either halves the box, while many candidates are undecided in it, or takes one in or
leaves it out. A candidate that pays everywhere in the box and conflicts with no other joins for
free. What makes this cheap is that few circles |x_j - c|^2 = lambda_j / m_j cross a small box.

Every set found in a node is charged to the first point that the path to it took in: the *head*.
Clusters of a partition are disjoint, so their heads differ, and ``floor[i]``, the least reduced
cost of the sets with head i, gives the bound of :mod:`radcluster.methods.colgen.bounds`. Two steps
alter sets on the way: a member with w_j(c) < 0 is dropped, and a free candidate is added once there
is a head; both lower the reduced cost, and neither gives a set a head that it did not contain.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from radcluster.methods.colgen.pricing.box_nodes import (
    Cells,
    Found,
    Local,
    Market,
    Stack,
    State,
    price_cells,
)

#: Axes along which the root boxes form a grid.
GRID_DIMENSIONS = 3
#: A box is not halved below this fraction of the grid's spacing.
SMALLEST_BOX = 2.0**-24
#: Nodes spent on one cell before its bound is taken as it stands.
CELL_BUDGET = 200_000
#: Work between two looks at the clock: some hundredths of a second.
WORK_AT_ONCE = 5_000_000


def price(market: Market, floor: np.ndarray, found: Found) -> Iterator[None]:
    """Search every cell: lower ``floor``, write improving columns to ``found``.

    Yields between slices of work. The ``market`` says which tolerance a column must beat.
    """
    cells = root_cells(market.centers, market.mass, market.prices, market.reach)
    most = int(np.diff(cells.start).max(initial=1))
    stack, local = allocate(most, market.centers.shape[1])
    where = np.full(len(market.mass), -1, np.int32)
    state = State(*np.array([[0], [-1], [0]]), np.zeros(1, np.bool_))
    arguments = (market, cells, stack, local, where, state, floor, CELL_BUDGET, WORK_AT_ONCE)
    while not price_cells(*arguments, found):
        yield


def allocate(most: int, dim: int) -> tuple[Stack, Local]:
    """A stack and a cell's tables for at most ``most`` candidates."""
    depth = 2 * most + 64 * dim
    ints = np.int32
    stack = Stack(
        lower=np.empty((depth, dim)), upper=np.empty((depth, dim)),
        inside=np.empty((depth, most), ints), n_inside=np.empty(depth, ints),
        open=np.empty((depth, most), ints), n_open=np.empty(depth, ints),
        head=np.empty(depth, ints), bound=np.empty(depth),
    )  # fmt: skip
    local = Local(
        points=np.empty(most, ints), x=np.empty((most, dim)), m=np.empty(most),
        lam=np.empty(most), conflict=np.empty((most, most), np.bool_), weight=np.empty(most),
        sure=np.empty(most, np.bool_), order=np.empty(most, ints), link=np.empty(most, ints),
        last=np.empty(most, ints), mean=np.empty(dim),
    )  # fmt: skip
    return stack, local


def root_cells(centers, mass, prices, reach) -> Cells:
    """Boxes that together hold the centre of every column worth having, with their candidates.

    They form a grid along the first axes and extend over all points along the others.
    """
    reach = np.minimum(np.sqrt(np.maximum(prices, 0.0) / mass) * (1 + 1e-9), reach)
    points = np.flatnonzero(reach > 0)
    dim = centers.shape[1]
    grid = min(dim, GRID_DIMENSIONS)
    if not len(points):
        none = np.empty(0, dtype=np.int32)
        return Cells(np.ones(dim), np.empty((0, dim)), np.zeros(1, np.int64), none, 0.0)
    lowest = centers.min(axis=0)
    sides = centers.max(axis=0) - lowest
    x, reach = centers[points, :grid], reach[points]
    sides[:grid] = max(np.median(reach), reach.max() / 5)
    home = np.floor(x / sides[:grid]).astype(np.int64)
    steps = int(np.ceil(reach.max() / sides[0]))
    cells, owners = [], []
    for offset in product(range(-steps, steps + 1), repeat=grid):
        cell = home + np.array(offset)
        lower = cell * sides[:grid]
        gap = np.maximum(0.0, np.maximum(lower - x, x - lower - sides[:grid]))
        near = np.square(gap).sum(axis=1) < np.square(reach)
        cells.append(cell[near])
        owners.append(points[near])
    cells, owners = np.concatenate(cells), np.concatenate(owners)
    unique, which = np.unique(cells, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(which.ravel()))])
    corners = np.tile(lowest, (len(unique), 1))
    corners[:, :grid] = unique * sides[:grid]
    candidates = owners[order].astype(np.int32)
    return Cells(sides, corners, start.astype(np.int64), candidates, sides[0] * SMALLEST_BOX)
