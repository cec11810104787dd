"""The point of a relaxed program that a partition stands for.

A partition has Z^k_ij = 1/n_k for i, j in cluster k, of weight n_k, and 0 elsewhere, pi^k the
indicator of the cluster, and Z = sum_k Z^k; a block that stands for several clusters holds their
average. When that point is feasible, the value of the program is at most the partition's sum of
squares. That is so by construction for a model as it was built, but not for one that was edited
since.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from pyomo.core.expr.visitor import identify_variables
from pyomo.repn import generate_standard_repn

from radcluster.conic.margins import ConeMargin

#: The point is exact but for rounding, so a row may be violated by this part of its terms. Any
#: absolute tolerance would be blind to rows in small units.
_ROUNDING = 1e-11


def admits(model: pyo.ConcreteModel, labels: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Whether the point of a partition is feasible for a perspective or peng_wei model.

    ``weights`` are those of the instance's points, 1 each by default. The model's variables take
    the values of that point. Variables that such a model does not have by itself, and rows that
    are neither linear nor a cone, leave the question open, which counts
    as no.
    """
    labels = np.asarray(labels)
    point = _point(model, labels, np.ones(len(labels)) if weights is None else weights)
    for var, number in point.items():
        if var.fixed and not _at_most(abs(var.value - number), 0.0, abs(number)):
            return False
        lower, upper = var.bounds
        if not (_at_most(number, upper, abs(number)) and _at_most(lower, number, abs(number))):
            return False
        var.set_value(number, skip_validation=True)
    rows = model.component_data_objects(pyo.Constraint, active=True)
    return all(_holds(row, point) for row in rows)


def _at_most(small: float | None, large: float | None, size: float) -> bool:
    """small <= large, up to rounding of terms of this size; None is no bound."""
    if small is None or large is None:
        return True
    return small <= large + _ROUNDING * (size + min(abs(small), abs(large)))


def _holds(row, point: ComponentMap) -> bool:
    if not all(var in point for var in identify_variables(row.body, include_fixed=False)):
        return False
    body = pyo.value(row.body)
    if isinstance(row.body, ConeMargin):
        size = _size(row.body)
    else:
        linear = generate_standard_repn(row.body, quadratic=False)
        if linear.nonlinear_expr is not None:
            return False
        terms = zip(linear.linear_coefs, linear.linear_vars, strict=True)
        size = abs(linear.constant) + sum(abs(pyo.value(a) * x.value) for a, x in terms)
    lower, upper = pyo.value(row.lower), pyo.value(row.upper)
    return _at_most(lower, body, size) and _at_most(body, upper, size)


def _size(margin: ConeMargin) -> float:
    """The largest entry of a cone's vector or matrix, before terms cancel."""
    entries = np.abs([pyo.value(entry) for entry in margin.args])
    if margin.local is not None:
        matrix, constant = margin.local
        entries = abs(matrix) @ entries + np.abs(constant)
    return float(entries.max())


def _point(model, labels: np.ndarray, weights: np.ndarray) -> ComponentMap:
    """The value of each variable that the builder made."""
    sizes = np.bincount(labels, weights)
    share = 1.0 / np.where(sizes > 0, sizes, 1.0)
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
