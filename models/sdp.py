"""The relaxed semidefinite program of Step 1 (Eq. 12), in three forms that share one block.

Every form states [[X, y], [y', s]] >= 0 through :class:`radcluster.schur.SchurBlock`; a point i is
left out of the block of a cluster k that it may not join.

``form="paper"``, as printed. Memberships are b_i^k = 2 pi_i^k - 1 in [-1, 1], and M^k relaxes
b^k b^k'; the cardinalities n_k are *given* (default N/K), because the paper's objective is a sum of
ratios when they are free. So its value bounds the cost of partitions with these cardinalities only.

    min   1/8 <D, sum_k 1/n_k (M^k + 11' + b^k 1' + 1 b^k')>                            (Eq. 12)
    s.t.  [[M^k, b^k], [b^k', 1]] >= 0,   diag M^k = 1,   1'b^k = 2 n_k - N,
          sum_k b^k = (2 - K) 1,   d_ij (m_ij^k + 1 + b_i^k + b_j^k) <= 16 r_k^2
    rlt   m_ij + 1 + b_i + b_j >= 0                                      ("lower" and "all")
          m_ij + 1 - b_i - b_j >= 0,   m_ij <= 1 - |b_i - b_j|                       ("all")
    card_rows   M^k 1 = (2 n_k - N) b^k

A point that may not join k has b_i^k = -1 and m_ij = -b_j, and adds nothing to the objective.

``form="perspective"``, with free cardinalities. Z^k = pi^k pi^k' / n_k (Charnes-Cooper, one block
at a time; no common scaling exists, a sum of ratios is not one ratio):

    min   1/2 <D, sum_k Z^k>
    s.t.  [[Z^k, pi^k], [pi^k', n_k]] >= 0,   tr Z^k = 1,   Z^k 1 = pi^k,   1'pi^k = n_k >= 1,
          Z^k >= 0,   Z_ij^k = 0 on conflicts,   0 <= pi <= 1,   sum_k pi^k = 1

Z^k 1 = pi^k and 1'pi^k = n_k put (1, -1) into the kernel of every such block: the border says no
more than Z^k >= 0 (psd), and leaves the block without an interior, on which interior-point methods
stall. So the default states Z^k >= 0 with pi = Z 1 and n = 1'pi as expressions, where the bounds on
pi and n follow from the rest; ``border=True`` states the program as above, with the same value.

``form="peng_wei"``, without labels: Z = sum_k Z^k (Peng and Wei 2007, with the conflicts):

    min   1/2 <D, Z>   s.t.  Z >= 0 (psd),   Z 1 = 1,   tr Z = K,   Z >= 0,   Z_ij = 0 on conflicts

A labelling enters it only as further pairs that share no admissible cluster.

``reduce=True`` merges clusters that are told apart by nothing (same admissible points, radius and
cardinality) into one block that stands for all of them: averaging a solution over permutations of
their labels changes neither feasibility nor value. Must-linked points are one weighted point
(:mod:`radcluster.models.merged`), under the number of the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo

from radcluster.conflicts import Labelling
from radcluster.errors import InputError
from radcluster.instance import Instance, diameter_limit
from radcluster.models import merged
from radcluster.schur import SchurBlock

FORMS = ("perspective", "paper", "peng_wei")
RLT = ("none", "lower", "all")


def build(
    instance: Instance,
    labelling: Labelling | None = None,
    *,
    form: str = "perspective",
    rlt: str = "none",
    card_rows: bool = False,
    cardinalities: Sequence[float] | None = None,
    border: bool = False,
    reduce: bool = False,
) -> pyo.ConcreteModel:
    """The relaxed program of an instance.

    Parameters
    ----------
    labelling : Labelling, optional
        Admissible pairs, e.g. anchored ones; all of them when omitted.
    form : {"perspective", "paper", "peng_wei"}
    rlt : {"none", "lower", "all"}
        Reformulation-linearisation inequalities of the paper form.
    card_rows : bool
        Whether the paper form has M 1 = (2 n - N) b.
    cardinalities : sequence of K numbers, optional
        The n_k of the paper form, which add up to N; N/K each when omitted.
    border : bool
        Whether the perspective form states its redundant border.
    reduce : bool
        One block for clusters that nothing tells apart.

    Returns
    -------
    ConcreteModel
        With the set ``CLUSTERS``, memberships ``pi`` (perspective) or ``b`` (paper), and the
        Schur block ``Z`` (perspective, peng_wei) or ``M`` (paper).

    Examples
    --------
    >>> m = build(Instance([[0.0], [1.0], [5.0]], n_clusters=2, radius=0.5))
    >>> len(m.pi), len(m.Z[0].X)
    (6, 4)
    """
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}: {form!r}")
    if rlt not in RLT:
        raise InputError(f"rlt must be one of {', '.join(RLT)}: {rlt!r}")
    if form != "paper" and (rlt != "none" or card_rows or cardinalities is not None):
        raise InputError("rlt, card_rows and cardinalities are options of form='paper'")
    if form != "perspective" and border:
        raise InputError("border is an option of form='perspective'")
    data = merged.merge(instance, labelling)
    _check_admissible(data)
    m = pyo.ConcreteModel(name=f"sdp:{form}")
    if form == "peng_wei":
        _add_peng_wei(m, instance, data)
        return m
    sizes = _cardinalities(instance, cardinalities) if form == "paper" else None
    _add_clusters(m, instance, data, sizes, reduce)
    if form == "perspective":
        _add_perspective(m, instance, data, border)
    else:
        _add_paper(m, instance, data, sizes)
        _add_radius(m, instance, data)
        if rlt != "none":
            _add_rlt(m, every=rlt == "all")
        if card_rows:
            _add_cardinality_rows(m, instance, data, sizes)
    return m


def _check_admissible(data: merged.Merged):
    if not data.allowed.any(axis=1).all():
        stuck = data.names[int(np.argmin(data.allowed.any(axis=1)))]
        raise InputError(f"point {stuck} has no admissible cluster")
    if not data.allowed.any(axis=0).all():
        hollow = int(np.argmin(data.allowed.any(axis=0)))
        raise InputError(f"cluster {hollow} has no admissible point")


def _cardinalities(instance, cardinalities) -> np.ndarray:
    n, k = instance.n_points, instance.n_clusters
    if cardinalities is None:
        return np.full(k, n / k)
    sizes = np.asarray(cardinalities, dtype=float)
    if sizes.shape != (k,) or sizes.min() < 1 or abs(sizes.sum() - n) > 1e-9 * n:
        raise InputError(f"cardinalities must be {k} numbers >= 1 that add up to {n}")
    return sizes


def _add_clusters(m, instance: Instance, data: merged.Merged, sizes, reduce: bool):
    """CLUSTERS (one of each class when reduced), how many each stands for, and their pairs."""
    classes: dict = {}
    for k in range(instance.n_clusters):
        size = None if sizes is None else float(sizes[k])
        same = (data.allowed[:, k].tobytes(), float(instance.radii[k]), size)
        classes.setdefault(same if reduce else k, []).append(k)
    m.stands_for = {clusters[0]: tuple(clusters) for clusters in classes.values()}
    m.CLUSTERS = pyo.Set(initialize=list(m.stands_for))
    m.members = {k: data.members(k) for k in m.CLUSTERS}
    m.PAIRS = pyo.Set(
        dimen=2,
        initialize=[(data.names[g], k) for k, groups in m.members.items() for g in groups],
    )
    m.clusters_of = {i: [] for i in data.names}
    for i, k in m.PAIRS:
        m.clusters_of[i].append(k)


def _add_perspective(m, instance: Instance, data: merged.Merged, border: bool):
    names, w, n_points = data.names, data.weights.tolist(), instance.n_points
    largest = n_points - instance.n_clusters + 1
    if border:
        m.pi = pyo.Var(m.PAIRS, bounds=(0, 1))
        m.n = pyo.Var(m.CLUSTERS, bounds=(1, largest))

    def block(b, k):
        groups = m.members[k]
        corner = {"y": lambda i: m.pi[i, k], "s": m.n[k]} if border else {}
        weights = {names[g]: w[g] for g in groups} | {None: 1.0 / n_points}
        b.build(
            order=[names[g] for g in groups],
            X=_zero_entries(names, groups, data.conflicts[k]),
            within=pyo.NonNegativeReals,
            trace=(weights, 1.0 + border * largest / n_points),
            **corner,
        )

    m.Z = SchurBlock(m.CLUSTERS, rule=block, doc="Z = pi pi' / n, relaxed")
    row_sums = {
        (i, k): pyo.quicksum(terms)
        for k in m.CLUSTERS
        for i, terms in _row_terms(m.Z[k], names, w).items()
    }
    if border:
        _add_border_rows(m, data, row_sums)
    else:
        m.pi = pyo.Expression(m.PAIRS, initialize=row_sums, doc="pi = Z 1")

    @m.Constraint(m.CLUSTERS, doc="tr Z = 1")
    def trace(m, k):
        return pyo.quicksum(w[g] * m.Z[k].X[names[g], names[g]] for g in m.members[k]) == 1

    @m.Constraint(names, doc="sum_k pi_ik = 1")
    def one_cluster(m, i):
        return pyo.quicksum(len(m.stands_for[k]) * m.pi[i, k] for k in m.clusters_of[i]) == 1

    @m.Objective(doc="1/2 <D, sum_k Z^k>")
    def within_cluster_scatter(m):
        return pyo.quicksum(
            len(m.stands_for[k]) * _half_inner(m.Z[k], data.scatter, names) for k in m.CLUSTERS
        )


def _add_border_rows(m, data: merged.Merged, row_sums):
    names, w = data.names, data.weights.tolist()

    @m.Constraint(m.PAIRS, doc="Z 1 = pi")
    def row_sum(m, i, k):
        return row_sums[i, k] == m.pi[i, k]

    @m.Constraint(m.CLUSTERS, doc="1'pi = n")
    def cardinality(m, k):
        return pyo.quicksum(w[g] * m.pi[names[g], k] for g in m.members[k]) == m.n[k]


def _add_peng_wei(m, instance: Instance, data: merged.Merged):
    names, w = data.names, data.weights.tolist()
    shared = data.allowed.astype(float) @ data.allowed.T.astype(float) > 0
    widest_radius = int(np.argmax(instance.radii))
    apart = data.conflicts[widest_radius] | ~shared
    np.fill_diagonal(apart, False)
    m.Z = SchurBlock(
        order=names,
        X=_zero_entries(names, range(len(names)), apart),
        within=pyo.NonNegativeReals,
        trace=(dict(zip(names, w, strict=True)), float(instance.n_clusters)),
        doc="Z >= 0",
    )
    rows = _row_terms(m.Z, names, w)

    @m.Constraint(names, doc="Z 1 = 1")
    def row_sum(m, i):
        return pyo.quicksum(rows[i]) == 1

    @m.Constraint(doc="tr Z = K")
    def trace(m):
        return pyo.quicksum(w[g] * m.Z.X[i, i] for g, i in enumerate(names)) == instance.n_clusters

    @m.Objective(doc="1/2 <D, Z>")
    def within_cluster_scatter(m):
        return _half_inner(m.Z, data.scatter, names)


def _add_paper(m, instance: Instance, data: merged.Merged, sizes):
    names, w, n_points = data.names, data.weights.tolist(), instance.n_points
    m.b = pyo.Var(m.PAIRS, bounds=(-1, 1))

    def block(b, k):
        labels = [names[g] for g in m.members[k]]
        weights = dict.fromkeys([*labels, None], 1.0)
        b.build(order=labels, y=lambda i: m.b[i, k], s=1, trace=(weights, len(labels) + 1.0))

    m.M = SchurBlock(m.CLUSTERS, rule=block, doc="[[M, b], [b', 1]] >= 0")

    @m.Constraint(m.PAIRS, doc="diag M = 1")
    def diagonal(m, i, k):
        return m.M[k].X[i, i] == 1

    @m.Constraint(m.CLUSTERS, doc="1'b = 2n - N, b = -1 where inadmissible")
    def cardinality(m, k):
        outside = n_points - sum(w[g] for g in m.members[k])
        inside = pyo.quicksum(w[g] * m.b[names[g], k] for g in m.members[k])
        return inside == 2 * float(sizes[k]) - n_points + outside

    @m.Constraint(names, doc="sum_k b^k = 2 - K, b = -1 where inadmissible")
    def one_cluster(m, i):
        copies = {k: len(m.stands_for[k]) for k in m.clusters_of[i]}
        return pyo.quicksum(c * m.b[i, k] for k, c in copies.items()) == 2 - sum(copies.values())

    @m.Objective(doc="Eq. 12")
    def within_cluster_scatter(m):
        return pyo.quicksum(
            len(m.stands_for[k]) / (8 * float(sizes[k])) * _lifted_inner(m, k, data)
            for k in m.CLUSTERS
        )


def _lifted_inner(m, k, data: merged.Merged):
    """<D, M + 11' + b1' + 1b'> over the points admissible in k."""
    names, groups = data.names, m.members[k]
    scatter = data.scatter[np.ix_(groups, groups)]
    row_sums = scatter.sum(axis=1)
    b = pyo.quicksum(2 * row_sums[p] * m.b[names[g], k] for p, g in enumerate(groups))
    return 2 * _half_inner(m.M[k], data.scatter, names) + b + float(scatter.sum())


