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

from collections import namedtuple
from itertools import product

import numpy as np
from numba import njit

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


Stack = namedtuple("Stack", "lower upper inside n_inside open n_open head bound")
Local = namedtuple("Local", "points x m lam conflict weight sure order link last mean")
Found = namedtuple("Found", "head cost end members count")


@njit(cache=True)
def _load_cell(local, cell, origin, centers, mass, prices, start, neighbours, where):
    """Copy a cell's candidates, relative to ``origin``; whether any two of them conflict."""
    count = len(cell)
    for a in range(count):
        j = cell[a]
        local.points[a] = j
        local.m[a] = mass[j]
        local.lam[a] = prices[j]
        where[j] = a
        for k in range(len(origin)):
            local.x[a, k] = centers[j, k] - origin[k]
    clash = False
    for a in range(count):
        local.conflict[a, :count] = True
        local.conflict[a, a] = False
        for p in range(start[cell[a]], start[cell[a] + 1]):
            b = where[neighbours[p]]
            if b >= 0:
                local.conflict[a, b] = False
        for b in range(count):
            clash |= local.conflict[a, b]
    for a in range(count):
        where[cell[a]] = -1
    return clash


@njit(cache=True)
def _keep_paying(stack, local, t, limit):
    """Drop the candidates of node t that pay nowhere in its box; the total weight of the rest."""
    kept = 0
    total = 0.0
    for a in range(stack.n_open[t]):
        j = stack.open[t, a]
        near = 0.0
        far = 0.0
        for k in range(local.x.shape[1]):
            below = stack.lower[t, k] - local.x[j, k]
            above = local.x[j, k] - stack.upper[t, k]
            gap = max(0.0, max(below, above))
            reach = max(-below, -above)
            near += gap * gap
            far += reach * reach
        w = local.lam[j] - local.m[j] * near
        if w > 0 and near <= limit:
            stack.open[t, kept] = j
            kept += 1
            local.weight[j] = w
            local.sure[j] = local.lam[j] - local.m[j] * far >= 0
            total += w
    stack.n_open[t] = kept
    return total


@njit(cache=True)
def _mark_free(stack, local, t, clash):
    """Put first the candidates that pay everywhere in the box and conflict with no other."""
    count = stack.n_open[t]
    free = 0
    for a in range(count):
        j = stack.open[t, a]
        alone = local.sure[j]
        if alone and clash:
            for b in range(count):
                if local.conflict[j, stack.open[t, b]]:
                    alone = False
                    break
        if alone:
            stack.open[t, a] = stack.open[t, free]
            stack.open[t, free] = j
            free += 1
    return free


@njit(cache=True)
def _value(stack, local, t, free, sigma):
    """Reduced cost of the members and the first ``free`` candidates of node t.

    At their mean, and with the centre in the box.
    """
    dim = local.x.shape[1]
    inside = stack.n_inside[t]
    mean = local.mean
    mean[:] = 0.0
    mass = 0.0
    value = sigma
    for a in range(inside + free):
        j = stack.inside[t, a] if a < inside else stack.open[t, a - inside]
        mass += local.m[j]
        value -= local.lam[j]
        for k in range(dim):
            mean[k] += local.m[j] * local.x[j, k]
    if mass == 0.0:
        return value, value
    for k in range(dim):
        mean[k] /= mass
    for a in range(inside + free):
        j = stack.inside[t, a] if a < inside else stack.open[t, a - inside]
        for k in range(dim):
            value += local.m[j] * (local.x[j, k] - mean[k]) ** 2
    boxed = value
    for k in range(dim):
        shift = max(0.0, max(stack.lower[t, k] - mean[k], mean[k] - stack.upper[t, k]))
        boxed += mass * shift * shift
    return value, boxed


