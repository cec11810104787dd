"""The relaxed semidefinite program as the paper prints it (Eq. 14): ``form="paper"``.

Memberships are b_i^k = 2 pi_i^k - 1 in [-1, 1], and M^k relaxes b^k b^k'. The cardinalities n_k are
*given* (default N/K), because the objective is a sum of ratios when they are free. So the value
bounds the cost of partitions with these cardinalities, and of no others.

    min   1/8 <D, sum_k 1/n_k (M^k + 11' + b^k 1' + 1 b^k')>                            (Eq. 14)
    s.t.  [[M^k, b^k], [b^k', 1]] >= 0,   diag M^k = 1,   1'b^k = 2 n_k - N,
          sum_k b^k = (2 - K) 1,   d_ij (m_ij^k + 1 + b_i^k + b_j^k) <= 16 r_k^2
    rlt   m_ij + 1 + b_i + b_j >= 0                                      ("lower" and "all")
          m_ij + 1 - b_i - b_j >= 0,   m_ij <= 1 - |b_i - b_j|                       ("all")
    card_rows   M^k 1 = (2 n_k - N) b^k

With weights, sums over points are weighted, and N is the total weight.

A point that may not join k has b_i^k = -1 and m_ij = -b_j, and adds nothing to the objective.

Differences from the paper: the radius rows are divided by d_ij, their right-hand sides are at most
4, which the left sides cannot exceed, and 0 for a cannot-link pair.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.set import SetOf
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.core.expr.relational_expr import RangedExpression

from radcluster.conic.schur import SchurBlock
from radcluster.errors import InputError
from radcluster.models.parts import groups
from radcluster.problem.instance import Instance, diameter_limit


def add_program(m, instance: Instance, data: groups.Groups, sizes, *, rlt: str, card_rows: bool):
    """Eq. 14 over the clusters and pairs of ``m``; see :func:`radcluster.models.sdp.build`."""
    _add_lift(m, instance, data, sizes)
    _add_products(m, instance, data, rlt)
    if card_rows:
        _add_cardinality_rows(m, instance, data, sizes)


def check_cardinalities(instance: Instance, cardinalities) -> np.ndarray:
    """The n_k as an array; N/K each when none are given, N the total weight."""
    n, k, least = float(instance.weights.sum()), instance.n_clusters, float(instance.weights.min())
    if cardinalities is None:
        return np.full(k, n / k)
    try:
        sizes = np.asarray(cardinalities, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"cardinalities must be numbers, got {cardinalities!r}") from None
    fits = sizes.shape == (k,) and sizes.min() >= least and abs(sizes.sum() - n) <= 1e-9 * n
    if not fits:
        raise InputError(f"cardinalities must be {k} numbers >= {least:g} that add up to {n:g}")
    return sizes


def _add_lift(m, instance: Instance, data: groups.Groups, sizes):
    total = float(data.weights.sum())
    m.b = pyo.Var(m.PAIRS, bounds=(-1, 1))

    def block(b, k):
        labels = m.members[k]
        weights = dict.fromkeys([*labels, None], 1.0)
        b.build(order=labels, y=lambda i: m.b[i, k], s=1, trace=(weights, len(labels) + 1.0))

    m.M = SchurBlock(m.CLUSTERS, rule=block, doc="[[M, b], [b', 1]] >= 0")

    @m.Constraint(m.PAIRS, doc="diag M = 1")
    def diagonal(m, i, k):
        return m.M[k].X[i, i] == 1

    @m.Constraint(m.CLUSTERS, doc="1'b = 2n - N, b = -1 where inadmissible")
    def cardinality(m, k):
        outside = total - sum(m.weight[i] for i in m.members[k])
        inside = pyo.quicksum(m.weight[i] * m.b[i, k] for i in m.members[k])
        return inside == 2 * float(sizes[k]) - total + outside

    @m.Constraint(data.names, doc="sum_k b^k = 2 - K, b = -1 where inadmissible")
    def one_cluster(m, i):
        copies = {k: len(m.stands_for[k]) for k in m.clusters_of[i]}
        return pyo.quicksum(c * m.b[i, k] for k, c in copies.items()) == 2 - sum(copies.values())

    @m.Objective(doc="Eq. 14")
    def within_cluster_scatter(m):
        return pyo.quicksum(
            len(m.stands_for[k]) / (8 * float(sizes[k])) * _lifted_inner(m, k, data)
            for k in m.CLUSTERS
        )


def _lifted_inner(m, k, data: groups.Groups):
    """<D, M + 11' + b1' + 1b'> over the points admissible in k."""
    members = m.members[k]
    groups = data.positions(members)
    scatter = data.scatter[np.ix_(groups, groups)]
    row_sums = scatter.sum(axis=1)
    b = pyo.quicksum(2 * row_sums[p] * m.b[i, k] for p, i in enumerate(members))
    return 2 * data.half_inner(m.M[k]) + b + float(scatter.sum())


