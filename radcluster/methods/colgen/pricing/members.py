"""Exact pricing by branch and bound over memberships, for points in any dimension.

Sets are charged to their first group, the head; its later compatible groups are candidates. For
members I of mass M, pair sum P = sum_{i<j in I} m_i m_j d_ij, reduced cost f(I), and candidates R
compatible with I, every completion by T subset of R has a reduced cost of at least

(a) the size-wise bound: with delta_j = sum_{i in I} m_i m_j d_ij and t the final mass,
        min over t of  sigma - lambda(I) + P/t + the least of sum_{j in T} (delta_j/t - lambda_j)
    over T of mass t - M, which drops only the distances inside T. Where the masses are small whole
    numbers, so is t; else t runs over intervals, and P/t and delta_j/t are taken at their ends;
(b) the location bound: a column of least reduced cost has each member j within
    rho_j = sqrt(lambda_j / m_j) of its centre, so x_j is at least g_j = max_{i in I} (|x_i - x_j|
    - rho_i) away from it, and the completion gains at most
        sum over conflict cliques Q covering R of  max_{j in Q} max(0, lambda_j - m_j g_j^2).

(b) drops pairs with |x_i - x_j| > rho_i + rho_j at once: such a j gains nothing.

:func:`price_heads` works for a given time and goes on where it stopped when it is called again, so
that Python can look at the clock in between.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

import numpy as np

from radcluster.methods.colgen.pricing.box_nodes import Found, Market, State
from radcluster.problem.kernels import helper, kernel, sort_by

#: Nodes spent on one head before its bound is taken as it stands.
HEAD_BUDGET = 100_000
#: Work between two looks at the clock: some hundredths of a second.
WORK_AT_ONCE = 5_000_000

Local = namedtuple("Local", "points m lam rho d conflict order link last weight ratio")
Stack = namedtuple("Stack", "inside n_inside open n_open delta gap pairs value bound")


def price(market: Market, floor: np.ndarray, found: Found) -> Iterator[None]:
    """Search the sets of every head: lower ``floor``, write improving columns to ``found``.

    Yields between slices of work.
    """
    most = int(np.diff(market.start).max(initial=0)) + 1
    stack, local = allocate(most)
    where = np.full(len(market.mass), -1, np.int32)
    state = State(*np.array([[0], [-1], [0]]), np.zeros(1, np.bool_))
    arguments = (market, stack, local, where, state, floor, HEAD_BUDGET, WORK_AT_ONCE)
    while not price_heads(*arguments, found):
        yield


def allocate(most: int) -> tuple[Stack, Local]:
    """A stack and a head's tables for at most ``most`` groups."""
    depth, ints = most + 1, np.int32
    local = Local(
        points=np.empty(most, ints), m=np.empty(most), lam=np.empty(most), rho=np.empty(most),
        d=np.empty((most, most)), conflict=np.empty((most, most), np.bool_),
        order=np.empty(most, ints), link=np.empty(most, ints), last=np.empty(most, ints),
        weight=np.empty(most), ratio=np.empty(most),
    )  # fmt: skip
    stack = Stack(
        inside=np.empty((depth, most), ints), n_inside=np.empty(depth, ints),
        open=np.empty((depth, most), ints), n_open=np.empty(depth, ints),
        delta=np.empty((depth, most)), gap=np.empty((depth, most)),
        pairs=np.empty(depth), value=np.empty(depth), bound=np.empty(depth),
    )  # fmt: skip
    return stack, local


@helper
def _load_head(local, i, market, where):
    """Copy head i, at index 0, and its later compatible groups; how many there are."""
    start, neighbours, prices = market.start, market.neighbours, market.prices
    local.points[0] = i
    count = 1
    for p in range(start[i], start[i + 1]):
        j = neighbours[p]
        if j > i and prices[j] > 0:
            local.points[count] = j
            count += 1
    for a in range(count):
        j = local.points[a]
        where[j] = a
        local.m[a] = market.mass[j]
        local.lam[a] = prices[j]
        local.rho[a] = min(market.reach, np.sqrt(prices[j] / market.mass[j]) * (1 + 1e-9))
    for a in range(count):
        for b in range(count):
            local.conflict[a, b] = a != b
        for p in range(start[local.points[a]], start[local.points[a] + 1]):
            b = where[neighbours[p]]
            if b >= 0:
                local.conflict[a, b] = False
        for b in range(a):
            square = 0.0
            for k in range(market.centers.shape[1]):
                gap = market.centers[local.points[a], k] - market.centers[local.points[b], k]
                square += gap * gap
            local.d[a, b] = square
            local.d[b, a] = square
        local.d[a, a] = 0.0
    for a in range(count):
        where[local.points[a]] = -1
    return count