@njit(cache=True)
def _clique_cover(stack, local, t, free, clash, enough):
    """Sum over a greedy cover, by conflict cliques, of the cliques' largest weights.

    Covers the candidates from the one numbered ``free`` on.

    Stops, with infinity, once the sum exceeds ``enough``: the node stays open anyway.
    """
    order, link, last = local.order, local.link, local.last
    count = stack.n_open[t] - free
    total = 0.0
    if not clash:
        for a in range(count):
            total += local.weight[stack.open[t, free + a]]
        return total
    for a in range(count):
        j = stack.open[t, free + a]
        b = a - 1
        while b >= 0 and local.weight[order[b]] < local.weight[j]:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = j
    cliques = 0
    for a in range(count):
        j = order[a]
        chosen = cliques
        for q in range(cliques):
            b = last[q]
            while b >= 0 and local.conflict[j, b]:
                b = link[b]
            if b < 0:
                chosen = q
                break
        if chosen == cliques:
            total += local.weight[j]
            if total > enough:
                return np.inf
            last[chosen] = -1
            cliques += 1
        link[j] = last[chosen]
        last[chosen] = j
    return total


@njit(cache=True)
def _absorb(stack, t, free):
    """Make members of the first ``free`` candidates."""
    for a in range(free):
        stack.inside[t, stack.n_inside[t]] = stack.open[t, a]
        stack.n_inside[t] += 1
    rest = stack.n_open[t] - free
    for a in range(rest):
        stack.open[t, a] = stack.open[t, a + free]
    stack.n_open[t] = rest


@njit(cache=True)
def _copy_node(stack, source, target):
    for k in range(stack.lower.shape[1]):
        stack.lower[target, k] = stack.lower[source, k]
        stack.upper[target, k] = stack.upper[source, k]
    for a in range(stack.n_inside[source]):
        stack.inside[target, a] = stack.inside[source, a]
    for a in range(stack.n_open[source]):
        stack.open[target, a] = stack.open[source, a]
    stack.n_inside[target] = stack.n_inside[source]
    stack.n_open[target] = stack.n_open[source]
    stack.head[target] = stack.head[source]
    stack.bound[target] = stack.bound[source]


@njit(cache=True)
def _widest(stack, t):
    """The longest side of node t's box."""
    widest = 0
    width = 0.0
    for k in range(stack.lower.shape[1]):
        if stack.upper[t, k] - stack.lower[t, k] > width:
            widest = k
            width = stack.upper[t, k] - stack.lower[t, k]
    return widest


@njit(cache=True)
def _halve(stack, t, widest):
    """Replace node t by its two halves, in slots t and t + 1."""
    _copy_node(stack, t, t + 1)
    middle = 0.5 * (stack.lower[t, widest] + stack.upper[t, widest])
    stack.upper[t, widest] = middle
    stack.lower[t + 1, widest] = middle


@njit(cache=True)
def _decide(stack, local, t):
    """Replace node t by "without its heaviest candidate" in slot t and "with it" in t + 1."""
    best = 0
    for a in range(1, stack.n_open[t]):
        if local.weight[stack.open[t, a]] > local.weight[stack.open[t, best]]:
            best = a
    j = stack.open[t, best]
    stack.n_open[t] -= 1
    stack.open[t, best] = stack.open[t, stack.n_open[t]]
    _copy_node(stack, t, t + 1)
    kept = 0
    for a in range(stack.n_open[t]):
        b = stack.open[t, a]
        if not local.conflict[j, b]:
            stack.open[t + 1, kept] = b
            kept += 1
    stack.n_open[t + 1] = kept
    stack.inside[t + 1, stack.n_inside[t + 1]] = j
    stack.n_inside[t + 1] += 1
    if stack.head[t] < 0:
        stack.head[t + 1] = local.points[j]


@njit(cache=True)
def _undecided(stack, local, t):
    """How many candidates of node t pay in one part of its box but not in another."""
    count = 0
    for a in range(stack.n_open[t]):
        count += not local.sure[stack.open[t, a]]
    return count


@njit(cache=True)
def _record(stack, local, t, value, found):
    """Write the members of node t as a column, if there is room."""
    size = stack.n_inside[t]
    c = found.count[0]
    begin = found.end[c - 1] if c else 0
    if c == len(found.head) or begin + size > len(found.members):
        return
    found.head[c] = stack.head[t]
    found.cost[c] = value
    for a in range(size):
        found.members[begin + a] = local.points[stack.inside[t, a]]
    found.end[c] = begin + size
    found.count[0] += 1