def _add_radius(m, instance: Instance, data: merged.Merged):
    """d_ij (m_ij + 1 + b_i + b_j) <= 16 r^2; for a cannot-link the left factor is zero."""
    names, linked = data.names, set(map(tuple, instance.cannot_link.tolist()))
    position = {i: g for g, i in enumerate(names)}
    forbidden = {tuple(sorted((int(data.group_of[i]), int(data.group_of[j])))) for i, j in linked}
    limits = (4 * diameter_limit(instance.radii)).tolist()
    widest = data.widest.tolist()

    def row(m, k, i, j):
        lifted = m.M[k].X[i, j] + m.b[i, k] + m.b[j, k]
        g, h = position[i], position[j]
        if (g, h) in forbidden:
            return lifted <= -1
        d = widest[g][h]
        return d * lifted <= limits[k] - d

    finite = [k for k in m.CLUSTERS if np.isfinite(limits[k]) or forbidden]
    pairs = [
        (k, i, j)
        for k in finite
        for i, j in m.M[k].X
        if i != j and (np.isfinite(limits[k]) or (position[i], position[j]) in forbidden)
    ]
    m.radius = pyo.Constraint(pairs, rule=row, doc="d (m + 1 + b_i + b_j) <= 16 r^2")


def _add_rlt(m, every: bool):
    pairs = [(k, i, j) for k in m.CLUSTERS for i, j in m.M[k].X if i != j]

    @m.Constraint(pairs, doc="(1 + b_i)(1 + b_j) >= 0")
    def rlt_lower(m, k, i, j):
        return m.M[k].X[i, j] + m.b[i, k] + m.b[j, k] >= -1

    if not every:
        return

    @m.Constraint(pairs, doc="(1 - b_i)(1 - b_j) >= 0")
    def rlt_upper(m, k, i, j):
        return m.M[k].X[i, j] - m.b[i, k] - m.b[j, k] >= -1

    @m.Constraint(pairs, doc="(1 + b_i)(1 - b_j) >= 0")
    def rlt_mixed_i(m, k, i, j):
        return m.M[k].X[i, j] - m.b[i, k] + m.b[j, k] <= 1

    @m.Constraint(pairs, doc="(1 - b_i)(1 + b_j) >= 0")
    def rlt_mixed_j(m, k, i, j):
        return m.M[k].X[i, j] + m.b[i, k] - m.b[j, k] <= 1


