"""Radius-constrained k-means as a mixed-integer program: Eq. 8-11, and its exact linearisation.

``form="verbatim"``, as printed (a ratio of a quadratic: MINLP):

    min   sum_k 1/n_k sum_{i<j} d_ij pi_ik pi_jk                                       (Eq. 8)
    s.t.  pi_ik in {0,1},  n_k integer,  1 <= n_k <= N                                 (Eq. 9)
          sum_i pi_ik = n_k,  sum_k n_k = N,  sum_k pi_ik = 1                          (Eq. 10)
          d_ij pi_ik pi_jk <= 4 r_k^2                                                  (Eq. 11)

The double sum over i, j with its factor 1/2 is written once over i < j. With weights omega_i the
cardinality is n_k = sum_i omega_i pi_ik, N = sum_i omega_i, and d_ij counts omega_i omega_j times.

``form="linear"``, the same set of partitions and the same objective for any MILP solver. With
v_k = 1/n_k, w_ik = pi_ik / n_k and z_ijk = pi_ik pi_jk / n_k for compatible i < j:

    min   sum_k sum_{i<j} d_ij z_ijk
    s.t.  sum_i w_ik = 1,   w_ik <= pi_ik,   w_ik <= v_k,   w_ik >= v_k - (1 - pi_ik)
          z_ijk <= w_ik,   z_ijk <= w_jk,
          w_ik + sum_j z_ijk = pi_ik                                             (row sums)

With weights: sum_k sum_{i<j} omega_i omega_j d_ij z_ijk is minimised, sum_i omega_i w_ik = 1,
omega_i w_ik <= pi_ik, w_ik >= v_k - (1 - pi_ik) / min_j omega_j, and the row sums are
omega_i w_ik + sum_j omega_j z_ijk = pi_ik.

The row sums say pi_ik n_k / n_k = pi_ik; they carry the bound. z_ijk of a conflicting pair is
zero and is not created. For binary pi the row sums leave z_ijk no room below 1/n_k: the n_k - 1
partners of i in cluster k, at most 1/n_k each, must add up to 1 - 1/n_k. So the lower sides

          z_ijk >= w_ik - (1 - pi_jk),   z_ijk >= w_jk - (1 - pi_ik)      (1 / min omega for 1)

are needed only when the row sums are left out, and are written only then: HiGHS proves two moons
with K=17 three times as fast without them.

``radius="soft"`` prices what a pair exceeds the radius by instead of forbidding it, as soft radius
constraints do (Zhong 2006, which the paper cites). Then every pair of points has its z_ijk, and

    min   sum_k sum_{i<j} (d_ij + penalty max(0, d_ij - 4 r_k^2)) z_ijk

Differences from the paper: only admissible pairs (i, k) get a variable; conflicts may be stated
as edges or cliques instead of Eq. 11; must-links and the order of interchangeable labels are
added where the instance has them.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.errors import InputError
from radcluster.graph.conflicts import AdmissiblePairs, conflict_matrix
from radcluster.models.parts import assignment
from radcluster.models.parts.formulation import Formulation
from radcluster.problem.instance import Instance, diameter_limit

#: The class of program that each form is.
PROBLEM_CLASS = {"linear": "MILP", "verbatim": "MINLP"}


def build(
    instance: Instance,
    labelling: AdmissiblePairs | None = None,
    *,
    form: str = "linear",
    constraints: str | None = None,
    row_sums: bool = True,
    radius: str = "hard",
    penalty: float | None = None,
) -> pyo.ConcreteModel:
    """Eq. 8-11 for this instance.

    Deactivating ``m.radius`` does **not** give a model without the radius. The admissible pairs of
    ``labelling`` follow from the radius, and the linear form has no z_ijk for conflicting points,
    so the row sums still keep them apart. It only removes the rows that cut off fractional
    memberships. For a radius that may be exceeded at a price take ``radius="soft"``; for none at
    all, build with an instance whose radius is infinite.

    Parameters
    ----------
    labelling : AdmissiblePairs, optional
        Admissible pairs; all of them when omitted. A soft radius leaves every pair admissible, so
        it does not read this argument.
    form : {"linear", "verbatim"}
    constraints : {"clique", "conflict", "quadratic"}, optional
        How Eq. 11 is stated; by default ``clique`` for the linear form, ``quadratic`` (as
        printed) for the verbatim one.
    row_sums : bool
        Whether the linear form has its row sums; without them its bound is weak.
    radius : {"hard", "soft"}
        Whether Eq. 11 forbids a wide pair, or the objective prices it. Cannot-links stay hard.
    penalty : float, optional
        Price per unit of excess squared distance, for a soft radius only.

    Returns
    -------
    ConcreteModel
        ``m.members[k]`` lists the points i that have a ``pi[i, k]``; ``m.weight[i]`` is the
        weight of point i, 1 by default.

    Examples
    --------
    >>> m = build(Instance([[0.0], [1.0], [5.0]], n_clusters=2, radius=0.5))
    >>> len(m.pi), len(m.z)
    (6, 2)
    >>> m = build(Instance([[0.0], [1.0], [5.0]], 2, radius=0.5), radius="soft", penalty=10.0)
    >>> len(m.pi), len(m.z)
    (6, 6)
    """
    if form not in PROBLEM_CLASS:
        raise InputError(f"form must be one of {', '.join(PROBLEM_CLASS)}: {form!r}")
    if form == "linear" and constraints == "quadratic":
        raise InputError("the linear form takes constraints 'conflict' or 'clique'")
    _check_soft(radius, penalty)
    if radius == "soft":
        prices = pair_prices(instance, penalty)
        # What follows from the radius no longer holds; only the names of clusters may be ordered.
        labelling = AdmissiblePairs.full(instance, ordered=True)
        instance = instance.replace(radius=np.inf)
    else:
        prices = [_weighted(instance, instance.sq_distances)] * instance.n_clusters
        labelling = labelling or AdmissiblePairs.full(instance)
    m = Formulation(f"milp:{form}", __doc__)
    m.soft_radius = radius == "soft"
    assignment.add_memberships(m, instance, labelling)
    assignment.add_partition(m, labelling)
    if form == "verbatim":
        assignment.add_conflicts(m, instance, constraints or "quadratic")
        _add_cardinalities(m, instance)
        _add_fractional_objective(m, prices)
    else:
        assignment.add_conflicts(m, instance, constraints or "clique")
        _add_shares(m, instance)
        _add_products(m, instance, prices)
        if row_sums:
            _add_row_sums(m, instance)
        else:
            _add_product_lower_sides(m, instance)
    if len(instance.must_link):
        assignment.add_must_links(m, instance)
    if labelling.interchangeable:
        assignment.add_label_order(m, labelling)
    if not m.soft_radius:
        # What is minimised, and of which instance: an edited objective is recognised by it.
        m.squares = (m.within_cluster_scatter.expr, instance)
    return m


def n_products(instance: Instance, labelling: AdmissiblePairs) -> int:
    """How many z_ijk the linear form has, without building it."""
    total, known = 0, {}
    for k, radius in enumerate(instance.radii.tolist()):
        points = labelling.points_of(k)
        key = (radius, points.tobytes())
        if key not in known:
            together = ~conflict_matrix(instance, k)[np.ix_(points, points)]
            known[key] = int(together.sum() - len(points)) // 2
        total += known[key]
    return total


def _check_soft(radius, penalty):
    if radius not in ("hard", "soft"):
        raise InputError(f"radius must be 'hard' or 'soft', got {radius!r}")
    if radius == "hard" and penalty is not None:
        raise InputError("penalty is for radius='soft'")
    if radius == "soft" and not (penalty is not None and 0 <= penalty < np.inf):
        raise InputError(f"radius='soft' needs a penalty >= 0, got {penalty!r}")


def pair_prices(instance: Instance, penalty: float) -> list[np.ndarray]:
    """For each cluster k, the matrix d_ij + penalty max(0, d_ij - 4 r_k^2) of a soft radius.

    With weights, each entry counts omega_i omega_j times.
    """
    d = instance.sq_distances
    by_radius = {
        r: d if np.isinf(r) else d + penalty * np.where(d > diameter_limit(r), d - 4 * r**2, 0.0)
        for r in set(instance.radii.tolist())
    }
    return [_weighted(instance, by_radius[r]) for r in instance.radii.tolist()]


def _weighted(instance, matrix):
    """omega_i omega_j times each entry."""
    return instance.weights[:, None] * instance.weights * matrix


def _add_cardinalities(m, instance):
    omega, total = instance.weights.tolist(), float(instance.weights.sum())
    whole = all(weight.is_integer() for weight in omega)
    domain = pyo.Integers if whole else pyo.Reals
    m.n = pyo.Var(m.CLUSTERS, domain=domain, bounds=(min(omega), total))

    @m.Constraint(m.CLUSTERS, doc="Eq. 10: n_k counts the members")
    def cardinality(m, k):
        return pyo.quicksum(omega[i] * m.pi[i, k] for i in m.members[k]) == m.n[k]

    m.all_points = pyo.Constraint(expr=pyo.quicksum(m.n.values()) == total)


def _add_fractional_objective(m, prices):
    def scatter(k):
        members = m.members[k]
        return pyo.quicksum(
            float(prices[k][i, j]) * m.pi[i, k] * m.pi[j, k]
            for a, i in enumerate(members)
            for j in members[a + 1 :]
        )

    @m.Objective(doc="Eq. 8")
    def within_cluster_scatter(m):
        return pyo.quicksum(scatter(k) / m.n[k] for k in m.CLUSTERS)


def _add_shares(m, instance):
    """v_k = 1/n_k and w_ik = pi_ik / n_k."""
    omega = instance.weights.tolist()
    most = 1 / min(omega)
    m.v = pyo.Var(m.CLUSTERS, bounds=(0, most))
    m.w = pyo.Var(m.PAIRS, bounds=lambda m, i, k: (0, 1 / omega[i]))

    @m.Constraint(m.CLUSTERS, doc="the shares of a cluster add up to one")
    def shares(m, k):
        return pyo.quicksum(omega[i] * m.w[i, k] for i in m.members[k]) == 1

    @m.Constraint(m.PAIRS, doc="w = 0 where pi = 0")
    def share_of_member(m, i, k):
        return omega[i] * m.w[i, k] <= m.pi[i, k]

    @m.Constraint(m.PAIRS, doc="w <= v")
    def share_at_most(m, i, k):
        return m.w[i, k] <= m.v[k]

    @m.Constraint(m.PAIRS, doc="w = v where pi = 1")
    def share_at_least(m, i, k):
        return m.w[i, k] >= m.v[k] - most * (1 - m.pi[i, k])


def _add_products(m, instance, prices):
    """z_ijk = pi_ik pi_jk / n_k over compatible pairs, and the objective in them."""
    m.TRIPLES = pyo.Set(dimen=3, initialize=_compatible_triples(m, instance))
    m.z = pyo.Var(m.TRIPLES, bounds=(0, 1 / float(instance.weights.min())))

    @m.Constraint(m.TRIPLES)
    def product_at_most_i(m, i, j, k):
        return m.z[i, j, k] <= m.w[i, k]

    @m.Constraint(m.TRIPLES)
    def product_at_most_j(m, i, j, k):
        return m.z[i, j, k] <= m.w[j, k]

    @m.Objective(doc="Eq. 8, linear in z")
    def within_cluster_scatter(m):
        return pyo.quicksum(float(prices[k][i, j]) * z for (i, j, k), z in m.z.items())


def _compatible_triples(m, instance):
    triples = []
    for k, members in m.members.items():
        points = np.array(members, dtype=int)
        apart = conflict_matrix(instance, k)[np.ix_(points, points)]
        for a, b in np.argwhere(np.triu(~apart, 1)):
            triples.append((members[a], members[b], k))
    return triples


def _add_row_sums(m, instance):
    omega = instance.weights.tolist()
    rows = {pair: [] for pair in m.PAIRS}
    for (i, j, k), z in m.z.items():
        rows[i, k].append(omega[j] * z)
        rows[j, k].append(omega[i] * z)

    @m.Constraint(m.PAIRS, doc="sum_j z_ijk + w_ik = pi_ik")
    def row_sum(m, i, k):
        return omega[i] * m.w[i, k] + pyo.quicksum(rows[i, k]) == m.pi[i, k]


def _add_product_lower_sides(m, instance):
    most = 1 / float(instance.weights.min())

    @m.Constraint(m.TRIPLES)
    def product_at_least_i(m, i, j, k):
        return m.z[i, j, k] >= m.w[i, k] - most * (1 - m.pi[j, k])

    @m.Constraint(m.TRIPLES)
    def product_at_least_j(m, i, j, k):
        return m.z[i, j, k] >= m.w[j, k] - most * (1 - m.pi[i, k])
