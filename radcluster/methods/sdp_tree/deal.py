"""Parts of the points that resemble the whole: each cluster dealt evenly, then improved by swaps.

A part's clusters have means of their own, and what these fit better than the means of the whole
clusters is lost to the sum of the parts' bounds:

    sum over parts t and clusters k of  w_tk |mean_tk - mean_k|^2.

Two points of one cluster change parts while that lowers the loss.
"""

from __future__ import annotations

import numpy as np

from radcluster.compiled import kernel
from radcluster.methods.sdp_tree.draw import draw

#: Swaps tried for each point.
TRIALS = 60


def deal(
    points: np.ndarray, weights: np.ndarray, labels: np.ndarray, n_parts: int, seed: int = 0
) -> np.ndarray:
    """The part of each point, such that every cluster is spread evenly over all parts."""
    rng = np.random.default_rng(seed)
    part = np.empty(len(labels), dtype=np.int64)
    next_part = 0
    for k in np.unique(labels):
        members = np.flatnonzero(labels == k)
        x = points[members] - np.average(points[members], axis=0, weights=weights[members])
        # Along the longest axis, back and forth, so that neighbours go to different parts.
        axis = x @ np.linalg.svd(x, full_matrices=False)[2][0] if len(x) > 1 else np.zeros(1)
        turns = np.argsort(axis, kind="stable")
        rounds = -(-len(members) // n_parts)
        dealt = np.concatenate([rng.permutation(n_parts) for _ in range(rounds)])[: len(members)]
        part[members[turns]] = (dealt + next_part) % n_parts
        next_part = (next_part + len(members)) % n_parts
        inner = np.ascontiguousarray(part[members])
        start = int(rng.integers(1, 2**31))
        _swap(np.ascontiguousarray(x), weights[members], inner, n_parts, TRIALS, start)
        part[members] = inner
    return part


@kernel(nogil=True)
def _swap(x, weights, part, n_parts, trials, seed):
    """Exchange the parts of two points of one cluster while that brings the parts' means closer."""
    n, dim = x.shape
    state = np.array([seed], np.uint64)
    sums = np.zeros((n_parts, dim))
    mass = np.zeros(n_parts)
    for i in range(n):
        mass[part[i]] += weights[i]
        for a in range(dim):
            sums[part[i], a] += weights[i] * x[i, a]
    for _ in range(trials * n):
        i, j = draw(state, n), draw(state, n)
        s, t = part[i], part[j]
        if s == t:
            continue
        step = weights[j] - weights[i]
        if mass[s] + step <= 0.0 or mass[t] - step <= 0.0:
            continue
        before, after_s, after_t = 0.0, 0.0, 0.0
        for a in range(dim):
            change = weights[j] * x[j, a] - weights[i] * x[i, a]
            before += sums[s, a] ** 2 / mass[s] + sums[t, a] ** 2 / mass[t]
            after_s += (sums[s, a] + change) ** 2
            after_t += (sums[t, a] - change) ** 2
        if after_s / (mass[s] + step) + after_t / (mass[t] - step) < before * (1 - 1e-12):
            for a in range(dim):
                change = weights[j] * x[j, a] - weights[i] * x[i, a]
                sums[s, a] += change
                sums[t, a] -= change
            mass[s] += step
            mass[t] -= step
            part[i], part[j] = t, s