def _add_cardinality_rows(m, instance: Instance, data: merged.Merged, sizes):
    names, w = data.names, data.weights.tolist()
    rows = {k: _row_terms(m.M[k], names, w) for k in m.CLUSTERS}

    @m.Constraint(m.PAIRS, doc="M 1 = (2n - N) b, m_ij = -b_i where j is inadmissible")
    def cardinality_row(m, i, k):
        outside = instance.n_points - sum(w[g] for g in m.members[k])
        factor = 2 * float(sizes[k]) - instance.n_points + outside
        return pyo.quicksum(rows[k][i]) == factor * m.b[i, k]


def _zero_entries(names, groups, apart) -> dict:
    """The pairs of names, in block order, whose entry is the constant zero."""
    groups = list(groups)
    a, b = np.nonzero(np.triu(apart[np.ix_(groups, groups)], 1))
    return {(names[groups[p]], names[groups[q]]): 0.0 for p, q in zip(a, b, strict=True)}


def _row_terms(block, names, weights) -> dict[int, list]:
    """For each row of X, the terms of its weighted sum."""
    weight = dict(zip(names, weights, strict=True))
    terms: dict[int, list] = {i: [] for i in block.labels}
    for (i, j), x in block.X.items():
        terms[i].append(weight[j] * x)
        if i != j:
            terms[j].append(weight[i] * x)
    return terms


def _half_inner(block, scatter, names):
    """1/2 <D, X> over the variables of the block."""
    position = {i: g for g, i in enumerate(names)}
    scatter = scatter.tolist()
    return pyo.quicksum(
        (0.5 if i == j else 1.0) * scatter[position[i]][position[j]] * x
        for (i, j), x in block.X.items()
    )
