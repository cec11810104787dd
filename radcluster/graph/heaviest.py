"""The heaviest compatible set around each vertex, by branch and bound on lists of neighbours.

Every set is looked for at its last vertex, the head. Candidates are put into classes of mutually
conflicting vertices: a set takes at most one of each class, so the heaviest of each class bound
what can still be added. A head that takes too many steps keeps the bound of its root.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from radcluster.clock import Clock
from radcluster.problem.kernels import helper, kernel

#: Heads between two looks at the clock.
HEADS = 20
#: Scratch room: local candidates, their order and bounds per depth, the set chosen, the best set.
_Room = namedtuple("_Room", "near place order bound count chosen best adjacent")


def room_for(n_vertices: int, most: int) -> _Room:
    """Room for graphs of so many vertices, at most ``most`` of them candidates of one head."""
    return _Room(
        np.empty(most + 1, np.int64),
        np.full(n_vertices, -1, np.int64),
        np.empty((most + 1, most + 1), np.int64),
        np.empty((most + 1, most + 1)),
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty((most + 1, most + 1), np.bool_),
    )


def heaviest_sets(neighbours, weights, heads, more_than: float, budget: int, clock: Clock):
    """For each head a bound on its sets' weights, and the sets heavier than ``more_than``.

    Vertices of no weight take no part. The bound is the weight of the heaviest set with that head,
    ``more_than`` when there is none heavier, or more where ``budget`` steps did not suffice.
    Raises ``TimeoutError`` when the clock runs out.
    """
    counts = _positive_before(neighbours.start, neighbours.index, weights, heads)
    room = room_for(neighbours.n_points, int(counts.max(initial=0)) + 1)
    bounds, sets = np.zeros(len(heads)), []
    for t, head in enumerate(heads.tolist()):
        if t % HEADS == 0 and clock.expired:
            raise TimeoutError("the time limit passed while heavy sets were sought")
        if weights[head] <= 0:
            continue
        bounds[t], size = _heaviest(
            neighbours.start, neighbours.index, weights, head, more_than, budget, room
        )
        if size:
            sets.append(room.best[:size].copy())
    return bounds, sets


def enlarged(neighbours, members: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    """A compatible set with vertices of ``eligible`` added, in their order, while one fits."""
    matches = np.zeros(neighbours.n_points, np.int64)
    out = np.empty(len(members) + len(eligible), np.int64)
    size = _enlarge(neighbours.start, neighbours.index, members, eligible, matches, out)
    return out[:size]


@kernel
def _enlarge(start, index, members, eligible, matches, out):
    for t in range(len(members)):
        out[t] = members[t]
        matches[members[t]] = -len(matches) - len(members)
        for p in range(start[members[t]], start[members[t] + 1]):
            matches[index[p]] += 1
    size = len(members)
    for u in eligible:
        if matches[u] == size:
            out[size] = u
            size += 1
            matches[u] = -len(matches) - len(members)
            for p in range(start[u], start[u + 1]):
                matches[index[p]] += 1
    return size


def _positive_before(start, index, weights, heads):
    return np.array([(weights[index[start[h] : start[h + 1]]] > 0).sum() for h in heads.tolist()])


@kernel
def _heaviest(start, index, weights, head, more_than, budget, room):
    """Bound on the sets whose last vertex is ``head``; the best one's size if it is heavier."""
    size = _load(start, index, weights, head, room)
    best, best_size = more_than, 0
    root = weights[head] + _sorted_by_bound(weights, room, 0, size)
    if root <= best:
        return best, 0
    own = weights[head]
    if own > best:
        best, best_size = own, 1
        room.best[0] = head
    depth, weight, steps = 0, own, 0
    while depth >= 0:
        room.count[depth] -= 1
        t = room.count[depth]
        if t < 0 or weight + room.bound[depth, t] <= best:
            depth -= 1
            if depth >= 0:
                weight -= weights[room.near[room.chosen[depth]]]
            continue
        steps += 1
        if steps > budget:
            return root, best_size
        v = room.order[depth, t]
        room.chosen[depth] = v
        grown = weight + weights[room.near[v]]
        if grown > best:
            best, best_size = grown, depth + 2
            room.best[0] = head
            for d in range(depth + 1):
                room.best[d + 1] = room.near[room.chosen[d]]
        inner = 0
        for s in range(t):
            u = room.order[depth, s]
            if room.adjacent[v, u]:
                room.order[depth + 1, inner] = u
                inner += 1
        if inner:
            _sorted_by_bound(weights, room, depth + 1, inner)
            weight = grown
            depth += 1
    return best, best_size


@helper
def _load(start, index, weights, head, room):
    """Candidates of the head: its neighbours of positive weight before it; how many."""
    size = 0
    for p in range(start[head], start[head + 1]):
        u = index[p]
        if u >= head:
            break
        if weights[u] > 0:
            # Heavy ones first, by insertion.
            t = size
            while t > 0 and weights[room.near[t - 1]] < weights[u]:
                room.near[t] = room.near[t - 1]
                t -= 1
            room.near[t] = u
            size += 1
    for t in range(size):
        room.place[room.near[t]] = t
        room.order[0, t] = t
    for t in range(size):
        for s in range(size):
            room.adjacent[t, s] = False
        u = room.near[t]
        for p in range(start[u], start[u + 1]):
            s = room.place[index[p]]
            if s >= 0:
                room.adjacent[t, s] = True
    for t in range(size):
        room.place[room.near[t]] = -1
    return size


@helper
def _sorted_by_bound(weights, room, depth, size):
    """Put the candidates of a depth into classes: bounds that increase; the last of them."""
    order, bound = room.order[depth], room.bound[depth]
    # Candidates come in any order; the heaviest (the lowest number) of the rest opens a class.
    for t in range(1, size):
        v = order[t]
        s = t
        while s > 0 and order[s - 1] > v:
            order[s] = order[s - 1]
            s -= 1
        order[s] = v
    earlier = 0.0
    done = 0
    while done < size:
        first = done
        done += 1
        for t in range(first + 1, size):
            v = order[t]
            clashes = True
            for s in range(first, done):
                if room.adjacent[v, order[s]]:
                    clashes = False
                    break
            if clashes:
                # Move it behind the class; those passed over keep their order.
                for s in range(t, done, -1):
                    order[s] = order[s - 1]
                order[done] = v
                done += 1
        heaviest = weights[room.near[order[first]]]
        # Light ones first, so that the bounds increase.
        low, high = first, done - 1
        while low < high:
            order[low], order[high] = order[high], order[low]
            low += 1
            high -= 1
        for t in range(first, done):
            bound[t] = earlier + weights[room.near[order[t]]]
        earlier += heaviest
    room.count[depth] = size
    return earlier
