"""The relaxed semidefinite program of Step 1 (Eq. 12), in three forms that share one block.

Every form states [[X, y], [y', s]] >= 0 through :class:`radcluster.schur.SchurBlock`; a point i is
left out of the block of a cluster k that it may not join.

``form="paper"`` is Eq. 12 as printed, with given cardinalities: :mod:`radcluster.models.sdp_paper`.

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
from pyomo.common.gc_manager import PauseGC

from radcluster.conflicts import Labelling
from radcluster.errors import InputError
from radcluster.instance import Instance
from radcluster.models import merged, sdp_paper
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
        raise InputError("rlt, card_rows and cardinalities are options of the form paper")
    if form != "perspective" and border:
        raise InputError("border is an option of the form perspective")
    data = merged.merge(instance, labelling)
    _check_admissible(data)
    m = pyo.ConcreteModel(name=f"sdp:{form}")
    # Hundreds of thousands of small objects, none of them garbage.
    with PauseGC():
        if form == "peng_wei":
            _add_peng_wei(m, instance, data)
        elif form == "perspective":
            add_clusters(m, instance, data, reduce)
            _add_perspective(m, instance, data, border)
        else:
            sizes = sdp_paper.check_cardinalities(instance, cardinalities)
            add_clusters(m, instance, data, reduce, sizes)
            sdp_paper.add_program(m, instance, data, sizes, rlt=rlt, card_rows=card_rows)
    return m


def _check_admissible(data: merged.Merged):
    if not data.allowed.any(axis=1).all():
        stuck = data.names[int(np.argmin(data.allowed.any(axis=1)))]
        raise InputError(f"point {stuck} has no admissible cluster")
    if not data.allowed.any(axis=0).all():
        hollow = int(np.argmin(data.allowed.any(axis=0)))
        raise InputError(f"cluster {hollow} has no admissible point")


def add_clusters(m, instance: Instance, data: merged.Merged, reduce: bool, sizes=None):
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
        for i, terms in data.row_terms(m.Z[k]).items()
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
        return pyo.quicksum(len(m.stands_for[k]) * data.half_inner(m.Z[k]) for k in m.CLUSTERS)


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
    rows = data.row_terms(m.Z)

    @m.Constraint(names, doc="Z 1 = 1")
    def row_sum(m, i):
        return pyo.quicksum(rows[i]) == 1

    @m.Constraint(doc="tr Z = K")
    def trace(m):
        return pyo.quicksum(w[g] * m.Z.X[i, i] for g, i in enumerate(names)) == instance.n_clusters

    @m.Objective(doc="1/2 <D, Z>")
    def within_cluster_scatter(m):
        return data.half_inner(m.Z)


def _zero_entries(names, groups, apart) -> dict:
    """The pairs of names, in block order, whose entry is the constant zero."""
    groups = list(groups)
    a, b = np.nonzero(np.triu(apart[np.ix_(groups, groups)], 1))
    return {(names[groups[p]], names[groups[q]]): 0.0 for p, q in zip(a, b, strict=True)}
