"""Clusters with their members as linked lists: entering and leaving take constant time."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from radcluster.problem.kernels import helper, kernel

#: Cluster of each point, size of each cluster, and the members: the first of cluster k is
#: ``head[k]``, the one after i ``after[i]``, -1 at the end.
Members = namedtuple("Members", "labels size head after before")


def members_of(labels, n_clusters: int) -> Members:
    """The members of each cluster; ``labels`` is left alone."""
    labels = np.array(labels, dtype=np.int64)
    state = Members(
        labels,
        np.zeros(n_clusters, np.int64),
        np.full(n_clusters, -1, np.int64),
        np.empty(len(labels), np.int64),
        np.empty(len(labels), np.int64),
    )
    _enter_all(state)
    return state


@kernel
def _enter_all(state):
    for i in range(len(state.labels)):
        enter(state, i, state.labels[i])


@helper
def enter(state, i, k):
    """Put a free point into cluster k."""
    state.labels[i] = k
    state.size[k] += 1
    old = state.head[k]
    state.after[i] = old
    state.before[i] = -1
    if old >= 0:
        state.before[old] = i
    state.head[k] = i


@helper
def leave(state, i):
    """Free a point from its cluster."""
    k = state.labels[i]
    state.labels[i] = -1
    state.size[k] -= 1
    before, after = state.before[i], state.after[i]
    if before >= 0:
        state.after[before] = after
    else:
        state.head[k] = after
    if after >= 0:
        state.before[after] = before
