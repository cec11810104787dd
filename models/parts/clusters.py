"""Clusters of a semidefinite program, and what is zero in their blocks."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.models.parts import groups
from radcluster.problem.instance import Instance


def add_clusters(m, instance: Instance, data: groups.Groups, reduce: bool, sizes=None):
    """CLUSTERS (one of each class when reduced), how many each stands for, and their pairs."""
    classes: dict = {}
    for k in range(instance.n_clusters):
        size = None if sizes is None else float(sizes[k])
        same = (data.allowed[:, k].tobytes(), float(instance.radii[k]), size)
        classes.setdefault(same if reduce else k, []).append(k)
    m.stands_for = {clusters[0]: tuple(clusters) for clusters in classes.values()}
    m.CLUSTERS = pyo.Set(initialize=list(m.stands_for))
    m.members = {k: data.members(k) for k in m.CLUSTERS}
    m.weight = dict(data.weight)
    m.PAIRS = pyo.Set(dimen=2, initialize=[(i, k) for k in m.members for i in m.members[k]])
    m.clusters_of = {i: [] for i in data.names}
    for i, k in m.PAIRS:
        m.clusters_of[i].append(k)


def zero_entries(names, apart) -> dict:
    """The pairs of names, in block order, whose entry is the constant zero."""
    a, b = np.nonzero(np.triu(apart, 1))
    return {(names[p], names[q]): 0.0 for p, q in zip(a, b, strict=True)}
