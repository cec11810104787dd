"""A partition into few clusters: grow maximal compatible sets around the most isolated points.

The point with the fewest neighbours left has the fewest sets to be in. Around it, all its free
neighbours are candidates; the candidate in conflict with the most others leaves, again and again,
until none conflicts. What stays is a maximal compatible set. A set of diameter 2r reaches beyond
every ball of radius r, so this takes clearly fewer sets than covering by balls.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from radcluster.clock import Clock
from radcluster.problem.kernels import helper, kernel
from radcluster.problem.neighbours import Neighbours

#: Elementary steps between two looks at the clock.
SLICE = 20_000_000

#: Free neighbours of each point, and the free points with so many of them as linked lists.
_Queue = namedtuple("_Queue", "free head after before")
#: Scratch room: candidates, their places, -1 for other points, and their conflicts.
_Room = namedtuple("_Room", "members place clashes")


def grow(neighbours: Neighbours, clock: Clock, *, spread: float = 0.0, seed: int = 0):
    """Labels of a partition into few clusters, -1 where the clock ran out before.

    ``spread`` > 0 blurs the choice of the candidate that leaves, for another partition.
    """
    n = neighbours.n_points
    labels = np.full(n, -1, np.int64)
    most = int(neighbours.degree.max(initial=0))
    queue = _Queue(
        neighbours.degree.astype(np.int64),
        np.full(most + 2, -1, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )
    room = _Room(np.empty(n, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64))
    noise = np.zeros(n)
    if spread:
        noise = np.random.default_rng(seed).random(n) * spread
    _fill_queue(queue)
    used = 0
    while used >= 0 and not clock.expired:
        used = _grow(
            neighbours.start, neighbours.index, labels, queue, room, noise, max(used, 0), SLICE
        )
    return labels


@kernel
def _fill_queue(queue):
    for i in range(len(queue.free)):
        _enqueue(queue, i)


@helper
def _enqueue(queue, i):
    size = queue.free[i]
    old = queue.head[size]
    queue.after[i] = old
    queue.before[i] = -1
    if old >= 0:
        queue.before[old] = i
    queue.head[size] = i


@helper
def _dequeue(queue, i):
    before, after = queue.before[i], queue.after[i]
    if before >= 0:
        queue.after[before] = after
    else:
        queue.head[queue.free[i]] = after
    if after >= 0:
        queue.before[after] = before


@kernel
def _grow(start, index, labels, queue, room, noise, used, budget):
    """Make clusters ``used``, ``used + 1``, ... for about so many steps; -1 when all is done."""
    members, place = room.members, room.place
    low = 0
    work = 0
    while work < budget:
        while low < len(queue.head) and queue.head[low] < 0:
            low += 1
        if low == len(queue.head):
            return -1
        seed = queue.head[low]
        size = 0
        for p in range(start[seed], start[seed + 1]):
            if labels[index[p]] < 0:
                members[size] = index[p]
                size += 1
        work += _prune(start, index, size, room, noise)
        members[size] = seed
        place[seed] = 0
        for t in range(size + 1):
            i = members[t]
            if place[i] < 0:
                continue
            place[i] = -1
            labels[i] = used
            _dequeue(queue, i)
            for p in range(start[i], start[i + 1]):
                j = index[p]
                if labels[j] < 0:
                    _dequeue(queue, j)
                    queue.free[j] -= 1
                    _enqueue(queue, j)
                    if queue.free[j] < low:
                        low = queue.free[j]
            work += start[i + 1] - start[i]
        used += 1
    return used


@helper
def _prune(start, index, size, room, noise):
    """Let candidates leave until none conflicts; those that stay have ``place`` >= 0."""
    members, place, clashes = room.members, room.place, room.clashes
    for t in range(size):
        place[members[t]] = t
    work = 0
    for t in range(size):
        i = members[t]
        near = 1
        for p in range(start[i], start[i + 1]):
            near += place[index[p]] >= 0
        clashes[t] = size - near
        work += start[i + 1] - start[i]
    while True:
        worst = -1
        highest = 0.0
        for t in range(size):
            if place[members[t]] >= 0 and clashes[t] > 0:
                score = clashes[t] * (1.0 + noise[members[t]])
                if score > highest:
                    highest = score
                    worst = t
        if worst < 0:
            return work
        i = members[worst]
        place[i] = -1
        # All that stay lose a conflict, but for the neighbours of i.
        for t in range(size):
            clashes[t] -= 1
        for p in range(start[i], start[i + 1]):
            t = place[index[p]]
            if t >= 0:
                clashes[t] += 1
        work += size + start[i + 1] - start[i]
