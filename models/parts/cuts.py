"""Inequalities that tighten a block Z of the ``perspective`` and ``peng_wei`` forms, in rounds.

For the Z of a partition, Z_ij = 1/n_k when i and j share cluster k and 0 otherwise, so

    pair       Z_ij <= Z_ii
    triangle   Z_ij + Z_ih <= Z_ii + Z_jh                   (j, h both with i: then together)
    clique     sum_{q in Q} Z_iq <= Z_ii                    (Q mutually conflicting, i not in Q)

There are N^2, N^3 / 2 and exponentially many: :func:`separate` adds those that the current values
violate most. Conflicts are the entries of Z that the model holds at the constant 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyomo.environ as pyo

from radcluster.errors import InputError

KINDS = ("pair", "triangle", "clique")

#: Neighbours of i from which a violated clique is grown.
_STARTS = 5


def separate(
    model: pyo.ConcreteModel,
    kinds: Iterable[str] = KINDS,
    *,
    limit: int = 500,
    tolerance: float = 1e-4,
) -> int:
    """Add the most violated cuts to ``model.cuts``.

    Parameters
    ----------
    kinds : iterable of {"pair", "triangle", "clique"}
    limit : int
        At most this many of each kind in each block.
    tolerance : float
        A cut is violated when it is by more than this times the largest entry of its block.

    Returns
    -------
    int
        How many were added; 0 when nothing is violated.
    """
    kinds = tuple(kinds)
    if unknown := set(kinds) - set(KINDS):
        raise InputError(f"unknown cuts {sorted(unknown)}: choose of {', '.join(KINDS)}")
    if model.component("cuts") is None:
        model.cuts = pyo.ConstraintList(doc="pair, triangle and clique cuts, as separated")
    before = len(model.cuts)
    for block in model.Z.values():
        n = len(block.labels)
        z = block.matrix()[:n, :n]
        threshold = tolerance * max(z.max(), 0.0)
        for kind in kinds:
            violated = _SEPARATORS[kind](z, _conflicts(block), threshold)
            for _, i, positive, negative in sorted(violated, reverse=True)[:limit]:
                _add(model.cuts, block, i, positive, negative)
    return len(model.cuts) - before


def _add(cuts, block, i, positive, negative):
    """sum over positive of Z_ij  <=  Z_ii + sum over negative pairs of Z_jh."""
    label = block.labels
    left = pyo.quicksum(block.entry(label[i], label[j]) for j in positive)
    right = pyo.quicksum(block.entry(label[j], label[h]) for j, h in ((i, i), *negative))
    cuts.add(left <= right)


def _conflicts(block) -> np.ndarray:
    """Pairs of rows whose entry is a constant."""
    n = len(block.labels)
    apart = np.ones((n, n), dtype=bool)
    for i, j in block.X:
        p, q = block.position[i], block.position[j]
        apart[p, q] = apart[q, p] = False
    return apart


def _pairs(z, apart, threshold):
    excess = z - np.diag(z)[:, None]
    np.fill_diagonal(excess, 0.0)
    return [(float(excess[i, j]), i, (j,), ()) for i, j in np.argwhere(excess > threshold).tolist()]


def _triangles(z, apart, threshold):
    found = []
    for i in range(len(z)):
        near = np.flatnonzero(z[i] > threshold)
        near = near[near != i]
        excess = z[i, near][:, None] + z[i, near] - z[i, i] - z[np.ix_(near, near)]
        for a, b in np.argwhere(np.triu(excess, 1) > threshold).tolist():
            j, h = int(near[a]), int(near[b])
            # A conflicting pair j, h is the clique {j, h}, which the clique cuts contain.
            found.append((float(excess[a, b]), i, (j, h), () if apart[j, h] else ((j, h),)))
    return found


def _cliques(z, apart, threshold):
    found = []
    for i in range(len(z)):
        near = [int(j) for j in np.argsort(-z[i]) if j != i and z[i, j] > 0.0]
        seen = set()
        for start in near[:_STARTS]:
            clique = [start]
            for j in near:
                if apart[j, clique].all():
                    clique.append(j)
            excess = float(z[i, clique].sum() - z[i, i])
            key = tuple(sorted(clique))
            if len(clique) > 1 and excess > threshold and key not in seen:
                seen.add(key)
                found.append((excess, i, key, ()))
    return found


_SEPARATORS = {"pair": _pairs, "triangle": _triangles, "clique": _cliques}