@helper
def _include(stack, local, t, j, mass):
    """Make j a member of node t, whose members had this mass; drop what it rules out."""
    added = 0.0
    for a in range(stack.n_inside[t]):
        added += local.m[stack.inside[t, a]] * local.d[stack.inside[t, a], j]
    added *= local.m[j]
    stack.inside[t, stack.n_inside[t]] = j
    stack.n_inside[t] += 1
    cost = stack.pairs[t] / mass if mass > 0 else 0.0
    stack.pairs[t] += added
    stack.value[t] += stack.pairs[t] / (mass + local.m[j]) - cost - local.lam[j]
    kept = 0
    for a in range(stack.n_open[t]):
        b = stack.open[t, a]
        if b == j or local.conflict[j, b]:
            continue
        gap = max(stack.gap[t, b], np.sqrt(local.d[j, b]) - local.rho[j])
        if local.lam[b] - local.m[b] * gap * gap <= 0:
            continue
        stack.open[t, kept] = b
        stack.gap[t, b] = gap
        stack.delta[t, b] += local.m[j] * local.m[b] * local.d[j, b]
        kept += 1
    stack.n_open[t] = kept


@helper
def _gain(stack, local, t):
    """What the candidates of node t can gain at most, by (b)."""
    order, link, last, weight = local.order, local.link, local.last, local.weight
    count = stack.n_open[t]
    for a in range(count):
        j = stack.open[t, a]
        gap = max(0.0, stack.gap[t, j])
        weight[j] = local.lam[j] - local.m[j] * gap * gap
        b = a - 1
        while b >= 0 and weight[order[b]] < weight[j]:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = j
    total = 0.0
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
            total += weight[j]
            last[chosen] = -1
            cliques += 1
        link[j] = last[chosen]
        last[chosen] = j
    return total


@helper
def _size_wise(stack, local, t, mass, sigma, target):
    """The bound (a) of node t, or something below ``target`` once it is known to be."""
    base = sigma
    for a in range(stack.n_inside[t]):
        base -= local.lam[stack.inside[t, a]]
    count, ranked = stack.n_open[t], local.order
    room = 0.0
    for a in range(count):
        room += local.m[stack.open[t, a]]
    step, slack = _steps(stack, local, t, room)
    least = base + stack.pairs[t] / mass
    final = mass + step
    while final <= mass + room + 0.5 * step and least >= target:
        for a in range(count):
            j = stack.open[t, a]
            local.ratio[a] = (stack.delta[t, j] / final - local.lam[j]) / local.m[j]
            ranked[a] = a
        sort_by(ranked, local.ratio, count)
        left = final - mass
        value = base + stack.pairs[t] / final
        for b in range(count):
            a = ranked[b]
            # A final mass within an interval need not take what lies beyond its lower end.
            if local.ratio[a] >= 0 and left <= slack:
                break
            # Of the last group maybe only a part; that can but lower the bound.
            take = min(left, local.m[stack.open[t, a]])
            if local.ratio[a] >= 0:
                take = min(take, left - slack)
            value += take * local.ratio[a]
            left -= take
            if left <= 0:
                break
        least = min(least, value)
        final += step
    return least


@helper
def _steps(stack, local, t, room):
    """By how much the final mass grows at a time, and the length of the interval it stands for."""
    count = stack.n_open[t]
    least = room
    whole = room <= 4.0 * count
    for a in range(count):
        m = local.m[stack.open[t, a]]
        least = min(least, m)
        whole = whole and m == np.floor(m)
    if whole:
        return 1.0, 0.0
    step = max(least, room / 64.0)
    # The last interval must reach the whole room.
    step = room / max(1.0, np.floor(room / step))
    return step, step


@helper
def _mass(stack, local, t):
    mass = 0.0
    for a in range(stack.n_inside[t]):
        mass += local.m[stack.inside[t, a]]
    return mass


