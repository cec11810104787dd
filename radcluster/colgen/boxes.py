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
cost of the sets with head i, gives the bound of :mod:`radcluster.colgen.bounds`. Two steps alter
sets on the way: a member with w_j(c) < 0 is dropped, and a free candidate is added once there is
a head; both lower the reduced cost, and neither gives a set a head that it did not contain.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numba import njit

from radcluster.colgen.box_nodes import (
    absorb,
    allocate,
    clique_cover,
    decide,
    give_up,
    halve,
    keep_paying,
    load_cell,
    load_root,
    mark_free,
    members_value,
    record,
    undecided,
    widest_side,
)

#: Axes along which the root boxes form a grid.
GRID_DIMENSIONS = 3
#: With at most this many undecided candidates branch on membership, not on location.
UNDECIDED_WITHOUT_HEAD = 4
UNDECIDED_WITH_HEAD = 8
#: A box is not halved below this fraction of the grid's spacing.
SMALLEST_BOX = 2.0**-24


def root_cells(centers, mass, prices, reach):
    """Boxes that together hold the centre of every column worth having, with their candidates.

    They form a grid along the first axes and extend over all points along the others. Returns
    the boxes' sides, their lower corners, and the candidates of each in CSR form.
    """
    reach = np.minimum(np.sqrt(np.maximum(prices, 0.0) / mass) * (1 + 1e-9), reach)
    points = np.flatnonzero(reach > 0)
    dim = centers.shape[1]
    grid = min(dim, GRID_DIMENSIONS)
    if not len(points):
        none = np.empty(0, dtype=np.int32)
        return np.ones(dim), np.empty((0, dim)), np.zeros(1, dtype=np.int64), none
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
    return sides, corners, start.astype(np.int64), owners[order].astype(np.int32)


@njit(cache=True)
def _search_cell(stack, local, clash, sigma, reach, smallest, floor, tolerance, budget, found):
    """Branch and bound from the node in slot 0; the number of nodes."""
    top = 0
    nodes = 0
    while top >= 0:
        if nodes == budget or top + 1 == len(stack.head):
            give_up(stack, local, top, floor)
            break
        nodes += 1
        t = top
        head = stack.head[t]
        target = min(-tolerance, floor[head]) if head >= 0 else -tolerance
        top -= 1
        if stack.bound[t] >= target:
            continue
        total = keep_paying(stack, local, t, reach * reach)
        _, boxed = members_value(stack, local, t, 0, sigma)
        if boxed - total >= target:
            continue
        free = mark_free(stack, local, t, clash)
        value, boxed = members_value(stack, local, t, free, sigma)
        cover = clique_cover(stack, local, t, free, clash, boxed - target)
        if boxed - cover >= target:
            continue
        if head >= 0:
            absorb(stack, t, free)
            if stack.n_open[t] == 0:
                floor[head] = value
                record(stack, local, t, value, found)
                continue
        elif stack.n_open[t] == 0:
            continue
        stack.bound[t] = max(stack.bound[t], boxed - cover)
        few = UNDECIDED_WITHOUT_HEAD if head < 0 else UNDECIDED_WITH_HEAD
        widest = widest_side(stack, t)
        wide = stack.upper[t, widest] - stack.lower[t, widest] > smallest
        if wide and undecided(stack, local, t) > few:
            halve(stack, t, widest)
        else:
            decide(stack, local, t)
        top = t + 1
    return nodes


@njit(cache=True)
def price_cells(
    centers, mass, prices, sigma, reach, start, neighbours, sides, corners, cell_start,
    cell_points, floor, tolerance, budget, found,
):  # fmt: skip
    """Search all cells: lower ``floor`` in place, write improving columns to ``found``.

    A cell is given up after ``budget`` nodes; the bounds of its open nodes go into ``floor``.
    Returns the number of nodes.
    """
    n, dim = centers.shape
    most = 1
    for c in range(len(corners)):
        most = max(most, cell_start[c + 1] - cell_start[c])
    stack, local = allocate(most, dim)
    where = np.full(n, -1, np.int32)
    smallest = sides[0] * SMALLEST_BOX
    nodes = 0
    for c in range(len(corners)):
        cell = cell_points[cell_start[c] : cell_start[c + 1]]
        rough = sigma
        for j in cell:
            rough -= prices[j]
        if rough >= -tolerance:
            continue
        origin = corners[c] + 0.5 * sides
        clash = load_cell(local, cell, origin, centers, mass, prices, start, neighbours, where)
        load_root(stack, sides, len(cell), rough)
        nodes += _search_cell(
            stack, local, clash, sigma, reach, smallest, floor, tolerance, budget, found
        )
    return nodes
