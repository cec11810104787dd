"""Heuristic pricing: grow a column around each point, recentre, repeat.

Around a centre c the point j is worth w_j(c) = lambda_j - m_j |x_j - c|^2. Taking compatible
points in decreasing order of worth, then moving c to their mean, is Lloyd's step for one column;
a few rounds of it from every point find most columns of negative reduced cost.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ROUNDS = 4


@njit(cache=True)
def _compatible_prefix(order, count, pool, start, neighbours, hits, where, members):
    """Take candidates in order where compatible with all taken before; how many."""
    for a in range(count):
        hits[a] = 0
        where[pool[a]] = a
    taken = 0
    for a in order:
        if hits[a] != taken:
            continue
        j = pool[a]
        members[taken] = j
        taken += 1
        for p in range(start[j], start[j + 1]):
            b = where[neighbours[p]]
            if b >= 0:
                hits[b] += 1
    for a in range(count):
        where[pool[a]] = -1
    return taken


@njit(cache=True)
def _recentre(members, size, centers, mass, prices, sigma, c):
    """Move c to the members' mean; the reduced cost of the column."""
    dim = centers.shape[1]
    total = 0.0
    c[:] = 0.0
    for a in range(size):
        j = members[a]
        total += mass[j]
        for k in range(dim):
            c[k] += mass[j] * centers[j, k]
    c /= total
    value = sigma
    for a in range(size):
        j = members[a]
        value -= prices[j]
        for k in range(dim):
            value += mass[j] * (centers[j, k] - c[k]) ** 2
    return value


@njit(cache=True)
def grow_columns(centers, mass, prices, sigma, start, neighbours, tolerance, found):
    """Write the best column grown around each point to ``found`` where it prices out."""
    n, dim = centers.shape
    c = np.empty(dim)
    where = np.full(n, -1, np.int32)
    pool = np.empty(n, np.int32)
    hits = np.empty(n, np.int32)
    worth = np.empty(n)
    members = np.empty(n, np.int32)
    for i in range(n):
        c[:] = centers[i]
        best = -tolerance
        for _ in range(ROUNDS):
            count = 0
            for p in range(start[i] - 1, start[i + 1]):
                j = i if p < start[i] else neighbours[p]
                w = prices[j]
                for k in range(dim):
                    w -= mass[j] * (centers[j, k] - c[k]) ** 2
                if w > 0:
                    pool[count] = j
                    worth[count] = -w
                    count += 1
            if count == 0:
                break
            order = np.argsort(worth[:count])
            size = _compatible_prefix(order, count, pool, start, neighbours, hits, where, members)
            value = _recentre(members, size, centers, mass, prices, sigma, c)
            if value < best * (1 + 1e-9):
                if best == -tolerance:
                    found.count[0] += 1
                best = value
                _write(found, members, size, i, value)


@njit(cache=True)
def _write(found, members, size, head, value):
    """Put a column into the last slot in use, over what was there."""
    c = found.count[0] - 1
    begin = found.end[c - 1] if c else 0
    if c >= len(found.head) or begin + size > len(found.members):
        found.count[0] -= 1
        return
    found.head[c] = head
    found.cost[c] = value
    for a in range(size):
        found.members[begin + a] = members[a]
    found.end[c] = begin + size
