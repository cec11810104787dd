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
#: Scratch room: candidates, whether a point is one, how many candidates are its neighbours; and how
#: many neighbours a point has lost to the cluster just made, and the points that lost any.
_Room = namedtuple("_Room", "members candidate near lost losers")


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
    room = _Room(
        np.empty(n, np.int64),
        np.zeros(n, np.uint8),
        np.empty(n, np.int32),
        np.zeros(n, np.int32),
        np.empty(n, np.int64),
    )
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
    members = room.members
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
        size, more = _prune(start, index, size, room, noise)
        members[size] = seed
        size += 1
        for t in range(size):
            labels[members[t]] = used
            _dequeue(queue, members[t])
        low = min(low, _tell_neighbours(start, index, labels, queue, size, room))
        for t in range(size):
            more += start[members[t] + 1] - start[members[t]]
        work += more
        used += 1
    return used


@helper
def _tell_neighbours(start, index, labels, queue, size, room):
    """Take a new cluster's members from the counts of free neighbours; the least of these now."""
    lost, losers = room.lost, room.losers
    count = 0
    for t in range(size):
        i = room.members[t]
        for p in range(start[i], start[i + 1]):
            j = index[p]
            if lost[j] == 0:
                losers[count] = j
                count += 1
            lost[j] += 1
    least = len(queue.head)
    for t in range(count):
        j = losers[t]
        if labels[j] < 0:
            _dequeue(queue, j)
            queue.free[j] -= lost[j]
            _enqueue(queue, j)
            least = min(least, queue.free[j])
        lost[j] = 0
    return least


@helper
def _prune(start, index, size, room, noise):
    """Let candidates leave until none conflicts; how many stay, in front, and the work done."""
    members, candidate, near = room.members, room.candidate, room.near
    for t in range(size):
        candidate[members[t]] = 1
    work = 0
    for t in range(size):
        i = members[t]
        found = 1
        for p in range(start[i], start[i + 1]):
            found += candidate[index[p]]
        near[i] = found
        work += start[i + 1] - start[i]
    for t in range(size):
        candidate[members[t]] = 0
    gone = -1
    while True:
        # The one that left last is skipped; the others close up in their order.
        kept = 0
        worst = -1
        highest = 0.0
        alive = size - (gone >= 0)
        for t in range(size):
            i = members[t]
            if i == gone:
                continue
            members[kept] = i
            kept += 1
            clashes = alive - near[i]
            if clashes > 0:
                score = clashes * (1.0 + noise[i])
                if score > highest:
                    highest = score
                    worst = i
        size = kept
        if worst < 0:
            return size, work
        # Points that are no candidates are counted down too, which does no harm.
        for p in range(start[worst], start[worst + 1]):
            near[index[p]] -= 1
        gone = worst
        work += size + start[worst + 1] - start[worst]
