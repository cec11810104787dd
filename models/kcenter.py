"""k-center, the replacement for Step 1 that the paper suggests.

Greedy: each next centre is the point farthest from the centres so far. Exact, with centres among
the points, y_j = 1 where j is a centre and a_ij = 1 where j is the centre of i:

    min   R
    s.t.  sum_j a_ij = 1,   a_ij <= y_j,   sum_j y_j = K,   sum_j d_ij a_ij <= R
          y, a in {0, 1}

R is the squared covering radius: squaring keeps the order, so the centres are the same.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.models.parts.formulation import Formulation
from radcluster.problem.instance import Instance


def greedy_centers(instance: Instance, first: list[int]) -> list[int]:
    """K centres by farthest-point traversal from the given first ones."""
    d = instance.sq_distances
    centers = list(first)
    nearest = d[centers].min(axis=0)
    while len(centers) < instance.n_clusters:
        centers.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, d[centers[-1]])
    return centers


def build(instance: Instance, *, covering_radius: float = np.inf) -> pyo.ConcreteModel:
    """The exact k-center program.

    ``covering_radius`` of any known solution (the greedy one) removes the pairs that no better
    solution uses, which is most of them.
    """
    d = instance.sq_distances
    near = d <= covering_radius**2 * (1 + 1e-12)
    m = Formulation("kcenter:exact", __doc__)
    m.POINTS = pyo.RangeSet(0, instance.n_points - 1)
    m.PAIRS = pyo.Set(dimen=2, initialize=[(int(i), int(j)) for i, j in np.argwhere(near)])
    m.y = pyo.Var(m.POINTS, domain=pyo.Binary)
    m.a = pyo.Var(m.PAIRS, domain=pyo.Binary)
    m.R = pyo.Var(domain=pyo.NonNegativeReals)
    candidates = {i: np.flatnonzero(near[i]).tolist() for i in m.POINTS}

    @m.Constraint(m.POINTS)
    def one_center(m, i):
        return pyo.quicksum(m.a[i, j] for j in candidates[i]) == 1

    @m.Constraint(m.PAIRS)
    def open_center(m, i, j):
        return m.a[i, j] <= m.y[j]

    @m.Constraint()
    def n_centers(m):
        return pyo.quicksum(m.y.values()) == instance.n_clusters

    @m.Constraint(m.POINTS)
    def covered(m, i):
        return pyo.quicksum(float(d[i, j]) * m.a[i, j] for j in candidates[i]) <= m.R

    @m.Objective()
    def sq_covering_radius(m):
        return m.R

    return m
