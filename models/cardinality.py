"""Assignment to given centres under bounds on the sizes of the clusters.

This is the step between two updates of the means in cardinality-constrained k-means (Bradley,
Bennett & Demiriz 2000), here with squared distances, so that each step lowers the k-means
objective:

    min   sum_ik ||x_i - gamma_k||^2 pi_ik
    s.t.  sum_k pi_ik = 1                    each point in one cluster
          l <= sum_i pi_ik <= u              sizes
          0 <= pi_ik <= 1

It is a transportation problem: its matrix is totally unimodular, so every vertex is an
assignment, and any solver that returns a vertex of the linear program solves it in integers.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.errors import InputError
from radcluster.models.parts.formulation import Formulation

#: The class of program that this is.
PROBLEM_CLASS = "LP"


def check_sizes(n_points: int, n_clusters: int, size_min: int, size_max: int) -> None:
    """Refuse bounds that no assignment meets, with the arithmetic."""
    if not 0 <= size_min <= size_max:
        raise InputError(f"sizes must satisfy 0 <= size_min <= size_max: {size_min}, {size_max}")
    if n_clusters * size_min > n_points:
        raise InputError(
            f"{n_clusters} clusters of at least {size_min} need {n_clusters * size_min} points: "
            f"there are {n_points}"
        )
    if n_clusters * size_max < n_points:
        raise InputError(
            f"{n_clusters} clusters of at most {size_max} hold {n_clusters * size_max} points: "
            f"there are {n_points}"
        )


def build(costs, size_min: int, size_max: int) -> pyo.ConcreteModel:
    """The assignment for an N x K matrix of costs, usually squared distances to the centres.

    >>> m = build([[0.0, 1.0], [1.0, 0.0]], size_min=1, size_max=1)
    >>> len(m.pi), len(m.size)
    (4, 2)
    """
    costs = np.asarray(costs, dtype=float)
    n_points, n_clusters = costs.shape
    check_sizes(n_points, n_clusters, size_min, size_max)
    m = Formulation("cardinality", __doc__)
    m.POINTS = pyo.RangeSet(0, n_points - 1)
    m.CLUSTERS = pyo.RangeSet(0, n_clusters - 1)
    m.pi = pyo.Var(m.POINTS, m.CLUSTERS, bounds=(0, 1))

    @m.Constraint(m.POINTS, doc="each point in one cluster")
    def partition(m, i):
        return pyo.quicksum(m.pi[i, k] for k in m.CLUSTERS) == 1

    @m.Constraint(m.CLUSTERS, doc="sizes")
    def size(m, k):
        return (size_min, pyo.quicksum(m.pi[i, k] for i in m.POINTS), size_max)

    @m.Objective(doc="distance to the centres")
    def total_cost(m):
        return pyo.quicksum(float(costs[i, k]) * m.pi[i, k] for i in m.POINTS for k in m.CLUSTERS)

    return m
