"""Set partitioning: choose K of all admissible clusters, and the pricing of one more.

Notation: a *column* t is a set S_t of mutually compatible points; c_t = 1/(2|S_t|) sum_{i,j in S_t}
d_ij is its sum of squares; z_t says whether it is a cluster. With weights omega_i, |S| is the total
weight of S, d_ij counts omega_i omega_j times, and pricing changes as models/milp.py does.

Restricted master, over the columns known so far (:func:`build_master`):

    min   sum_t c_t z_t
    s.t.  sum_{t: i in S_t} z_t >= 1      every point i              (multiplier lambda_i >= 0)
          sum_t z_t <= K                                             (multiplier sigma >= 0)
          z_t in {0,1}, or z_t >= 0 when relaxed

Covering and partitioning cost the same: a point in two chosen columns may leave one of them, which
never costs more, and K columns or fewer may be split into exactly K for the same reason. Over *all*
columns this is Eq. 8 of the paper, Dantzig-Wolfe decomposed by clusters: no labels, no symmetry,
and a relaxation that is often integral.

An ``incumbent``, the cost of a known partition, may join as a column of its own that covers every
point and counts as K clusters (``whole``): the optimum is then at most its cost, and no choice of
columns is infeasible.

The multipliers are variables of the dual program (:func:`build_prices`), for solvers that report
no multipliers:

    max   sum_i lambda_i - K sigma
    s.t.  sum_{i in S_t} lambda_i - sigma <= c_t      every column t
          lambda, sigma >= 0

Pricing (:func:`build_pricing`): the column of least reduced cost, y_i its members, v = 1/|S|,
w_i = y_i v, p_ij = y_i y_j v (the linearisation of ``models/milp.py`` for one cluster):

    min   sum_{i<j} d_ij p_ij - sum_i lambda_i y_i + sigma
    s.t.  sum_i w_i = 1;   w_i <= y_i;   w_i <= v;   w_i >= v - (1 - y_i)
          p_ij <= w_i;   p_ij <= w_j;   sum_j p_ij + w_i = y_i
          y_i + y_j <= 1                                             i and j in conflict

A negative optimum is a column that improves the relaxed master; otherwise the master is optimal
over all columns. ``radcluster.methods.colgen`` has faster ways to price; this is the
program they solve.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo

from radcluster.errors import InputError
from radcluster.graph.conflicts import conflict_matrix
from radcluster.models.parts.formulation import Formulation
from radcluster.problem.instance import Instance

PROBLEM_CLASS = {"relaxed": "LP", "binary": "MILP", "pricing": "MILP"}


def build_master(
    columns: Sequence[Sequence[int]],
    costs: Sequence[float],
    n_points: int,
    n_clusters: int,
    *,
    relax: bool = True,
    incumbent: float | None = None,
) -> pyo.ConcreteModel:
    """The restricted master over these columns.

    Parameters
    ----------
    columns : sequence of sets of points 0..n_points-1
    costs : sequence of float
        The sum of squares of each column.
    n_clusters : int
        K.
    relax : bool
        Whether z may be fractional. Then ``dual`` imports the multipliers.
    incumbent : float, optional
        Cost of a known partition.

    Examples
    --------
    >>> m = build_master([[0, 1], [1, 2], [2]], [0.5, 0.5, 0.0], n_points=3, n_clusters=2)
    >>> len(m.z), len(m.cover)
    (3, 3)
    """
    holding: list[list[int]] = [[] for _ in range(n_points)]
    for t, column in enumerate(columns):
        for i in column:
            holding[i].append(t)
    missing = [i for i, ts in enumerate(holding) if not ts]
    if missing and incumbent is None:
        raise InputError(f"point {missing[0]} lies in none of the {len(columns)} columns")
    m = Formulation("set_partition:relaxed" if relax else "set_partition:binary", __doc__)
    m.COLUMNS = pyo.RangeSet(0, len(columns) - 1)
    m.POINTS = pyo.RangeSet(0, n_points - 1)
    m.z = pyo.Var(m.COLUMNS, domain=pyo.NonNegativeReals if relax else pyo.Binary)
    whole = 0.0
    if incumbent is not None:
        m.whole = pyo.Var(domain=pyo.NonNegativeReals if relax else pyo.Binary)
        whole = m.whole
    m.cover = pyo.Constraint(
        m.POINTS, rule=lambda m, i: pyo.quicksum(m.z[t] for t in holding[i]) + whole >= 1
    )
    m.count = pyo.Constraint(expr=pyo.quicksum(m.z.values()) + n_clusters * whole <= n_clusters)
    m.cost = pyo.Objective(
        expr=pyo.quicksum(float(costs[t]) * m.z[t] for t in m.COLUMNS) + (incumbent or 0.0) * whole
    )
    if relax:
        m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def build_prices(
    columns: Sequence[Sequence[int]],
    costs: Sequence[float],
    n_points: int,
    n_clusters: int,
    *,
    incumbent: float | None = None,
) -> pyo.ConcreteModel:
    """The dual of the relaxed master: prices ``lam`` of the points and ``sigma`` of a cluster.

    >>> m = build_prices([[0, 1], [1, 2], [2]], [0.5, 0.5, 0.0], n_points=3, n_clusters=2)
    >>> len(m.lam), len(m.column)
    (3, 3)
    """
    m = Formulation("set_partition:prices", __doc__)
    m.COLUMNS = pyo.RangeSet(0, len(columns) - 1)
    m.POINTS = pyo.RangeSet(0, n_points - 1)
    m.lam = pyo.Var(m.POINTS, domain=pyo.NonNegativeReals)
    m.sigma = pyo.Var(domain=pyo.NonNegativeReals)
    m.column = pyo.Constraint(
        m.COLUMNS,
        rule=lambda m, t: (
            pyo.quicksum(m.lam[int(i)] for i in columns[t]) - m.sigma <= float(costs[t])
        ),
    )
    total = pyo.quicksum(m.lam.values()) - n_clusters * m.sigma
    if incumbent is not None:
        m.whole = pyo.Constraint(expr=total <= incumbent)
    m.bound = pyo.Objective(expr=total, sense=pyo.maximize)
    return m


def chosen(m: pyo.ConcreteModel) -> list[int]:
    """Indices of the columns that a solved binary master takes."""
    return [t for t in m.COLUMNS if m.z[t].value is not None and m.z[t].value > 0.5]


def build_pricing(instance: Instance, prices: Sequence[float], sigma: float) -> pyo.ConcreteModel:
    """The column of least reduced cost at these multipliers, as a mixed-integer program.

    Examples
    --------
    >>> m = build_pricing(Instance([[0.0], [1.0], [9.0]], 2, radius=1), [1.0, 1.0, 1.0], 0.2)
    >>> len(m.y), len(m.p), len(m.conflict)
    (3, 1, 2)
    """
    conflicts = conflict_matrix(instance)
    omega = instance.weights.tolist()
    d = instance.weights[:, None] * instance.weights * instance.sq_distances
    most = 1 / min(omega)
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(~conflicts, 1))]
    m = Formulation("set_partition:pricing", __doc__)
    m.POINTS = pyo.RangeSet(0, instance.n_points - 1)
    m.PAIRS = pyo.Set(initialize=pairs, dimen=2)
    m.CONFLICTS = pyo.Set(
        initialize=[(int(i), int(j)) for i, j in np.argwhere(np.triu(conflicts, 1))], dimen=2
    )
    m.y = pyo.Var(m.POINTS, domain=pyo.Binary)
    m.w = pyo.Var(m.POINTS, bounds=lambda m, i: (0, 1 / omega[i]))
    m.p = pyo.Var(m.PAIRS, bounds=(0, most))
    m.v = pyo.Var(bounds=(0, most))
    _add_shares(m, omega)
    _add_products(m, omega)
    m.conflict = pyo.Constraint(m.CONFLICTS, rule=lambda m, i, j: m.y[i] + m.y[j] <= 1)
    m.linked = pyo.Constraint(
        range(len(instance.must_link)),
        rule=lambda m, t: m.y[int(instance.must_link[t, 0])] == m.y[int(instance.must_link[t, 1])],
    )
    m.reduced_cost = pyo.Objective(
        expr=pyo.quicksum(float(d[i, j]) * m.p[i, j] for i, j in pairs)
        - pyo.quicksum(float(prices[i]) * m.y[i] for i in m.POINTS)
        + sigma
    )
    return m


def _add_shares(m: pyo.ConcreteModel, omega: list[float]) -> None:
    """w_i = y_i / |S|."""
    most = 1 / min(omega)
    m.shares = pyo.Constraint(expr=pyo.quicksum(omega[i] * w for i, w in m.w.items()) == 1)
    m.share_if_member = pyo.Constraint(m.POINTS, rule=lambda m, i: omega[i] * m.w[i] <= m.y[i])
    m.share_at_most = pyo.Constraint(m.POINTS, rule=lambda m, i: m.w[i] <= m.v)
    m.share_at_least = pyo.Constraint(
        m.POINTS, rule=lambda m, i: m.w[i] >= m.v - most * (1 - m.y[i])
    )


def _add_products(m: pyo.ConcreteModel, omega: list[float]) -> None:
    """p_ij = y_i y_j / |S|, with the row sums that make the relaxation good."""
    partners: dict[int, list] = {i: [] for i in m.POINTS}
    for i, j in m.PAIRS:
        partners[i].append(omega[j] * m.p[i, j])
        partners[j].append(omega[i] * m.p[i, j])
    m.product_first = pyo.Constraint(m.PAIRS, rule=lambda m, i, j: m.p[i, j] <= m.w[i])
    m.product_second = pyo.Constraint(m.PAIRS, rule=lambda m, i, j: m.p[i, j] <= m.w[j])
    m.row_sum = pyo.Constraint(
        m.POINTS, rule=lambda m, i: pyo.quicksum(partners[i]) + omega[i] * m.w[i] == m.y[i]
    )