@helper
def _branch(stack, local, t, mass):
    """Replace node t by "without the most promising candidate" and, in t + 1, "with it"."""
    best = 0
    least = np.inf
    for a in range(stack.n_open[t]):
        j = stack.open[t, a]
        change = stack.delta[t, j] / (mass + local.m[j]) - local.lam[j]
        if change < least:
            best = a
            least = change
    j = stack.open[t, best]
    stack.open[t, best] = stack.open[t, stack.n_open[t] - 1]
    stack.n_open[t] -= 1
    s = t + 1
    stack.n_inside[s], stack.n_open[s] = stack.n_inside[t], stack.n_open[t]
    stack.pairs[s], stack.value[s] = stack.pairs[t], stack.value[t]
    stack.bound[s] = stack.bound[t]
    for a in range(stack.n_inside[t]):
        stack.inside[s, a] = stack.inside[t, a]
    for a in range(stack.n_open[t]):
        b = stack.open[t, a]
        stack.open[s, a] = b
        stack.delta[s, b] = stack.delta[t, b]
        stack.gap[s, b] = stack.gap[t, b]
    _include(stack, local, s, j, mass)


@helper
def _expand(stack, local, t, head, sigma, floor, found):
    """Take note of node t; close it, or replace it by two nodes. Returns the top of the stack."""
    if stack.value[t] < floor[head]:
        floor[head] = stack.value[t]
        _record(stack, local, t, head, found)
    target = floor[head]
    if stack.n_open[t] == 0 or stack.bound[t] >= target:
        return t - 1
    mass = _mass(stack, local, t)
    stack.bound[t] = max(stack.bound[t], stack.value[t] - _gain(stack, local, t))
    if stack.bound[t] >= target:
        return t - 1
    if _size_wise(stack, local, t, mass, sigma, target) >= target:
        return t - 1
    _branch(stack, local, t, mass)
    return t + 1


@helper
def _record(stack, local, t, head, found):
    """Write the members of node t as a column, if there is room."""
    size = stack.n_inside[t]
    c = found.count[0]
    begin = found.end[c - 1] if c else 0
    if c == len(found.head) or begin + size > len(found.members):
        return
    found.head[c] = head
    found.cost[c] = stack.value[t]
    for a in range(size):
        found.members[begin + a] = local.points[stack.inside[t, a]]
    found.end[c] = begin + size
    found.count[0] += 1


@helper
def _begin_head(stack, local, head, market, where):
    """Put the head with all its candidates open into slot 0; how many groups that are."""
    count = _load_head(local, head, market, where)
    first = 0 * count
    stack.n_inside[0] = 0
    stack.n_open[0] = count - 1
    for a in range(1, count):
        stack.open[0, a - 1] = a
        stack.delta[0, a] = 0.0
        stack.gap[0, a] = 0.0
    stack.pairs[0] = 0.0
    stack.value[0] = market.sigma
    stack.bound[0] = -np.inf
    _include(stack, local, first, first, 0.0)
    return count


@kernel
def price_heads(market, stack, local, where, state, floor, budget, work, found):
    """Search the heads from where ``state`` stands, for so much ``work``; whether all are done.

    Lowers ``floor`` in place and writes columns to ``found``. A head is given up after ``budget``
    nodes; the bounds of its open nodes go into ``floor``.
    """
    dim = market.centers.shape[1]
    while state.cell[0] < len(market.mass):
        head, top, nodes = state.cell[0], state.top[0], state.nodes[0]
        if top < 0 and market.prices[head] > 0:
            count = _begin_head(stack, local, head, market, where)
            work -= count * count * dim
            top = 0
        while top >= 0 and work > 0:
            if nodes == budget:
                for t in range(top + 1):
                    floor[head] = min(floor[head], stack.bound[t])
                top = -1
                break
            nodes += 1
            # The size-wise bound sorts the candidates for each size.
            work -= 10 * (1 + stack.n_open[top]) ** 2
            top = _expand(stack, local, top, head, market.sigma, floor, found)
        state.top[0], state.nodes[0] = top, nodes
        if top >= 0:
            return False
        found.nodes[0] += nodes
        state.nodes[0] = 0
        state.cell[0] += 1
        if work <= 0:
            return False
    return True
