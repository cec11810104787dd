"""What a conflict graph gives away cheaply: vertices to drop, a colouring, a clique.

A vertex i is *dominated* by j when it is compatible with j and with all that j is compatible
with: any compatible set that holds j may take i as well. In plane data most points are.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse


def dominated_by(compatible: np.ndarray) -> np.ndarray:
    """For each vertex the kept vertex whose set it may join; itself when it is kept."""
    leaders = np.arange(len(compatible))
    kept = leaders
    while True:
        below = _includes(compatible[np.ix_(kept, kept)])
        # Of equals the first stays.
        below &= ~(below.T & (kept[:, None] <= kept[None, :]))
        if not below.any():
            return leaders
        dropped = below.any(axis=1)
        below[:, dropped] = False
        followed = kept.copy()
        followed[dropped] = kept[below[dropped].argmax(axis=1)]
        follow = np.arange(len(leaders))
        follow[kept] = followed
        leaders = follow[leaders]
        kept = kept[~dropped]


def _includes(near: np.ndarray) -> np.ndarray:
    """Whether i is compatible with j and with all that j is compatible with, as [i, j]."""
    size = near.sum(axis=1)
    counts = csr_array(near, dtype=np.float32) if near.mean() < 0.1 else near.astype(np.float32)
    includes = np.empty_like(near)
    for rows in np.array_split(np.arange(len(near)), len(near) // 1000 + 1):
        shared = counts[rows] @ counts
        shared = shared.toarray() if issparse(shared) else shared
        includes[rows] = near[rows] & (shared == size)
    return includes


def greedy_colouring(conflicts: np.ndarray) -> np.ndarray:
    """Colour next the vertex that sees the most colours, then the most conflicts (Brelaz)."""
    n = len(conflicts)
    degree = conflicts.sum(axis=1)
    colours = np.full(n, -1)
    seen = np.zeros((n, 0), dtype=bool)
    priority = degree / (n + 1.0)
    for _ in range(n):
        vertex = int(np.where(colours < 0, priority, -1.0).argmax())
        free = np.flatnonzero(~seen[vertex])
        if not len(free):
            seen = np.hstack([seen, np.zeros((n, 1), dtype=bool)])
        colour = int(free[0]) if len(free) else seen.shape[1] - 1
        colours[vertex] = colour
        priority += conflicts[vertex] & ~seen[:, colour]
        seen[:, colour] |= conflicts[vertex]
    return colours


def greedy_clique(conflicts: np.ndarray) -> np.ndarray:
    """Mutually conflicting vertices: always the one that rules out the fewest others."""
    compatible = ~conflicts
    left = np.ones(len(conflicts), dtype=bool)
    n_near = compatible.sum(axis=1)
    clique = []
    while left.any():
        vertex = int(np.where(left, n_near, len(conflicts) + 1).argmin())
        clique.append(vertex)
        dropped = left & compatible[vertex]
        left &= conflicts[vertex]
        n_near = n_near - compatible[:, dropped].sum(axis=1)
    return np.sort(clique)
