"""What every labelled formulation shares: memberships, partition, conflicts, order of labels.

    pi_ik in {0, 1}                      point i lies in cluster k, for admissible pairs (i, k)
    sum_k pi_ik = 1                      each point in one cluster                      (Eq. 10)
    sum_i pi_ik >= 1                     no cluster empty                                (Eq. 9)
    no two conflicting points together, in one of three forms that agree on binaries:
        d_ij pi_ik pi_jk <= 4 r_k^2      ``quadratic``, as printed                      (Eq. 11)
        pi_ik + pi_jk <= 1               ``conflict``, one row an edge
        sum_{q in Q} pi_qk <= 1          ``clique``, one row a clique of conflicts

The admissible pairs come as :class:`radcluster.graph.conflicts.AdmissiblePairs`: all N K of them
as in the paper, or those left after anchoring and propagation.
"""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo

from radcluster.errors import InputError
from radcluster.graph.cliques import edge_clique_cover
from radcluster.graph.conflicts import AdmissiblePairs, conflict_matrix
from radcluster.problem.instance import Instance, diameter_limit

CONSTRAINTS = ("quadratic", "conflict", "clique")


def add_memberships(m: pyo.ConcreteModel, instance: Instance, labelling: AdmissiblePairs) -> None:
    """``pi[i,k]`` for the admissible pairs.

    ``m.members[k]`` lists the points i that have a ``pi[i,k]``. ``m.weight[i]`` is the weight of
    what i stands for: of point i here, of all its must-linked points in relaxations that merge
    them. Without sample weights that is the number of points.
    """
    n_points, n_clusters = labelling.allowed.shape
    m.POINTS = pyo.RangeSet(0, n_points - 1)
    m.CLUSTERS = pyo.RangeSet(0, n_clusters - 1)
    m.members = {k: labelling.points_of(k).tolist() for k in range(n_clusters)}
    m.weight = dict(enumerate(instance.weights.tolist()))
    m.PAIRS = pyo.Set(dimen=2, initialize=[(i, k) for k in m.members for i in m.members[k]])
    m.pi = pyo.Var(m.PAIRS, domain=pyo.Binary)


def add_partition(m: pyo.ConcreteModel, labelling: AdmissiblePairs) -> None:
    """sum_k pi_ik = 1 (Eq. 10)."""

    @m.Constraint(m.POINTS, doc="Eq. 10: each point in one cluster")
    def partition(m, i):
        return pyo.quicksum(m.pi[i, k] for k in np.flatnonzero(labelling.allowed[i]).tolist()) == 1


def add_nonempty(m: pyo.ConcreteModel) -> None:
    """sum_i pi_ik >= 1 (the lower half of 1 <= n_k <= N in Eq. 9)."""

    @m.Constraint(m.CLUSTERS, doc="Eq. 9: no cluster empty")
    def nonempty(m, k):
        return pyo.quicksum(m.pi[i, k] for i in m.members[k]) >= 1


def add_conflicts(m: pyo.ConcreteModel, instance: Instance, constraints: str) -> None:
    """Keep conflicting points apart, in the form named (Eq. 11).

    Rows that every binary pi satisfies (d_ij <= 4 r_k^2) are left out of the quadratic form too.
    """
    if constraints not in CONSTRAINTS:
        raise InputError(f"constraints must be one of {', '.join(CONSTRAINTS)}: {constraints!r}")
    groups = _conflict_groups(m, instance, as_cliques=constraints == "clique")
    m.CONFLICTS = pyo.Set(
        dimen=2, initialize=[(k, t) for k in groups for t in range(len(groups[k]))]
    )
    limits = diameter_limit(instance.radii)
    d = instance.sq_distances

    @m.Constraint(m.CONFLICTS, doc="Eq. 11: no two points of a cluster more than 2r apart")
    def radius(m, k, t):
        group = groups[k][t]
        if constraints != "quadratic":
            return pyo.quicksum(m.pi[i, k] for i in group) <= 1
        i, j = group
        if d[i, j] > limits[k]:
            return float(d[i, j]) * m.pi[i, k] * m.pi[j, k] <= float(4 * instance.radii[k] ** 2)
        return m.pi[i, k] * m.pi[j, k] <= 0  # a cannot-link pair


