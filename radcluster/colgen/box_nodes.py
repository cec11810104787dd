"""Nodes of the search over the centre's location: what :mod:`radcluster.colgen.boxes` does to one.

The open nodes lie on a stack of preallocated arrays, so that the compiled search allocates
nothing; a node is known by its slot t. Candidates and members are numbered within their cell.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

Stack = namedtuple("Stack", "lower upper inside n_inside open n_open head bound")
Local = namedtuple("Local", "points x m lam conflict weight sure order link last mean")
Found = namedtuple("Found", "head cost end members count")


@njit(cache=True)
def load_cell(local, cell, origin, centers, mass, prices, start, neighbours, where):
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
def keep_paying(stack, local, t, limit):
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
def mark_free(stack, local, t, clash):
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
def members_value(stack, local, t, free, sigma):
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
def clique_cover(stack, local, t, free, clash, enough):
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
def absorb(stack, t, free):
    """Make members of the first ``free`` candidates."""
    for a in range(free):
        stack.inside[t, stack.n_inside[t]] = stack.open[t, a]
        stack.n_inside[t] += 1
    rest = stack.n_open[t] - free
    for a in range(rest):
        stack.open[t, a] = stack.open[t, a + free]
    stack.n_open[t] = rest


@njit(cache=True)
def copy_node(stack, source, target):
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
def widest_side(stack, t):
    """The longest side of node t's box."""
    widest = 0
    width = 0.0
    for k in range(stack.lower.shape[1]):
        if stack.upper[t, k] - stack.lower[t, k] > width:
            widest = k
            width = stack.upper[t, k] - stack.lower[t, k]
    return widest


@njit(cache=True)
def halve(stack, t, widest):
    """Replace node t by its two halves, in slots t and t + 1."""
    copy_node(stack, t, t + 1)
    middle = 0.5 * (stack.lower[t, widest] + stack.upper[t, widest])
    stack.upper[t, widest] = middle
    stack.lower[t + 1, widest] = middle


@njit(cache=True)
def decide(stack, local, t):
    """Replace node t by "without its heaviest candidate" in slot t and "with it" in t + 1."""
    best = 0
    for a in range(1, stack.n_open[t]):
        if local.weight[stack.open[t, a]] > local.weight[stack.open[t, best]]:
            best = a
    j = stack.open[t, best]
    stack.n_open[t] -= 1
    stack.open[t, best] = stack.open[t, stack.n_open[t]]
    copy_node(stack, t, t + 1)
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
def undecided(stack, local, t):
    """How many candidates of node t pay in one part of its box but not in another."""
    count = 0
    for a in range(stack.n_open[t]):
        count += not local.sure[stack.open[t, a]]
    return count


@njit(cache=True)
def record(stack, local, t, value, found):
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
def give_up(stack, local, top, floor):
    """Charge the bounds of all open nodes to the points that may head their sets."""
    for t in range(top + 1):
        if stack.head[t] >= 0:
            floor[stack.head[t]] = min(floor[stack.head[t]], stack.bound[t])
        else:
            for a in range(stack.n_open[t]):
                i = local.points[stack.open[t, a]]
                floor[i] = min(floor[i], stack.bound[t])


@njit(cache=True)
def allocate(most, dim):
    """A stack and a cell's tables for at most ``most`` candidates."""
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
    return stack, local


@njit(cache=True)
def load_root(stack, sides, count, bound):
    """Put a whole cell, all of its candidates open, into slot 0."""
    for k in range(len(sides)):
        stack.lower[0, k] = -0.5 * sides[k]
        stack.upper[0, k] = 0.5 * sides[k]
    for a in range(count):
        stack.open[0, a] = a
    stack.n_inside[0] = 0
    stack.n_open[0] = count
    stack.head[0] = -1
    stack.bound[0] = bound
