"""The compiled search over the centre's location; :mod:`.boxes` says what it searches and why.

The open nodes lie on a stack of preallocated arrays; a node is known by its slot t. Candidates and
members are numbered within their cell. :func:`price_cells` works for a given time and goes on where
it stopped when it is called again, so that Python can look at the clock in between.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from radcluster.problem.kernels import helper, kernel

#: With at most this many undecided candidates branch on membership, not on location.
UNDECIDED_WITHOUT_HEAD = 4
UNDECIDED_WITH_HEAD = 8

#: What is priced: the groups, their prices and neighbours, sigma, how far members reach, and by how
#: much a column must price out.
Market = namedtuple("Market", "centers mass prices start neighbours sigma reach tolerance")
#: Boxes of these sides at these corners; ``points[start[c]:start[c + 1]]`` may join in box c.
Cells = namedtuple("Cells", "sides corners start points smallest")
Stack = namedtuple("Stack", "lower upper inside n_inside open n_open head bound")
Local = namedtuple("Local", "points x m lam conflict weight sure order link last mean")
#: Where a search stands: arrays of one entry.
State = namedtuple("State", "cell top nodes clash")
#: Columns, each with its head and reduced cost; ``count`` of them, after so many ``nodes``.
Found = namedtuple("Found", "head cost end members count nodes")


@helper
def load_cell(local, cells, c, market, where):
    """Copy a cell's candidates, relative to its middle; whether any two of them conflict."""
    first = cells.start[c]
    count = cells.start[c + 1] - first
    for a in range(count):
        j = cells.points[first + a]
        local.points[a] = j
        local.m[a] = market.mass[j]
        local.lam[a] = market.prices[j]
        where[j] = a
        for k in range(len(cells.sides)):
            local.x[a, k] = market.centers[j, k] - cells.corners[c, k] - 0.5 * cells.sides[k]
    clash = False
    for a in range(count):
        for b in range(count):
            local.conflict[a, b] = a != b
        j = local.points[a]
        for p in range(market.start[j], market.start[j + 1]):
            b = where[market.neighbours[p]]
            if b >= 0:
                local.conflict[a, b] = False
        for b in range(count):
            clash = clash or local.conflict[a, b]
    for a in range(count):
        where[local.points[a]] = -1
    return clash


@helper
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


@helper
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


@helper
def members_value(stack, local, t, free, sigma):
    """Reduced cost of the members and the first ``free`` candidates of node t.

    At their mean, and with the centre in the box.
    """
    dim = local.x.shape[1]
    inside = stack.n_inside[t]
    mean = local.mean
    for k in range(dim):
        mean[k] = 0.0
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


@helper
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


@helper
def absorb(stack, t, free):
    """Make members of the first ``free`` candidates."""
    for a in range(free):
        stack.inside[t, stack.n_inside[t]] = stack.open[t, a]
        stack.n_inside[t] += 1
    rest = stack.n_open[t] - free
    for a in range(rest):
        stack.open[t, a] = stack.open[t, a + free]
    stack.n_open[t] = rest


@helper
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


@helper
def widest_side(stack, t):
    """The longest side of node t's box."""
    widest = 0
    width = 0.0
    for k in range(stack.lower.shape[1]):
        if stack.upper[t, k] - stack.lower[t, k] > width:
            widest = k
            width = stack.upper[t, k] - stack.lower[t, k]
    return widest


@helper
def halve(stack, t, widest):
    """Replace node t by its two halves, in slots t and t + 1."""
    copy_node(stack, t, t + 1)
    middle = 0.5 * (stack.lower[t, widest] + stack.upper[t, widest])
    stack.upper[t, widest] = middle
    stack.lower[t + 1, widest] = middle


@helper
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


@helper
def undecided(stack, local, t):
    """How many candidates of node t pay in one part of its box but not in another."""
    count = 0
    for a in range(stack.n_open[t]):
        count += not local.sure[stack.open[t, a]]
    return count


@helper
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


@helper
def give_up(stack, local, top, floor):
    """Charge the bounds of all open nodes to the points that may head their sets."""
    for t in range(top + 1):
        if stack.head[t] >= 0:
            floor[stack.head[t]] = min(floor[stack.head[t]], stack.bound[t])
        else:
            for a in range(stack.n_open[t]):
                i = local.points[stack.open[t, a]]
                floor[i] = min(floor[i], stack.bound[t])


@helper
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


@helper
def expand(stack, local, t, clash, market, smallest, floor, found):
    """Bound node t; close it, or replace it by two nodes. Returns the top of the stack."""
    head = stack.head[t]
    target = -market.tolerance
    if head >= 0:
        target = min(target, floor[head])
    if stack.bound[t] >= target:
        return t - 1
    total = keep_paying(stack, local, t, market.reach * market.reach)
    free = 0 * t
    _, boxed = members_value(stack, local, t, free, market.sigma)
    if boxed - total >= target:
        return t - 1
    free = mark_free(stack, local, t, clash)
    value, boxed = members_value(stack, local, t, free, market.sigma)
    cover = clique_cover(stack, local, t, free, clash, boxed - target)
    if boxed - cover >= target:
        return t - 1
    if head >= 0:
        absorb(stack, t, free)
        if stack.n_open[t] == 0:
            floor[head] = value
            record(stack, local, t, value, found)
    if stack.n_open[t] == 0:
        return t - 1
    stack.bound[t] = max(stack.bound[t], boxed - cover)
    few = UNDECIDED_WITHOUT_HEAD if head < 0 else UNDECIDED_WITH_HEAD
    widest = widest_side(stack, t)
    wide = stack.upper[t, widest] - stack.lower[t, widest] > smallest
    if wide and undecided(stack, local, t) > few:
        halve(stack, t, widest)
    else:
        decide(stack, local, t)
    return t + 1


@helper
def begin_cell(stack, local, cells, c, market, where, state):
    """Load cell c unless it cannot pay; how much work that was."""
    count = cells.start[c + 1] - cells.start[c]
    rough = market.sigma
    for p in range(cells.start[c], cells.start[c + 1]):
        rough -= market.prices[cells.points[p]]
    if rough >= -market.tolerance:
        return count
    state.clash[0] = load_cell(local, cells, c, market, where)
    load_root(stack, cells.sides, count, rough)
    state.top[0] = 0
    state.nodes[0] = 0
    return count * count


@kernel
def price_cells(market, cells, stack, local, where, state, floor, budget, work, found):
    """Search the cells from where ``state`` stands, for so much ``work``; whether all are done.

    Lowers ``floor`` in place and writes improving columns to ``found``. A cell is given up after
    ``budget`` nodes; the bounds of its open nodes go into ``floor``. A unit of work is about one
    look at a pair of candidates.
    """
    while state.cell[0] < len(cells.corners):
        if state.top[0] < 0:
            work -= begin_cell(stack, local, cells, state.cell[0], market, where, state)
        top, nodes, clash = state.top[0], state.nodes[0], state.clash[0]
        while top >= 0 and work > 0:
            if nodes == budget or top + 1 == len(stack.head):
                give_up(stack, local, top, floor)
                top = -1
                break
            nodes += 1
            many = 1 + stack.n_open[top]
            work -= many * many if clash else many
            top = expand(stack, local, top, clash, market, cells.smallest, floor, found)
        state.top[0], state.nodes[0] = top, nodes
        if top >= 0:
            return False
        found.nodes[0] += nodes
        state.nodes[0] = 0
        state.cell[0] += 1
        if work <= 0:
            return False
    return True