def _add_products(m, instance: Instance, data: groups.Groups, rlt: str):
    """Bounds on m_ij + 1 + b_i + b_j, and with ``rlt="all"`` the other products of bounds."""
    # As they are: Pyomo would look at each of them, for nothing.
    pairs = [(k, i, j) for k in m.CLUSTERS for i, j in m.M[k].X if i != j]
    m.ENTRIES = SetOf(dict.fromkeys(pairs), doc="pairs of points within a cluster")
    least = None if rlt == "none" else -1.0
    most = {k: _most(instance, data, k).tolist() for k in m.CLUSTERS}
    position = data.position

    # Looked up once: this family has most of the model's rows.
    products = {k: dict(m.M[k].X.items()) for k in m.CLUSTERS}
    single = {k: {i: m.b[i, k] for i in m.members[k]} for k in m.CLUSTERS}

    # One range for both families: (1 + b_i)(1 + b_j) is zero or more, and at most 16 r^2 / d.
    @m.Constraint(m.ENTRIES, doc="[rlt: 0 <=]  m + 1 + b_i + b_j  <=  16 r^2 / d")
    def radius(m, k, i, j):
        upper = most[k][position[i]][position[j]]
        if least is None and upper is None:
            return pyo.Constraint.Skip
        body = LinearExpression([products[k][i, j], single[k][i], single[k][j]])
        if least is None or upper is None:
            return least, body, upper
        return RangedExpression((least, body, upper), False)

    if rlt == "all":
        _add_other_products(m)


def _most(instance: Instance, data: groups.Groups, k: int) -> np.ndarray:
    """16 r^2 / d_ij - 1, for a cannot-link 0 - 1; None where nothing limits the pair."""
    limit = 4 * float(diameter_limit(instance.radii[k]))
    if np.isfinite(limit):
        # The left side is at most 4 by diag M = 1; a larger number would only scale badly.
        wide = data.widest > limit / 4
        most = np.where(wide, limit / np.where(wide, data.widest, 1.0), 4.0) - 1.0
    else:
        most = np.full(data.widest.shape, None)
    for g, h in data.group_of[instance.cannot_link]:
        most[g, h] = most[h, g] = -1.0
    return most


def _add_other_products(m):
    @m.Constraint(m.ENTRIES, doc="(1 - b_i)(1 - b_j) >= 0")
    def rlt_upper(m, k, i, j):
        return m.M[k].X[i, j] - m.b[i, k] - m.b[j, k] >= -1

    @m.Constraint(m.ENTRIES, doc="(1 + b_i)(1 - b_j) >= 0")
    def rlt_mixed_i(m, k, i, j):
        return m.M[k].X[i, j] - m.b[i, k] + m.b[j, k] <= 1

    @m.Constraint(m.ENTRIES, doc="(1 - b_i)(1 + b_j) >= 0")
    def rlt_mixed_j(m, k, i, j):
        return m.M[k].X[i, j] + m.b[i, k] - m.b[j, k] <= 1


def _add_cardinality_rows(m, instance: Instance, data: groups.Groups, sizes):
    total = float(data.weights.sum())
    rows = {k: data.row_terms(m.M[k]) for k in m.CLUSTERS}

    @m.Constraint(m.PAIRS, doc="M 1 = (2n - N) b, m_ij = -b_i where j is inadmissible")
    def cardinality_row(m, i, k):
        outside = total - sum(m.weight[i] for i in m.members[k])
        factor = 2 * float(sizes[k]) - total + outside
        return pyo.quicksum(rows[k][i]) == factor * m.b[i, k]