@njit(cache=True)
def _give_up(stack, local, top, floor):
    """Charge the bounds of all open nodes to the points that may head their sets."""
    for t in range(top + 1):
        if stack.head[t] >= 0:
            floor[stack.head[t]] = min(floor[stack.head[t]], stack.bound[t])
        else:
            for a in range(stack.n_open[t]):
                i = local.points[stack.open[t, a]]
                floor[i] = min(floor[i], stack.bound[t])


@njit(cache=True)
def _search_cell(stack, local, clash, sigma, reach, smallest, floor, tolerance, budget, found):
    """Branch and bound from the node in slot 0; the number of nodes."""
    top = 0
    nodes = 0
    while top >= 0:
        if nodes == budget or top + 1 == len(stack.head):
            _give_up(stack, local, top, floor)
            break
        nodes += 1
        t = top
        head = stack.head[t]
        target = min(-tolerance, floor[head]) if head >= 0 else -tolerance
        top -= 1
        if stack.bound[t] >= target:
            continue
        total = _keep_paying(stack, local, t, reach * reach)
        _, boxed = _value(stack, local, t, 0, sigma)
        if boxed - total >= target:
            continue
        free = _mark_free(stack, local, t, clash)
        value, boxed = _value(stack, local, t, free, sigma)
        cover = _clique_cover(stack, local, t, free, clash, boxed - target)
        if boxed - cover >= target:
            continue
        if head >= 0:
            _absorb(stack, t, free)
            if stack.n_open[t] == 0:
                floor[head] = value
                _record(stack, local, t, value, found)
                continue
        elif stack.n_open[t] == 0:
            continue
        stack.bound[t] = max(stack.bound[t], boxed - cover)
        few = UNDECIDED_WITHOUT_HEAD if head < 0 else UNDECIDED_WITH_HEAD
        widest = _widest(stack, t)
        wide = stack.upper[t, widest] - stack.lower[t, widest] > smallest
        if wide and _undecided(stack, local, t) > few:
            _halve(stack, t, widest)
        else:
            _decide(stack, local, t)
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
    depth = 2 * most + 64 * dim
    stack = Stack(
        np.empty((depth, dim)), np.empty((depth, dim)),
        np.empty((depth, most), np.int32), np.empty(depth, np.int32),
        np.empty((depth, most), np.int32), np.empty(depth, np.int32),
        np.empty(depth, np.int32), np.empty(depth),
    )  # fmt: skip
    local = Local(
        np.empty(most, np.int32), np.empty((most, dim)), np.empty(most), np.empty(most),
        np.empty((most, most), np.bool_), np.empty(most), np.empty(most, np.bool_),
        np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32),
        np.empty(dim),
    )  # fmt: skip
    where = np.full(n, -1, np.int32)
    origin = np.empty(dim)
    smallest = sides[0] * SMALLEST_BOX
    nodes = 0
    for c in range(len(corners)):
        cell = cell_points[cell_start[c] : cell_start[c + 1]]
        rough = sigma
        for j in cell:
            rough -= prices[j]
        if rough >= -tolerance:
            continue
        for k in range(dim):
            origin[k] = corners[c, k] + 0.5 * sides[k]
            stack.lower[0, k] = -0.5 * sides[k]
            stack.upper[0, k] = 0.5 * sides[k]
        clash = _load_cell(local, cell, origin, centers, mass, prices, start, neighbours, where)
        stack.n_inside[0] = 0
        stack.n_open[0] = len(cell)
        for a in range(len(cell)):
            stack.open[0, a] = a
        stack.head[0] = -1
        stack.bound[0] = rough
        nodes += _search_cell(
            stack,
            local,
            clash,
            sigma,
            reach,
            smallest,
            floor,
            tolerance,
            budget,
            found,
        )
    return nodes
