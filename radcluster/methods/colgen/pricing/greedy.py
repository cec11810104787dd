"""Heuristic pricing: grow a column around each point, recentre, repeat.

Around a centre c the point j is worth w_j(c) = lambda_j - m_j |x_j - c|^2. Taking compatible
points in decreasing order of worth, then moving c to their mean, is Lloyd's step for one column;
a few rounds of it from every point find most columns of negative reduced cost.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

import numpy as np

from radcluster.methods.colgen.pricing.box_nodes import Found, Market
from radcluster.problem.kernels import helper, kernel, sort_by

ROUNDS = 4
#: Pairs of neighbours looked at between two looks at the clock: some hundredths of a second.
WORK_AT_ONCE = 5_000_000

Tables = namedtuple("Tables", "center where pool hits order worth members")


def grow(market: Market, found: Found) -> Iterator[None]:
    """Write the best column grown around each group to ``found``; yields between slices."""
    n, dim = market.centers.shape
    ints = np.int32
    tables = Tables(
        center=np.empty(dim), where=np.full(n, -1, ints), pool=np.empty(n, ints),
        hits=np.empty(n, ints), order=np.empty(n, ints), worth=np.empty(n),
        members=np.empty(n, ints),
    )  # fmt: skip
    first = 0
    while first < n:
        first = grow_columns(market, first, WORK_AT_ONCE, tables, found)
        yield


@helper
def _candidates(market, i, tables):
    """Group i and its neighbours that are worth having around the centre; how many."""
    start, count = market.start, 0
    for p in range(start[i] - 1, start[i + 1]):
        j = i if p < start[i] else market.neighbours[p]
        w = market.prices[j]
        for k in range(market.centers.shape[1]):
            gap = market.centers[j, k] - tables.center[k]
            w -= market.mass[j] * gap * gap
        if w > 0:
            tables.pool[count] = j
            tables.order[count] = count
            tables.worth[count] = -w
            count += 1
    return count


@helper
def _compatible_prefix(market, count, tables):
    """Take candidates in order where compatible with all taken before; how many."""
    pool, hits, where = tables.pool, tables.hits, tables.where
    for a in range(count):
        hits[a] = 0
        where[pool[a]] = a
    taken = 0
    for o in range(count):
        a = tables.order[o]
        if hits[a] != taken:
            continue
        j = pool[a]
        tables.members[taken] = j
        taken += 1
        for p in range(market.start[j], market.start[j + 1]):
            b = where[market.neighbours[p]]
            if b >= 0:
                hits[b] += 1
    for a in range(count):
        where[pool[a]] = -1
    return taken


@helper
def _recentre(market, size, tables):
    """Move the centre to the members' mean; the reduced cost of the column."""
    c, members = tables.center, tables.members
    total = 0.0
    for k in range(len(c)):
        c[k] = 0.0
    for a in range(size):
        j = members[a]
        total += market.mass[j]
        for k in range(len(c)):
            c[k] += market.mass[j] * market.centers[j, k]
    for k in range(len(c)):
        c[k] /= total
    value = market.sigma
    for a in range(size):
        j = members[a]
        value -= market.prices[j]
        for k in range(len(c)):
            gap = market.centers[j, k] - c[k]
            value += market.mass[j] * gap * gap
    return value


@helper
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


@kernel
def grow_columns(market, first, work, tables, found):
    """Write the best column grown around each group from ``first`` on where it prices out.

    Stops after so much ``work``; returns the first group that is left.
    """
    for i in range(first, len(market.mass)):
        if work <= 0:
            return i
        for k in range(len(tables.center)):
            tables.center[k] = market.centers[i, k]
        best = -market.tolerance
        for _ in range(ROUNDS):
            count = _candidates(market, i, tables)
            if count == 0:
                break
            sort_by(tables.order, tables.worth, count)
            size = _compatible_prefix(market, count, tables)
            work -= (1 + size) * (1 + market.start[i + 1] - market.start[i])
            value = _recentre(market, size, tables)
            if value < best * (1 + 1e-9):
                if best == -market.tolerance:
                    found.count[0] += 1
                best = value
                _write(found, tables.members, size, i, value)
    return len(market.mass)
