"""Fewer clusters: dissolve one, and put its points into the others, which may eject points.

A point that must move goes into the cluster from which it ejects the least: those in conflict
with it there, weighed by how often they had to move before. What is ejected must move in turn. A
chain that ends with every point placed has removed a cluster; one that takes too many steps is
undone. A point that fits somewhere at once ejects nothing; exchanges between two clusters along
conflicts (Kempe chains) are the chains that stay between these two.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from radcluster.clock import Clock
from radcluster.graph.members import enter, leave, members_of
from radcluster.problem.kernels import helper, kernel
from radcluster.problem.neighbours import Neighbours

#: Elementary steps between two looks at the clock.
SLICE = 10_000_000
#: Attempts to put the points in conflict back.
TRIES = 5

#: The members of each cluster, its summed weight, and each point's weight: how often it moved.
_Clusters = namedtuple("_Clusters", "members weight moved")
#: Scratch room: points to be placed, points moved with their first cluster, counts, marks, and the
#: state of a random number generator.
_Room = namedtuple("_Room", "stack touched origin hits near mark dice")


def eliminate(
    neighbours: Neighbours, labels: np.ndarray, clock: Clock, *, patience: int, seed: int = 0,
    at_least: int = 1, rounds: int = 1,
) -> np.ndarray:  # fmt: skip
    """The labels with as many clusters dissolved as chains of ``patience`` steps per point allow.

    The clusters are tried from the smallest on, ``rounds`` times or until none gives way; not
    below ``at_least`` of them. Labels come back as 0..K-1.
    """
    rng = np.random.default_rng(seed)
    members = members_of(labels, int(np.max(labels)) + 1)
    state = _Clusters(members, members.size.copy(), np.ones(len(members.labels), np.int64))
    room = _room_for(state, seed)
    alive = int((members.size > 0).sum())
    for _ in range(rounds):
        before = alive
        order = np.argsort(members.size + rng.random(len(members.size)), kind="stable")
        order = order[members.size[order] > 0]
        tried = 0
        while tried < len(order) and alive > at_least and not clock.expired:
            tried, gone = _dissolve_some(
                neighbours.start, neighbours.index, state, order, tried, patience,
                alive - at_least, room, SLICE,
            )  # fmt: skip
            alive -= gone
        if alive == before or alive <= at_least or clock.expired:
            break
    return np.unique(members.labels, return_inverse=True)[1]


def repair(
    neighbours: Neighbours, labels: np.ndarray, clock: Clock, *, patience: int = 100, seed: int = 0
) -> np.ndarray | None:
    """A valid partition from labels that hold conflicts, with no more clusters; None if none comes.

    Of each cluster the points in conflict leave, the worst first, and are put back by chains.
    """
    labels = np.unique(labels, return_inverse=True)[1]
    k = int(labels.max()) + 1
    leaves = np.zeros(len(labels), dtype=bool)
    clashes = np.empty(len(labels), np.int64)
    _in_conflict(neighbours.start, neighbours.index, members_of(labels, k), clashes, leaves)
    if not leaves.any():
        return labels
    labels[leaves] = k
    members = members_of(labels, k + 1)
    state = _Clusters(members, members.size.copy(), np.ones(len(labels), np.int64))
    room = _room_for(state, seed)
    for _ in range(TRIES):
        if clock.expired:
            break
        _, gone = _dissolve_some(
            neighbours.start, neighbours.index, state, np.array([k]), 0, patience, 1, room, SLICE
        )
        if gone and np.all(members.size[:k] > 0):
            return members.labels
    return None


def _room_for(state: _Clusters, seed: int) -> _Room:
    n, k = len(state.moved), len(state.weight)
    return _Room(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(k, np.int64),
        np.empty(k, np.int64),
        np.full(n, -1, np.int64),
        np.random.default_rng(seed).integers(2**31, size=1),
    )


@kernel
def _in_conflict(start, index, members, clashes, leaves):
    """Mark points to leave until no conflict is left in any cluster, the worst first."""
    labels = members.labels
    for i in range(len(labels)):
        clashes[i] = members.size[labels[i]] - 1
        for p in range(start[i], start[i + 1]):
            clashes[i] -= labels[index[p]] == labels[i]
    for k in range(len(members.size)):
        while True:
            worst = members.head[k]
            i = worst
            while i >= 0:
                if clashes[i] > clashes[worst]:
                    worst = i
                i = members.after[i]
            if clashes[worst] <= 0:
                break
            leaves[worst] = True
            # All lose a conflict, but for the neighbours of the one that leaves.
            i = members.head[k]
            while i >= 0:
                clashes[i] -= 1
                i = members.after[i]
            for p in range(start[worst], start[worst + 1]):
                clashes[index[p]] += labels[index[p]] == k
            clashes[worst] = -len(labels)


@helper
def _enter(clusters, i, k):
    enter(clusters.members, i, k)
    clusters.weight[k] += clusters.moved[i]


@helper
def _leave(clusters, i):
    clusters.weight[clusters.members.labels[i]] -= clusters.moved[i]
    leave(clusters.members, i)


@kernel
def _dissolve_some(start, index, state, order, tried, patience, most, room, budget):
    """Try clusters ``order[tried:]`` for about so many steps; where it stopped, how many went."""
    gone = 0
    work = 0
    while tried < len(order) and gone < most and work < budget:
        c = order[tried]
        tried += 1
        size = state.members.size[c]
        if size > 0:
            done, steps = _dissolve(start, index, state, c, patience * size + 50, room)
            gone += done
            work += steps
    return tried, gone


@helper
def _dissolve(start, index, state, c, patience, room):
    """Dissolve cluster c or leave all as it was; whether it went, and the work done."""
    n_moved = height = _take_out(state, c, room)
    limit = 2 * height + 30
    work = 0
    for _ in range(patience):
        if height == 0 or height > limit:
            break
        # Mostly the last one, sometimes any: chains should not turn in circles.
        pick = height - 1 if _roll(room, 10) < 7 else _roll(room, height)
        u = room.stack[pick]
        k, weight = _cheapest(start, index, state, u, room)
        work += 2 * (start[u + 1] - start[u]) + 10
        if k < 0:
            break
        height -= 1
        room.stack[pick] = room.stack[height]
        if weight > 0:
            work += start[u + 1] - start[u] + state.members.size[k]
            height, n_moved = _eject(start, index, state, u, k, height, n_moved, room)
        _enter(state, u, k)
    if height > 0:
        _undo(state, n_moved, room)
    for t in range(n_moved):
        room.origin[room.touched[t]] = -1
    return height == 0, work


@helper
def _roll(room, sides):
    """A random number below ``sides``."""
    room.dice[0] = (room.dice[0] * 1103515245 + 12345) % 2147483648
    return (room.dice[0] >> 8) % sides


@helper
def _take_out(state, c, room):
    """Put all of cluster c on the stack; how many."""
    height = 0
    while state.members.head[c] >= 0:
        i = state.members.head[c]
        _leave(state, i)
        room.stack[height] = i
        room.touched[height] = i
        room.origin[i] = c
        height += 1
    return height


@helper
def _eject(start, index, state, u, k, height, n_moved, room):
    """Put all of cluster k that is in conflict with u on the stack."""
    for p in range(start[u], start[u + 1]):
        room.mark[index[p]] = u
    j = state.members.head[k]
    while j >= 0:
        after = state.members.after[j]
        if room.mark[j] != u:
            _leave(state, j)
            state.moved[j] += 1
            room.stack[height] = j
            height += 1
            if room.origin[j] < 0:
                room.origin[j] = k
                room.touched[n_moved] = j
                n_moved += 1
        j = after
    return height, n_moved


@helper
def _undo(state, n_moved, room):
    """Every point back to its first cluster."""
    for t in range(n_moved):
        i = room.touched[t]
        if state.members.labels[i] >= 0:
            _leave(state, i)
        _enter(state, i, room.origin[i])


@helper
def _cheapest(start, index, state, u, room):
    """The cluster from which u ejects the least weight, ties at random, and that weight."""
    hits, near, labels = room.hits, room.near, state.members.labels
    n_near = 0
    for p in range(start[u], start[u + 1]):
        j = index[p]
        k = labels[j]
        if k >= 0:
            if hits[k] == 0:
                near[n_near] = k
                n_near += 1
            hits[k] += state.moved[j]
    best, least, ties = -1, 0, 0
    for t in range(n_near):
        k = near[t]
        weight = state.weight[k] - hits[k]
        hits[k] = 0
        if best < 0 or weight < least:
            best, least, ties = k, weight, 1
        elif weight == least:
            ties += 1
            if _roll(room, ties) == 0:
                best = k
    return best, least
