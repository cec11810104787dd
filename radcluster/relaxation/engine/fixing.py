"""What every better partition must do, given a bound and a known partition.

*Reduced costs*: by :mod:`radcluster.relaxation.engine.bound` a partition that puts g and h
together costs at least bound + 2 N_gh Y_gh, and Y_gh >= s_g s_h / m_gh. When that exceeds the cost
of a known partition, no better one joins g and h: a new conflict. The same holds when the two alone
cost more, if distances are Euclidean, so that a cluster costs no less than a part of it.

*Cliques*: K groups in mutual conflict lie in different clusters, one in each. A group that
conflicts with all but one of them shares the cluster of that one; two groups that have none of them
in common are in conflict; a group that conflicts with all of them, or K + 1 groups in mutual
conflict, prove that there is no better partition.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from radcluster.relaxation.engine.bound import SafeBound
from radcluster.relaxation.engine.program import Program

#: Cliques that one round of :func:`propagated` looks at.
CLIQUES = 20


def apart(program: Program, bound: SafeBound, known: float) -> np.ndarray:
    """Pairs of groups (m, 2) that no partition cheaper than ``known`` puts together."""
    least = np.outer(program.roots, program.roots) / program.heaviest
    cost = bound.value + 2.0 * program.scale * bound.reduced * least * (1 - 1e-12)
    if program.euclidean:
        own = np.diag(program.half)
        alone = own[:, None] + own + 2.0 * program.half
        alone /= program.weights[:, None] + program.weights
        cost = np.maximum(cost, alone * (1 - 4 * program.error))
    return np.argwhere(np.triu((cost > known) & ~program.conflicts, 1))


def propagated(program: Program) -> Program | None:
    """The program with what cliques of K conflicting groups imply; None: no partition is left."""
    while True:
        if program.n_groups < program.n_clusters:
            return None
        cliques = large_cliques(program.conflicts, program.n_clusters)
        if cliques is None:
            return None
        if not len(cliques):
            return program
        conflicts = program.conflicts.copy()
        joined = []
        for clique in cliques:
            fits = ~conflicts[:, clique]
            count = fits.sum(axis=1)
            if (count == 0).any():
                return None
            # A member of the clique fits itself alone.
            single = np.flatnonzero((count == 1) & ~np.isin(np.arange(len(fits)), clique))
            joined += [(g, clique[fits[g].argmax()]) for g in single.tolist()]
            counts = fits.astype(float)
            conflicts |= (counts @ counts.T) == 0.0
        more = bool((conflicts & ~program.conflicts).any())
        program = program.with_mask(conflicts)
        if joined:
            merged = program.merged(_components(joined, program.n_groups))
            if merged is None:
                return None
            program = merged
        elif not more:
            return program


def large_cliques(conflicts: np.ndarray, size: int) -> list[np.ndarray] | None:
    """Some cliques of ``size`` groups, found greedily; None when a larger one was found."""
    degree = conflicts.sum(axis=1)
    if np.count_nonzero(degree >= size - 1) < size:
        return []
    order = np.argsort(-degree, kind="stable")
    found: dict[tuple, np.ndarray] = {}
    used = np.zeros(len(conflicts), dtype=bool)
    numbers = conflicts.astype(np.float32)
    tried = 0
    for start in order:
        if tried == CLIQUES:
            break
        if used[start]:
            continue
        tried += 1
        clique = _grown(numbers, conflicts, int(start))
        if len(clique) > size:
            return None
        used[start] = True
        if len(clique) == size:
            found[tuple(sorted(clique))] = np.array(sorted(clique))
    return list(found.values())


def _grown(numbers, conflicts, start) -> list[int]:
    """A maximal clique with ``start``: always the group that leaves the most others."""
    clique = [start]
    left = np.flatnonzero(conflicts[start])
    while len(left):
        inside = numbers[np.ix_(left, left)].sum(axis=1)
        clique.append(int(left[inside.argmax()]))
        left = left[conflicts[clique[-1]][left]]
    return clique


def _components(pairs, n: int) -> np.ndarray:
    """Groups after merging pairs, numbered by their first member."""
    a, b = np.array(pairs).T
    _, label = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(n, n)))
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def joined(program: Program, g: int, h: int) -> Program | None:
    """The program with groups g and h as one."""
    return program.merged(_components([(g, h)], program.n_groups))
