"""Exact pricing by branch and bound over memberships, for points in any dimension.

Sets are charged to their first group, the head; its later compatible groups are candidates. For
members I of mass M, pair sum P = sum_{i<j in I} m_i m_j d_ij, reduced cost f(I), and candidates R
compatible with I, every completion by T subset of R has a reduced cost of at least

(a) the size-wise bound: with delta_j = sum_{i in I} m_i m_j d_ij and t the final mass,
        min over t of  sigma - lambda(I) + P/t + the least of sum_{j in T} (delta_j/t - lambda_j)
    over T of mass t - M, which drops only the distances inside T;
(b) the location bound: a column of least reduced cost has each member j within
    rho_j = sqrt(lambda_j / m_j) of its centre, so x_j is at least g_j = max_{i in I} (|x_i - x_j|
    - rho_i) away from it, and the completion gains at most
        sum over conflict cliques Q covering R of  max_{j in Q} max(0, lambda_j - m_j g_j^2).

(b) drops pairs with |x_i - x_j| > rho_i + rho_j at once: such a j gains nothing.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

Local = namedtuple("Local", "points m lam rho d conflict order link last weight ratio")
Stack = namedtuple("Stack", "inside n_inside open n_open delta gap pairs value bound")


@njit(cache=True)
def _load_head(local, i, centers, mass, prices, reach, start, neighbours, where):
    """Copy head i, at index 0, and its later compatible groups; how many there are."""
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
        local.m[a] = mass[j]
        local.lam[a] = prices[j]
        local.rho[a] = min(reach, np.sqrt(prices[j] / mass[j]) * (1 + 1e-9))
    for a in range(count):
        local.conflict[a, :count] = True
        local.conflict[a, a] = False
        for p in range(start[local.points[a]], start[local.points[a] + 1]):
            b = where[neighbours[p]]
            if b >= 0:
                local.conflict[a, b] = False
        for b in range(a):
            square = 0.0
            for k in range(centers.shape[1]):
                square += (centers[local.points[a], k] - centers[local.points[b], k]) ** 2
            local.d[a, b] = square
            local.d[b, a] = square
        local.d[a, a] = 0.0
    for a in range(count):
        where[local.points[a]] = -1
    return count


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _size_wise(stack, local, t, mass, sigma, target):
    """The bound (a) of node t, or something below ``target`` once it is known to be."""
    base = sigma
    for a in range(stack.n_inside[t]):
        base -= local.lam[stack.inside[t, a]]
    count = stack.n_open[t]
    room = 0.0
    for a in range(count):
        room += local.m[stack.open[t, a]]
    least = base + stack.pairs[t] / mass
    final = mass + 1.0
    while final <= mass + room + 0.5 and least >= target:
        for a in range(count):
            j = stack.open[t, a]
            local.ratio[a] = (stack.delta[t, j] / final - local.lam[j]) / local.m[j]
        ranked = np.argsort(local.ratio[:count])
        left = final - mass
        value = base + stack.pairs[t] / final
        for a in ranked:
            # Of the last group maybe only a part; that can but lower the bound.
            take = min(left, local.m[stack.open[t, a]])
            value += take * local.ratio[a]
            left -= take
            if left <= 0:
                break
        least = min(least, value)
        final += 1.0
    return least


@njit(cache=True)
def _mass(stack, local, t):
    mass = 0.0
    for a in range(stack.n_inside[t]):
        mass += local.m[stack.inside[t, a]]
    return mass


@njit(cache=True)
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


@njit(cache=True)
def _search_head(stack, local, head, sigma, floor, budget, found):
    """Branch and bound below slot 0; the number of nodes."""
    top = 0
    nodes = 0
    while top >= 0:
        if nodes == budget:
            for t in range(top + 1):
                floor[head] = min(floor[head], stack.bound[t])
            break
        nodes += 1
        t = top
        top -= 1
        if stack.value[t] < floor[head]:
            floor[head] = stack.value[t]
            _record(stack, local, t, head, found)
        target = floor[head]
        if stack.n_open[t] == 0 or stack.bound[t] >= target:
            continue
        mass = _mass(stack, local, t)
        stack.bound[t] = max(stack.bound[t], stack.value[t] - _gain(stack, local, t))
        if stack.bound[t] >= target:
            continue
        size_wise = _size_wise(stack, local, t, mass, sigma, target)
        if size_wise >= target:
            continue
        _branch(stack, local, t, mass)
        top = t + 1
    return nodes


@njit(cache=True)
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


@njit(cache=True)
def price_head(centers, mass, prices, sigma, reach, start, neighbours, head, floor, budget, found):
    """Search the sets with this head: lower its ``floor``, write columns to ``found``.

    After ``budget`` nodes the bounds of the open nodes go into ``floor``. Returns the number of
    nodes.
    """
    if prices[head] <= 0:
        return 0
    most = start[head + 1] - start[head] + 1
    ints = np.int32
    local = Local(
        np.empty(most, ints), np.empty(most), np.empty(most), np.empty(most),
        np.empty((most, most)), np.empty((most, most), np.bool_), np.empty(most, ints),
        np.empty(most, ints), np.empty(most, ints), np.empty(most), np.empty(most),
    )  # fmt: skip
    depth = most + 1
    stack = Stack(
        np.empty((depth, most), ints), np.empty(depth, ints), np.empty((depth, most), ints),
        np.empty(depth, ints), np.empty((depth, most)), np.empty((depth, most)),
        np.empty(depth), np.empty(depth), np.empty(depth),
    )  # fmt: skip
    where = np.full(len(mass), -1, ints)
    count = _load_head(local, head, centers, mass, prices, reach, start, neighbours, where)
    stack.n_inside[0] = 0
    stack.n_open[0] = count - 1
    for a in range(1, count):
        stack.open[0, a - 1] = a
        stack.delta[0, a] = 0.0
        stack.gap[0, a] = 0.0
    stack.pairs[0] = 0.0
    stack.value[0] = sigma
    stack.bound[0] = -np.inf
    _include(stack, local, 0, 0, 0.0)
    return _search_head(stack, local, head, sigma, floor, budget, found)
