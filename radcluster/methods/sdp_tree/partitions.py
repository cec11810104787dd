"""Partitions from a relaxed solution: join what it holds together, repair, search on.

*Joining*: start from single groups and merge the two compatible clusters with the largest mean Z,
until K are left. Where the radius is tight, more than K may be left; then the surplus is spread
over the K largest with conflicts, and *repaired* by tabu search on the number of conflicts.
*Searching on*: kicks, each a few random chains flipped, and descent, from the best so far.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from radcluster.compiled import kernel
from radcluster.graph.greedy import greedy_colouring
from radcluster.methods.sdp_tree.descent import Table, descend, kick, tabulate
from radcluster.methods.sdp_tree.draw import draw
from radcluster.relaxation.engine.program import Program

#: Steps of the repair, per group.
REPAIR_STEPS = 200
#: Random starts where there are no conflicts.
TRIES = 10


class Partitioner:
    """Partitions of a program's groups into exactly K compatible clusters."""

    def __init__(self, program: Program, seed: int = 0):
        self.program = program
        self.rng = np.random.default_rng(seed)

    def table(self, label: np.ndarray) -> Table:
        p = self.program
        label = np.array(label, dtype=np.int64)
        return tabulate(p.half, p.weights, p.conflicts, label, p.n_clusters)

    def improved(self, label: np.ndarray) -> tuple[np.ndarray, float]:
        """A local optimum from a partition, and its cost."""
        table = self.table(label)
        cost = descend(table)
        return table.label, cost

    def started(self) -> np.ndarray | None:
        """A first partition, or None when conflicts left none that was found."""
        p = self.program
        if not p.conflicts.any():
            tries = (self.improved(start) for start in self.random_starts(TRIES))
            return min(tries, key=lambda found: found[1])[0]
        mean = p.half / np.outer(p.weights, p.weights)
        label = self._to_k(_join(mean.max() - mean, p.weights, p.conflicts, p.n_clusters))
        if label is None:
            label = self._to_k(greedy_colouring(p.conflicts))
        return None if label is None else self.improved(label)[0]

    def random_starts(self, count: int) -> Iterator[np.ndarray]:
        """Partitions that heed no conflicts."""
        return (self._spread_out() for _ in range(count))

    def _spread_out(self) -> np.ndarray:
        """Nearest of K groups drawn with odds proportional to their squared distance."""
        p = self.program
        d = p.half / np.outer(p.weights, p.weights)
        np.fill_diagonal(d, 0.0)
        seeds = [int(self.rng.choice(p.n_groups, p=p.weights / p.weights.sum()))]
        nearest = d[seeds[0]].copy()
        while len(seeds) < p.n_clusters:
            nearest[seeds] = 0.0
            odds = p.weights * nearest
            if not odds.sum() > 0.0:
                odds = np.where(np.isin(np.arange(p.n_groups), seeds), 0.0, 1.0)
            seeds.append(int(self.rng.choice(p.n_groups, p=odds / odds.sum())))
            nearest = np.minimum(nearest, d[seeds[-1]])
        label = d[seeds].argmin(axis=0)
        label[seeds] = np.arange(p.n_clusters)
        return label

    def filled(self, label: np.ndarray) -> np.ndarray:
        """A partition with K clusters from one with fewer: groups far from theirs go alone."""
        p = self.program
        label = np.unique(label, return_inverse=True)[1]
        for k in range(int(label.max()) + 1, p.n_clusters):
            same = label[:, None] == label
            mass = (same * p.weights).sum(axis=1)
            far = np.where(same, p.half, 0.0).sum(axis=1) / p.weights / mass
            far[same.sum(axis=1) == 1] = -1.0
            label[int(far.argmax())] = k
        return label

    def from_z(self, z: np.ndarray) -> tuple[np.ndarray, float] | None:
        """The partition that Z suggests, or None when the repair fails."""
        p = self.program
        label = _join(z, p.weights, p.conflicts, p.n_clusters)
        label = self._to_k(label)
        if label is None:
            return None
        return self.improved(label)

    def _to_k(self, label: np.ndarray) -> np.ndarray | None:
        k = self.program.n_clusters
        found = int(label.max()) + 1
        if found <= k:
            return self.filled(label)
        sizes = np.bincount(label)
        rank = np.empty(found, dtype=np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(found)
        label = rank[label]
        return self.repaired(label)

    def repaired(self, label: np.ndarray) -> np.ndarray | None:
        """A partition without conflicts near one whose labels may exceed K; None when not found."""
        p = self.program
        steps = REPAIR_STEPS * p.n_groups
        seed = int(self.rng.integers(1, 2**31))
        label = label.copy()
        return label if _repair(p.conflicts, label, p.n_clusters, steps, seed) else None

    def kicked(self, label: np.ndarray, count: int, strength: int = 3) -> tuple[np.ndarray, float]:
        """The best of ``count`` kicks and descents from a partition."""
        table = self.table(label)
        cost = descend(table)
        best = table.label.copy()
        seed = int(self.rng.integers(1, 2**31))
        cost = kick(table, best, cost, count, strength, seed)
        return best, cost


@kernel(nogil=True)
def _join(z, weights, conflicts, n_clusters):
    """Merge the pair of compatible clusters with the largest mean Z until K are left."""
    n = len(z)
    label = np.arange(n)
    alive = np.ones(n, np.bool_)
    size = weights.copy()
    score = np.full((n, n), -1.0)
    nearest = np.full(n, -1)
    for g in range(n):
        for h in range(n):
            if g != h and not conflicts[g, h]:
                score[g, h] = z[g, h]
                if nearest[g] < 0 or score[g, h] > score[g, nearest[g]]:
                    nearest[g] = h
    left = n
    while left > n_clusters:
        a = -1
        for g in range(n):
            if alive[g] and nearest[g] >= 0:
                if a < 0 or score[g, nearest[g]] > score[a, nearest[a]]:
                    a = g
        if a < 0:
            break
        b = nearest[a]
        alive[b] = False
        left -= 1
        for h in range(n):
            if label[h] == b:
                label[h] = a
        for h in range(n):
            if not alive[h] or h == a:
                continue
            value = -1.0
            if score[a, h] >= 0.0 and score[b, h] >= 0.0:
                value = (size[a] * score[a, h] + size[b] * score[b, h]) / (size[a] + size[b])
            score[a, h] = score[h, a] = value
            score[b, h] = score[h, b] = -1.0
        size[a] += size[b]
        for g in range(n):
            if alive[g] and (g == a or nearest[g] == a or nearest[g] == b):
                nearest[g] = -1
                for h in range(n):
                    if alive[h] and h != g and score[g, h] >= 0.0:
                        if nearest[g] < 0 or score[g, h] > score[g, nearest[g]]:
                            nearest[g] = h
            elif alive[g] and score[g, a] > score[g, nearest[g]]:
                nearest[g] = a
    names = np.full(n, -1)
    count = 0
    for g in range(n):
        if names[label[g]] < 0:
            names[label[g]] = count
            count += 1
        label[g] = names[label[g]]
    return label


@kernel(nogil=True)
def _repair(conflicts, label, n_clusters, steps, seed):
    """Tabu search for a labelling below K without conflicts; whether one was found."""
    n = len(label)
    state = np.array([seed], np.uint64)
    clashes = np.zeros((n, n_clusters), np.int64)
    for g in range(n):
        for h in range(n):
            if label[h] < n_clusters:
                clashes[g, label[h]] += conflicts[g, h]
    for g in range(n):
        if label[g] >= n_clusters:
            best = 0
            for k in range(n_clusters):
                if clashes[g, k] < clashes[g, best]:
                    best = k
            label[g] = best
            for h in range(n):
                clashes[h, best] += conflicts[g, h]
    tabu = np.zeros((n, n_clusters), np.int64)
    bad = 0
    for g in range(n):
        bad += clashes[g, label[g]]
    least = bad
    for step in range(steps):
        if bad == 0:
            break
        best, who, where, ties = np.int64(2**40), -1, -1, 0
        for g in range(n):
            own = clashes[g, label[g]]
            if own == 0:
                continue
            for k in range(n_clusters):
                if k == label[g]:
                    continue
                change = clashes[g, k] - own
                if tabu[g, k] > step and bad + 2 * change >= least:
                    continue
                if change < best:
                    best, who, where, ties = change, g, k, 1
                elif change == best:
                    ties += 1
                    if draw(state, ties) == 0:
                        who, where = g, k
        if who < 0:
            continue
        old = label[who]
        label[who] = where
        for h in range(n):
            clashes[h, old] -= conflicts[who, h]
            clashes[h, where] += conflicts[who, h]
        tabu[who, old] = step + 5 + draw(state, 10) + bad // 4
        bad += 2 * best
        least = min(least, bad)
    if bad:
        return False
    size = np.zeros(n_clusters, np.int64)
    for g in range(n):
        size[label[g]] += 1
    for k in range(n_clusters):
        if size[k] == 0:
            for g in range(n):
                if size[label[g]] > 1:
                    size[label[g]] -= 1
                    label[g] = k
                    size[k] = 1
                    break
    return True
