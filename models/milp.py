"""Radius-constrained k-means as a mixed-integer program: Eq. 8-11, and its exact linearisation.

``form="verbatim"``, as printed (a ratio of a quadratic: MINLP):

    min   sum_k 1/n_k sum_{i<j} d_ij pi_ik pi_jk                                       (Eq. 8)
    s.t.  pi_ik in {0,1},  n_k integer,  1 <= n_k <= N                                 (Eq. 9)
          sum_i pi_ik = n_k,  sum_k n_k = N,  sum_k pi_ik = 1                          (Eq. 10)
          d_ij pi_ik pi_jk <= 4 r_k^2                                                  (Eq. 11)

The double sum over i, j with its factor 1/2 is written once over i < j.

``form="linear"``, the same set of partitions and the same objective for any MILP solver. With
v_k = 1/n_k, w_ik = pi_ik / n_k and z_ijk = pi_ik pi_jk / n_k for compatible i < j:

    min   sum_k sum_{i<j} d_ij z_ijk
    s.t.  sum_i w_ik = 1,   w_ik <= pi_ik,   w_ik <= v_k,   w_ik >= v_k - (1 - pi_ik)
          z_ijk <= w_ik,   z_ijk <= w_jk,
          w_ik + sum_j z_ijk = pi_ik                                             (row sums)

The row sums say pi_ik n_k / n_k = pi_ik; they carry the bound. z_ijk of a conflicting pair is
zero and is not created. For binary pi the row sums leave z_ijk no room below 1/n_k: the n_k - 1
partners of i in cluster k, at most 1/n_k each, must add up to 1 - 1/n_k. So the lower sides

          z_ijk >= w_ik - (1 - pi_jk),   z_ijk >= w_jk - (1 - pi_ik)

are needed only when the row sums are left out, and are written only then: HiGHS proves two moons
with K=17 three times as fast without them.

Differences from the paper: only admissible pairs (i, k) get a variable; conflicts may be stated
as edges or cliques instead of Eq. 11; must-links and the order of interchangeable labels are
added where the instance has them.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.conflicts import Labelling, conflict_matrix
from radcluster.errors import InputError
from radcluster.instance import Instance
from radcluster.models import assignment

#: The class of program that each form is.
PROBLEM_CLASS = {"linear": "MILP", "verbatim": "MINLP"}


def build(
    instance: Instance,
    labelling: Labelling | None = None,
    *,
    form: str = "linear",
    constraints: str | None = None,
    row_sums: bool = True,
) -> pyo.ConcreteModel:
    """Eq. 8-11 for this instance.

    Parameters
    ----------
    labelling : Labelling, optional
        Admissible pairs; all of them when omitted.
    form : {"linear", "verbatim"}
    constraints : {"clique", "conflict", "quadratic"}, optional
        How Eq. 11 is stated; by default ``clique`` for the linear form, ``quadratic`` (as
        printed) for the verbatim one.
    row_sums : bool
        Whether the linear form has its row sums; without them its bound is weak.

    Examples
    --------
    >>> m = build(Instance([[0.0], [1.0], [5.0]], n_clusters=2, radius=0.5))
    >>> len(m.pi), len(m.z)
    (6, 2)
    """
    if form not in PROBLEM_CLASS:
        raise InputError(f"form must be one of {', '.join(PROBLEM_CLASS)}: {form!r}")
    if form == "linear" and constraints == "quadratic":
        raise InputError("the linear form takes constraints 'conflict' or 'clique'")
    labelling = labelling or Labelling.full(instance)
    m = pyo.ConcreteModel(name=f"milp:{form}")
    assignment.add_memberships(m, labelling)
    assignment.add_partition(m, labelling)
    if form == "verbatim":
        assignment.add_conflicts(m, instance, constraints or "quadratic")
        _add_cardinalities(m, instance)
        _add_fractional_objective(m, instance)
    else:
        assignment.add_conflicts(m, instance, constraints or "clique")
        _add_shares(m)
        _add_products(m, instance)
        if row_sums:
            _add_row_sums(m)
        else:
            _add_product_lower_sides(m)
    if len(instance.must_link):
        assignment.add_must_links(m, instance)
    if labelling.interchangeable:
        assignment.add_label_order(m, labelling)
    return m


def _add_cardinalities(m, instance):
    m.n = pyo.Var(m.CLUSTERS, domain=pyo.Integers, bounds=(1, instance.n_points))

    @m.Constraint(m.CLUSTERS, doc="Eq. 10: n_k counts the members")
    def cardinality(m, k):
        return pyo.quicksum(m.pi[i, k] for i in m.members[k]) == m.n[k]

    m.all_points = pyo.Constraint(expr=pyo.quicksum(m.n.values()) == instance.n_points)


def _add_fractional_objective(m, instance):
    d = instance.sq_distances

    def scatter(k):
        members = m.members[k]
        return pyo.quicksum(
            float(d[i, j]) * m.pi[i, k] * m.pi[j, k]
            for a, i in enumerate(members)
            for j in members[a + 1 :]
        )

    @m.Objective(doc="Eq. 8")
    def within_cluster_scatter(m):
        return pyo.quicksum(scatter(k) / m.n[k] for k in m.CLUSTERS)


def _add_shares(m):
    """v_k = 1/n_k and w_ik = pi_ik / n_k."""
    m.v = pyo.Var(m.CLUSTERS, bounds=(0, 1))
    m.w = pyo.Var(m.PAIRS, bounds=(0, 1))

    @m.Constraint(m.CLUSTERS, doc="the shares of a cluster add up to one")
    def shares(m, k):
        return pyo.quicksum(m.w[i, k] for i in m.members[k]) == 1

    @m.Constraint(m.PAIRS, doc="w = 0 where pi = 0")
    def share_of_member(m, i, k):
        return m.w[i, k] <= m.pi[i, k]

    @m.Constraint(m.PAIRS, doc="w <= v")
    def share_at_most(m, i, k):
        return m.w[i, k] <= m.v[k]

    @m.Constraint(m.PAIRS, doc="w = v where pi = 1")
    def share_at_least(m, i, k):
        return m.w[i, k] >= m.v[k] - (1 - m.pi[i, k])


def _add_products(m, instance):
    """z_ijk = pi_ik pi_jk / n_k over compatible pairs, and the objective in them."""
    d = instance.sq_distances
    m.TRIPLES = pyo.Set(dimen=3, initialize=_compatible_triples(m, instance))
    m.z = pyo.Var(m.TRIPLES, bounds=(0, 1))

    @m.Constraint(m.TRIPLES)
    def product_at_most_i(m, i, j, k):
        return m.z[i, j, k] <= m.w[i, k]

    @m.Constraint(m.TRIPLES)
    def product_at_most_j(m, i, j, k):
        return m.z[i, j, k] <= m.w[j, k]

    @m.Objective(doc="Eq. 8, linear in z")
    def within_cluster_scatter(m):
        return pyo.quicksum(float(d[i, j]) * z for (i, j, k), z in m.z.items())


def _compatible_triples(m, instance):
    triples = []
    for k, members in m.members.items():
        points = np.array(members, dtype=int)
        apart = conflict_matrix(instance, k)[np.ix_(points, points)]
        for a, b in np.argwhere(np.triu(~apart, 1)):
            triples.append((members[a], members[b], k))
    return triples


def _add_row_sums(m):
    rows = {pair: [] for pair in m.PAIRS}
    for (i, j, k), z in m.z.items():
        rows[i, k].append(z)
        rows[j, k].append(z)

    @m.Constraint(m.PAIRS, doc="sum_j z_ijk + w_ik = pi_ik")
    def row_sum(m, i, k):
        return m.w[i, k] + pyo.quicksum(rows[i, k]) == m.pi[i, k]


def _add_product_lower_sides(m):
    @m.Constraint(m.TRIPLES)
    def product_at_least_i(m, i, j, k):
        return m.z[i, j, k] >= m.w[i, k] - (1 - m.pi[j, k])

    @m.Constraint(m.TRIPLES)
    def product_at_least_j(m, i, j, k):
        return m.z[i, j, k] >= m.w[j, k] - (1 - m.pi[i, k])
