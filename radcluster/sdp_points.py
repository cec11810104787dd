"""The point of a relaxed program that a partition stands for.

A partition has Z^k_ij = 1/n_k for i, j in cluster k and 0 elsewhere, pi^k the indicator of the
cluster, and Z = sum_k Z^k; a block that stands for several clusters holds their average. When that
point is feasible, the value of the program is at most the partition's sum of squares. That is so by
construction for a model as it was built, but not for one that was edited since.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.core.expr.visitor import identify_variables

#: By how much a constraint may be violated at a point that satisfies it.
_TOLERANCE = 1e-7


def admits(model: pyo.ConcreteModel, labels: np.ndarray) -> bool:
    """Whether the point of a partition is feasible for a perspective or peng_wei model.

    The model's variables take the values of that point. Variables that such a model does not have
    by itself leave the question open, which counts as no.
    """
    point = _point(model, np.asarray(labels))
    for var, number in point.items():
        if var.fixed and abs(var.value - number) > _TOLERANCE:
            return False
        lower, upper = var.bounds
        if (lower is not None and number < lower - _TOLERANCE) or (
            upper is not None and number > upper + _TOLERANCE
        ):
            return False
        var.set_value(number, skip_validation=True)
    rows = model.component_data_objects(pyo.Constraint, active=True)
    return all(_holds(row, point) for row in rows)


def _holds(row, point: ComponentMap) -> bool:
    known = all(var in point for var in identify_variables(row.body, include_fixed=False))
    return known and row.slack() >= -_TOLERANCE


def _point(model, labels: np.ndarray) -> ComponentMap:
    """The value of each variable that the builder made."""
    sizes = np.bincount(labels)
    share = 1.0 / np.maximum(sizes, 1)
    point = ComponentMap()
    if not model.Z.is_indexed():
        for (i, j), var in model.Z.X.items():
            point[var] = share[labels[i]] if labels[i] == labels[j] else 0.0
        return point
    for k, copies in model.stands_for.items():
        member = labels[:, None] == np.array(copies)
        for (i, j), var in model.Z[k].X.items():
            point[var] = float((member[i] & member[j]) @ share[list(copies)]) / len(copies)
        if isinstance(model.pi, pyo.Var):
            for i in model.Z[k].labels:
                point[model.pi[i, k]] = member[i].mean()
            point[model.n[k]] = sizes[list(copies)].mean()
    return point
