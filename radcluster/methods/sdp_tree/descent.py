"""Local search within the radius, on distances alone.

A cluster S costs H(S) / W(S), H the sum of ``half`` over its pairs and W its weight
(:mod:`radcluster.relaxation.engine.program`). So all that a step changes follows from
R_gk = sum of half_gh over the groups h of cluster k, whatever the distances are.

Three steps, each only when it saves: one group moves; two groups of different clusters change
places; a *chain* of two clusters a and b is flipped, the groups that are linked to one another by
conflicts between a and b. A chain is the least that can change places where the radius is tight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from radcluster.compiled import kernel
from radcluster.methods.sdp_tree.draw import draw
from radcluster.problem.kernels import helper

#: What a step must save, relative to the costs of the clusters that it changes.
_LEAST = 1e-11


class Table(NamedTuple):
    """What the steps read and keep up to date."""

    half: np.ndarray
    weights: np.ndarray
    conflicts: np.ndarray
    label: np.ndarray
    share: np.ndarray
    clashes: np.ndarray
    inner: np.ndarray
    mass: np.ndarray
    size: np.ndarray


@kernel(nogil=True)
def tabulate(half, weights, conflicts, label, n_clusters):
    """The table of a partition of the groups; ``label`` is kept and changed in place."""
    n = len(label)
    share = np.zeros((n, n_clusters))
    clashes = np.zeros((n, n_clusters), np.int64)
    inner = np.zeros(n_clusters)
    mass = np.zeros(n_clusters)
    size = np.zeros(n_clusters, np.int64)
    for g in range(n):
        mass[label[g]] += weights[g]
        size[label[g]] += 1
        for h in range(n):
            share[g, label[h]] += half[g, h]
            clashes[g, label[h]] += conflicts[g, h]
    for g in range(n):
        inner[label[g]] += share[g, label[g]]
    return Table(half, weights, conflicts, label, share, clashes, inner, mass, size)


@helper
def move(t, g, k):
    """Put group g into cluster k."""
    old = t.label[g]
    t.inner[old] -= 2.0 * t.share[g, old] - t.half[g, g]
    t.inner[k] += 2.0 * t.share[g, k] + t.half[g, g]
    t.mass[old] -= t.weights[g]
    t.mass[k] += t.weights[g]
    t.size[old] -= 1
    t.size[k] += 1
    t.label[g] = k
    for h in range(len(t.label)):
        t.share[h, old] -= t.half[g, h]
        t.share[h, k] += t.half[g, h]
        t.clashes[h, old] -= t.conflicts[g, h]
        t.clashes[h, k] += t.conflicts[g, h]


@helper
def total_cost(t):
    cost = 0.0
    for k in range(len(t.size)):
        if t.size[k]:
            cost += t.inner[k] / t.mass[k]
    return cost


@helper
def _best_move(t, g):
    """The cluster that g gains most by joining, or -1, and what it saves."""
    a = t.label[g]
    if t.size[a] == 1:
        return -1, 0.0
    left = t.inner[a] - 2.0 * t.share[g, a] + t.half[g, g]
    leave = t.inner[a] / t.mass[a] - left / (t.mass[a] - t.weights[g])
    best, saved = -1, _LEAST * t.inner[a] / t.mass[a]
    for k in range(len(t.size)):
        if k == a or t.clashes[g, k]:
            continue
        joined = (t.inner[k] + 2.0 * t.share[g, k] + t.half[g, g]) / (t.mass[k] + t.weights[g])
        gain = leave + t.inner[k] / t.mass[k] - joined
        if gain > saved:
            best, saved = k, gain
    return best, saved


@helper
def _swap_gain(t, g, h):
    """What it saves when g and h change places."""
    a, b = t.label[g], t.label[h]
    step = t.weights[h] - t.weights[g]
    cross = t.half[g, h]
    in_a = t.inner[a] - 2.0 * t.share[g, a] + t.half[g, g]
    in_a += 2.0 * (t.share[h, a] - cross) + t.half[h, h]
    in_b = t.inner[b] - 2.0 * t.share[h, b] + t.half[h, h]
    in_b += 2.0 * (t.share[g, b] - cross) + t.half[g, g]
    now = t.inner[a] / t.mass[a] + t.inner[b] / t.mass[b]
    gain = now - in_a / (t.mass[a] + step) - in_b / (t.mass[b] - step)
    return gain if gain > _LEAST * now else 0.0


@helper
def chain_of(t, g, b, stack, mark):
    """The chain of g between its cluster and b, in ``stack``; its length."""
    a = t.label[g]
    stack[0] = g
    mark[g] = True
    length, done = 1, 0
    while done < length:
        x = stack[done]
        done += 1
        other = b if t.label[x] == a else a
        if t.clashes[x, other] == 0:
            continue
        for y in range(len(t.label)):
            if t.label[y] == other and t.conflicts[x, y] and not mark[y]:
                mark[y] = True
                stack[length] = y
                length += 1
    return length


@helper
def flip(t, a, b, stack, length):
    """Exchange the clusters a and b of the groups in the stack."""
    for p in range(length):
        move(t, stack[p], b if t.label[stack[p]] == a else a)


@helper
def _flip_gain(t, a, b, stack, length):
    """What it saves when the chain in the stack is flipped; minus infinity if a cluster empties."""
    in_a, in_b, m_a, m_b = t.inner[a], t.inner[b], t.mass[a], t.mass[b]
    from_a = from_b = 0
    for p in range(length):
        x = stack[p]
        sign = 1.0 if t.label[x] == a else -1.0
        from_a += t.label[x] == a
        from_b += t.label[x] == b
        # From a to b (sign 1) or back; pairs within the chain are corrected below.
        in_a += -2.0 * sign * t.share[x, a]
        in_b += 2.0 * sign * t.share[x, b]
        m_a -= sign * t.weights[x]
        m_b += sign * t.weights[x]
        for q in range(length):
            other = 1.0 if t.label[stack[q]] == a else -1.0
            in_a += sign * other * t.half[x, stack[q]]
            in_b += sign * other * t.half[x, stack[q]]
    whole = from_a == t.size[a] and from_b == t.size[b]
    if whole or t.size[a] - from_a + from_b == 0 or t.size[b] - from_b + from_a == 0:
        return -np.inf
    now = t.inner[a] / t.mass[a] + t.inner[b] / t.mass[b]
    gain = now - in_a / m_a - in_b / m_b
    return gain if gain > _LEAST * now else 0.0


@helper
def _moves(t):
    """Move single groups while that saves; whether any moved."""
    changed = False
    for _ in range(100):
        again = False
        for g in range(len(t.label)):
            k, _saved = _best_move(t, g)
            if k >= 0:
                move(t, g, k)
                again = True
        if not again:
            break
        changed = True
    return changed


@helper
def _swaps(t):
    changed = False
    n = len(t.label)
    for g in range(n):
        for h in range(g):
            a, b = t.label[g], t.label[h]
            if a == b:
                continue
            clash = np.int64(t.conflicts[g, h])
            if t.clashes[g, b] > clash or t.clashes[h, a] > clash:
                continue
            if _swap_gain(t, g, h) > 0.0:
                move(t, g, b)
                move(t, h, a)
                changed = True
    return changed


@helper
def _chains(t):
    n, n_clusters = len(t.label), len(t.size)
    stack = np.empty(n, np.int64)
    mark = np.zeros(n, np.bool_)
    changed = False
    for a in range(n_clusters):
        for b in range(a):
            mark[:] = False
            for g in range(n):
                if mark[g] or (t.label[g] != a and t.label[g] != b):
                    continue
                other = b if t.label[g] == a else a
                if t.clashes[g, other] == 0:
                    continue
                length = chain_of(t, g, other, stack, mark)
                if length > 2 and _flip_gain(t, a, b, stack, length) > 0.0:
                    flip(t, a, b, stack, length)
                    changed = True
    return changed


@kernel(nogil=True)
def descend(t):
    """Steps of all three kinds until none saves; the cost."""
    for _ in range(200):
        if _moves(t):
            continue
        if _swaps(t):
            continue
        if not _chains(t):
            break
    return total_cost(t)


@kernel(nogil=True)
def kick(t, best, cost, count, strength, seed):
    """Random chains flipped, then descent, ``count`` times; ``best`` takes the best partition."""
    n, n_clusters = len(t.label), len(t.size)
    state = np.array([seed], np.uint64)
    stack = np.empty(n, np.int64)
    mark = np.zeros(n, np.bool_)
    if n_clusters == 1 or n <= n_clusters:
        return cost
    for _ in range(count):
        for _ in range(1 + draw(state, strength)):
            g = draw(state, n)
            a = t.label[g]
            # One of the three clusters nearest to g, by mean distance.
            target = -1
            for _ in range(1 + draw(state, 3)):
                nearest = -1
                for k in range(n_clusters):
                    if k == a or mark[k]:
                        continue
                    near = t.share[g, k] / t.mass[k]
                    if nearest < 0 or near < t.share[g, nearest] / t.mass[nearest]:
                        nearest = k
                if nearest >= 0:
                    target = nearest
                    mark[nearest] = True
            mark[:n_clusters] = False
            if target < 0:
                continue
            length = chain_of(t, g, target, stack, mark)
            mark[:] = False
            from_a = 0
            for p in range(length):
                from_a += t.label[stack[p]] == a
            if t.size[a] - from_a + (length - from_a) == 0:
                continue
            if t.size[target] - (length - from_a) + from_a == 0:
                continue
            flip(t, a, target, stack, length)
        found = descend(t)
        if found < cost * (1.0 - 1e-12):
            cost = found
            # A loop: a copy through NumPy takes seconds to compile.
            for g in range(n):
                best[g] = t.label[g]
        elif found > cost:
            for g in range(n):
                if t.label[g] != best[g]:
                    move(t, g, best[g])
    return cost