def _conflict_groups(m, instance, as_cliques):
    """For each cluster, the edges or cliques of conflicts among its admissible points."""
    known = {}
    groups = {}
    for k, members in m.members.items():
        key = (instance.radii[k], tuple(members))
        if key not in known:
            points = np.array(members, dtype=int)
            matrix = conflict_matrix(instance, k)[np.ix_(points, points)]
            local = edge_clique_cover(matrix) if as_cliques else np.argwhere(np.triu(matrix))
            known[key] = [tuple(points[list(group)].tolist()) for group in local]
        groups[k] = known[key]
    return groups


def add_must_links(m: pyo.ConcreteModel, instance: Instance) -> None:
    """pi_ik = pi_jk for must-linked i, j."""
    links = instance.must_link.tolist()

    @m.Constraint(range(len(links)), m.CLUSTERS, doc="must-linked points share a cluster")
    def must_link(m, t, k):
        i, j = links[t]
        if (i, k) not in m.PAIRS:  # then (j, k) is not admissible either
            return pyo.Constraint.Skip
        return m.pi[i, k] == m.pi[j, k]


def add_label_order(m: pyo.ConcreteModel, labelling: AdmissiblePairs) -> None:
    """Number interchangeable clusters by their smallest member.

    Cluster k, next after h in its class, may hold point i only if h holds a point before i.
    """
    following = {k: h for ks in labelling.interchangeable for h, k in itertools.pairwise(ks)}

    @m.Constraint(m.PAIRS, doc="interchangeable clusters in order of their smallest member")
    def label_order(m, i, k):
        if k not in following:
            return pyo.Constraint.Skip
        h = following[k]
        return m.pi[i, k] <= pyo.quicksum(m.pi[j, h] for j in m.members[h] if j < i)


def labels_of(m: pyo.ConcreteModel) -> np.ndarray:
    """Labels read from the solved memberships: for each point the cluster of its largest pi."""
    labels = np.full(len(m.POINTS), -1)
    best = np.full(len(m.POINTS), -np.inf)
    for (i, k), var in m.pi.items():
        if var.value is not None and var.value > best[i]:
            labels[i], best[i] = k, var.value
    return labels


def set_labels(m: pyo.ConcreteModel, labels: np.ndarray) -> None:
    """Give the memberships the values of a partition, for solvers that start from one."""
    for (i, k), var in m.pi.items():
        if not var.fixed:
            var.set_value(int(labels[i] == k), skip_validation=True)
    if m.component("cardinality") is not None:  # Eq. 10 as printed, which counts the members
        for k in m.CLUSTERS:
            size = sum(m.weight[i] for i in m.members[k] if labels[i] == k)
            m.n[k].set_value(size, skip_validation=True)


def in_order(instance: Instance, labelling: AdmissiblePairs, labels: np.ndarray) -> np.ndarray:
    """The same partition with its clusters named as a model with this labelling names them.

    The cluster of anchor k is cluster k. Clusters of equal radius without an anchor are numbered
    by their smallest member.

    >>> line = Instance([[0.0], [1.0], [5.0]], 2)
    >>> in_order(line, AdmissiblePairs.full(line), np.array([1, 1, 0])).tolist()
    [0, 0, 1]
    """
    labels, k_max = np.asarray(labels), instance.n_clusters
    name = np.full(k_max, -1)
    for k, anchor in enumerate(labelling.anchors):
        name[labels[anchor]] = k
    first = np.array([np.argmax(labels == k) for k in range(k_max)])
    for radius in np.unique(instance.radii):
        same = np.flatnonzero(instance.radii == radius)
        old = [k for k in same if name[k] < 0]
        new = [k for k in same if k >= len(labelling.anchors)]
        for k, fresh in zip(sorted(old, key=first.__getitem__), new, strict=True):
            name[k] = fresh
    return name[labels]
