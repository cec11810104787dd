"""Semidefinite programs with known answers, none of them about clustering."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo

from radcluster.conic.schur import SchurBlock


@dataclass(frozen=True)
class KnownSdp:
    """A model builder, and the optimal value of what it builds."""

    name: str
    build: Callable[[], pyo.ConcreteModel]
    value: float


def theta_of_5_cycle() -> pyo.ConcreteModel:
    """max <J, X>: tr X = 1, X_ij = 0 on edges, X psd."""
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=5, X=lambda i, j: 0 if (j - i) % 5 in (1, 4) else None)
    m.unit_trace = pyo.Constraint(expr=sum(m.psd.entry(i, i) for i in range(5)) == 1)
    everything = sum(m.psd.entry(i, j) for i in range(5) for j in range(5))
    m.value = pyo.Objective(expr=everything, sense=pyo.maximize)
    return m


def max_cut_of_5_cycle() -> pyo.ConcreteModel:
    """max sum over edges of (1 - X_ij) / 2: diag X = 1, X psd; non-edges occur in X only."""
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=5, X=lambda i, j: 1 if i == j else None)
    edges = [(i, (i + 1) % 5) for i in range(5)]
    cut = sum((1 - m.psd.entry(i, j)) / 2 for i, j in edges)
    m.value = pyo.Objective(expr=cut, sense=pyo.maximize)
    return m


def nearest_correlation() -> pyo.ConcreteModel:
    """Squared distance of Higham's (2002) 3 x 3 example to the correlation matrices.

    s >= y'y is the Schur block [[I, y], [y', s]].
    """
    given = {(0, 1): 1.0, (0, 2): 0.0, (1, 2): 1.0}
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=3, X=lambda i, j: 1 if i == j else None)
    m.s = pyo.Var()
    m.norm = SchurBlock(order=list(given), X=lambda i, j: int(i == j), s=m.s)
    m.difference = pyo.Constraint(
        list(given), rule=lambda m, i, j: m.norm.y[i, j] == m.psd.entry(i, j) - given[i, j]
    )
    m.value = pyo.Objective(expr=2 * m.s)
    return m


_SYMMETRIC = np.array([[2.0, -1.0, 0.5], [-1.0, 0.0, 3.0], [0.5, 3.0, -1.0]])


def smallest_eigenvalue() -> pyo.ConcreteModel:
    """min <A, X>: tr X = 1, X psd."""
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=3)
    m.unit_trace = pyo.Constraint(expr=sum(m.psd.entry(i, i) for i in range(3)) == 1)
    inner = sum(_SYMMETRIC[i, j] * m.psd.entry(i, j) for i in range(3) for j in range(3))
    m.value = pyo.Objective(expr=inner)
    return m


KNOWN = (
    KnownSdp("theta", theta_of_5_cycle, math.sqrt(5)),
    KnownSdp("max_cut", max_cut_of_5_cycle, (25 + 5 * math.sqrt(5)) / 8),
    KnownSdp("correlation", nearest_correlation, 0.5278**2),
    KnownSdp("eigenvalue", smallest_eigenvalue, float(np.linalg.eigvalsh(_SYMMETRIC)[0])),
)
