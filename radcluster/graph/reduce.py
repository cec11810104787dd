"""Vertices that need no attention when a graph is covered, by lists of neighbours alone.

Vertex i is *dominated* by j when it is compatible with j and with all that j is compatible with:
any compatible set that holds j may take i as well. So i may be dropped, and follows j.
"""

from __future__ import annotations

import numpy as np

from radcluster.clock import Clock
from radcluster.problem.kernels import helper, kernel
from radcluster.problem.neighbours import Neighbours

#: Elementary steps between two looks at the clock.
SLICE = 20_000_000
#: Rounds over all vertices; later rounds find little.
ROUNDS = 4


def dominated(neighbours: Neighbours, clock: Clock) -> np.ndarray:
    """For each vertex the kept vertex that it follows; itself when it is kept."""
    n = neighbours.n_points
    leader = np.arange(n)
    mark = np.full(n, -1, np.int64)
    size = neighbours.degree.astype(np.int64)
    for _ in range(ROUNDS):
        at, dropped = 0, 0
        while at < n and not clock.expired:
            at, more = _drop(neighbours.start, neighbours.index, leader, size, mark, at, SLICE)
            dropped += more
        if not dropped or clock.expired:
            break
    return _followed(leader)


def _followed(leader: np.ndarray) -> np.ndarray:
    """The last of each chain of leaders."""
    while True:
        further = leader[leader]
        if np.array_equal(further, leader):
            return leader
        leader = further


@kernel
def _drop(start, index, leader, size, mark, at, budget):
    """Drop dominated vertices from ``at`` on for about so many steps: where it ended, how many."""
    work = 0
    dropped = 0
    while at < len(leader) and work < budget:
        i = at
        at += 1
        if leader[i] != i:
            continue
        for p in range(start[i], start[i + 1]):
            mark[index[p]] = i
        mark[i] = i
        work += start[i + 1] - start[i]
        for p in range(start[i], start[i + 1]):
            j = index[p]
            if leader[j] == j and size[j] <= size[i]:
                inside, steps = _inside(start, index, leader, mark, i, j)
                work += steps
                if inside:
                    leader[i] = j
                    dropped += 1
                    for q in range(start[i], start[i + 1]):
                        size[index[q]] -= 1
                    break
    return at, dropped


@helper
def _inside(start, index, leader, mark, i, j):
    """Whether all kept neighbours of j are marked by i, and the steps this took."""
    for p in range(start[j], start[j + 1]):
        k = index[p]
        if mark[k] != i and leader[k] == k:
            return False, p - start[j] + 1
    return True, start[j + 1] - start[j]
