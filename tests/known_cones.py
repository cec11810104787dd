"""Conic programs with known answers, one function each; none of them about clustering."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyomo.environ as pyo
from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

from radcluster.conic import (
    PSD,
    ExponentialCone,
    PowerCone,
    PSDVar,
    RotatedSecondOrderCone,
    SecondOrderCone,
    SymmetricVar,
)


@dataclass(frozen=True)
class Known:
    """A model builder, the optimal value, and known duals by component name."""

    name: str
    build: Callable[[], pyo.ConcreteModel]
    value: float
    kinds: frozenset = frozenset({"semidefinite"})
    duals: dict = field(default_factory=dict)
    accuracy: float = 1e-5


def petersen_theta() -> pyo.ConcreteModel:
    """The theta number of the Petersen graph is 4; its dual is the multiplier of the trace."""
    pairs = list(itertools.combinations(range(5), 2))
    m = pyo.ConcreteModel()
    m.X = PSDVar(10, X=lambda i, j: 0 if not set(pairs[i]) & set(pairs[j]) else None)
    X = m.X.matrix_expression()
    m.trace = pyo.Constraint(expr=X.trace() == 1)
    m.value = pyo.Objective(expr=X.sum(), sense=pyo.maximize)
    return m


def max_cut_of_k4() -> pyo.ConcreteModel:
    """The relaxation of max-cut on K4 is 16/4 = 4; every vertex' multiplier is 1/4."""
    m = pyo.ConcreteModel()
    m.X = PSDVar(4)
    X = m.X.matrix_expression()
    m.one = pyo.Constraint(range(4), rule=lambda m, i: m.X.X[i, i] == 1)
    cut = sum((1 - X[i, j]) / 2 for i, j in itertools.combinations(range(4), 2))
    m.value = pyo.Objective(expr=cut, sense=pyo.maximize)
    return m


def nearest_correlation_by_soc() -> pyo.ConcreteModel:
    """Distance in Frobenius' norm of Higham's (2002) matrix to the correlation matrices."""
    given = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    m = pyo.ConcreteModel()
    m.X = PSDVar(3, X=lambda i, j: 1 if i == j else None)
    m.t = pyo.Var()
    m.norm = SecondOrderCone(m.t, m.X.matrix_expression() - given)
    m.value = pyo.Objective(expr=m.t)
    return m


_A = np.array([[-1.0, 2.0, 0.0], [0.0, -3.0, 1.0], [0.5, 0.0, -2.0]])


def lyapunov() -> pyo.ConcreteModel:
    """The least trace of P with A'P + PA <= -I is the trace of Lyapunov's solution."""
    m = pyo.ConcreteModel()
    m.P = PSDVar(3)
    P = m.P.matrix_expression()
    m.lmi = PSD(_A.T @ P + P @ _A, sense="<=", rhs=-np.eye(3))
    m.value = pyo.Objective(expr=P.trace())
    return m


_B, _C = np.array([[0.0], [1.0], [1.0]]), np.array([[1.0, 0.0, 1.0]])


def h_infinity() -> pyo.ConcreteModel:
    """The squared H-infinity norm of C (sI - A)^-1 B, by the bounded real lemma."""
    m = pyo.ConcreteModel()
    m.P, m.gamma = SymmetricVar(3), pyo.Var()
    P = m.P.matrix_expression()
    corner = np.array([[-m.gamma]], dtype=object)
    whole = np.block([[_A.T @ P + P @ _A + _C.T @ _C, P @ _B], [_B.T @ P, corner]])
    m.lmi = PSD(whole, sense="<=")
    m.value = pyo.Objective(expr=m.gamma)
    return m


def _h_infinity_squared() -> float:
    """By bisection on whether Riccati's equation of the bounded real lemma has a solution."""
    low, high = 0.0, 10.0
    for _ in range(60):
        gamma = (low + high) / 2
        try:
            P = solve_continuous_are(_A, _B, _C.T @ _C, np.array([[-(gamma**2)]]))
            residual = _A.T @ P + P @ _A + P @ _B @ _B.T @ P / gamma**2 + _C.T @ _C
            solved = np.abs(residual).max() < 1e-8 and np.linalg.eigvalsh(P)[0] > -1e-8
            closed = np.linalg.eigvals(_A + _B @ _B.T @ P / gamma**2)
            stable = solved and closed.real.max() < 0
        except (np.linalg.LinAlgError, ValueError):
            stable = False
        low, high = (low, gamma) if stable else (gamma, high)
    return high**2


def sum_of_squares() -> pyo.ConcreteModel:
    """The least value of x^4 - 3x^2 + x, the largest g with x^4 - 3x^2 + x - g a sum of squares."""
    m = pyo.ConcreteModel()
    m.g = pyo.Var()
    m.Q = PSDVar(3)
    q = m.Q.entry
    target = {0: -m.g, 1: 1.0, 2: -3.0, 3: 0.0, 4: 1.0}
    m.match = pyo.Constraint(
        range(5),
        rule=lambda m, d: sum(q(i, d - i) for i in range(3) if 0 <= d - i < 3) == target[d],
    )
    m.value = pyo.Objective(expr=m.g, sense=pyo.maximize)
    return m


def _quartic_minimum() -> float:
    roots = np.roots([4.0, 0.0, -6.0, 1.0]).real
    return float(min(x**4 - 3 * x**2 + x for x in roots))


def chebyshev_centre() -> pyo.ConcreteModel:
    """The largest disc in the right triangle with legs 3 and 4 has radius 1."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.r = pyo.Var(), pyo.Var(), pyo.Var()
    m.left = pyo.Constraint(expr=m.x >= m.r)
    m.below = pyo.Constraint(expr=m.y >= m.r)
    # The hypotenuse 3x + 4y = 12 by its normal (3, 4), written as a cone for the sake of it.
    m.slant = SecondOrderCone(12 - 3 * m.x - 4 * m.y, [3 * m.r, 4 * m.r])
    m.value = pyo.Objective(expr=m.r, sense=pyo.maximize)
    return m


def robust_lp() -> pyo.ConcreteModel:
    """max x + y with a'(x, y) <= 1 for all a within 1/2 of (1, 1): sqrt 2 / (sqrt 2 + 1/2)."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.robust = SecondOrderCone(2 * (1 - m.x - m.y), [m.x, m.y])
    m.value = pyo.Objective(expr=m.x + m.y, sense=pyo.maximize)
    return m


def geometric() -> pyo.ConcreteModel:
    """min x y + 1/x + 1/y over x, y > 0, in logarithms: 3 at x = y = 1."""
    m = pyo.ConcreteModel()
    m.u, m.v, m.t = pyo.Var(), pyo.Var(), pyo.Var(range(3))
    m.term = ExponentialCone(range(3), rule=lambda m, k: ((m.u + m.v, -m.u, -m.v)[k], 1, m.t[k]))
    m.value = pyo.Objective(expr=sum(m.t[k] for k in range(3)))
    return m


def entropy() -> pyo.ConcreteModel:
    """The largest entropy of a distribution on four points is log 4."""
    m = pyo.ConcreteModel()
    m.p, m.h = pyo.Var(range(4)), pyo.Var(range(4))
    m.sums_to_one = pyo.Constraint(expr=sum(m.p[i] for i in range(4)) == 1)
    # h <= -p log p is p exp(h / p) <= 1.
    m.cone = ExponentialCone(range(4), rule=lambda m, i: (m.h[i], m.p[i], 1))
    m.value = pyo.Objective(expr=sum(m.h[i] for i in range(4)), sense=pyo.maximize)
    return m


def minimum_volume_ellipsoid() -> pyo.ConcreteModel:
    """max (det A)^(1/2) over |A p| <= 1 at the corners (+-1, +-2): A = diag(1, 1/2) / sqrt 2."""
    m = pyo.ConcreteModel()
    m.A = PSDVar(2)
    A = m.A.matrix_expression()
    m.inside = SecondOrderCone([0, 1], rule=lambda m, k: (1, A @ np.array([1.0, (-2.0, 2.0)[k]])))
    m.root, m.half = pyo.Var(), pyo.Var()
    m.L = pyo.Var([0, 1], bounds=(0, None))
    # [[A, L], [L', diag L]] >= 0 bounds the product of L's diagonal by det A.
    m.low = pyo.Var()
    corner = [[m.L[0], 0], [m.low, m.L[1]]]
    m.det = PSD(
        [
            [A[0, 0], A[0, 1], corner[0][0], corner[0][1]],
            [A[0, 1], A[1, 1], corner[1][0], corner[1][1]],
            [corner[0][0], corner[1][0], m.L[0], 0],
            [corner[0][1], corner[1][1], 0, m.L[1]],
        ]
    )
    m.geometric_mean = RotatedSecondOrderCone(m.L[0] / 2, m.L[1], [m.root])
    m.value = pyo.Objective(expr=m.root, sense=pyo.maximize)
    return m


def power_mean() -> pyo.ConcreteModel:
    """max x^(3/4) y^(1/4) with x + y = 4: x = 3, y = 1."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.z = pyo.Var(), pyo.Var(), pyo.Var()
    m.budget = pyo.Constraint(expr=m.x + m.y == 4)
    m.mean = PowerCone(m.x, m.y, m.z, 0.75)
    m.value = pyo.Objective(expr=m.z, sense=pyo.maximize)
    return m


def quadratic() -> pyo.ConcreteModel:
    """min (x-1)^2 + (y-2)^2 + xy over the unit disc is reached where the gradient is normal."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.disc = SecondOrderCone(1, [m.x, m.y])
    m.value = pyo.Objective(expr=(m.x - 1) ** 2 + (m.y - 2) ** 2 + m.x * m.y)
    return m


def _quadratic_value() -> float:
    angles = np.linspace(0.0, 2 * math.pi, 2_000_001)
    x, y = np.cos(angles), np.sin(angles)
    return float(((x - 1) ** 2 + (y - 2) ** 2 + x * y).min())


SOC, EXP = frozenset({"second-order"}), frozenset({"exponential"})
SDP = frozenset({"semidefinite"})
KNOWN_CONES = (
    Known("petersen theta", petersen_theta, 4.0, duals={"trace": 4.0}),
    Known("max-cut of K4", max_cut_of_k4, 4.0, duals={"one[0]": 0.25, "one[3]": 0.25}),
    Known("nearest correlation", nearest_correlation_by_soc, 0.5278, SDP | SOC, accuracy=2e-4),
    Known("lyapunov", lyapunov, float(np.trace(solve_continuous_lyapunov(_A.T, -np.eye(3))))),
    Known("h-infinity", h_infinity, _h_infinity_squared(), accuracy=1e-4),
    Known("sum of squares", sum_of_squares, _quartic_minimum()),
    Known("chebyshev centre", chebyshev_centre, 1.0, SOC),
    Known("robust lp", robust_lp, math.sqrt(2) / (math.sqrt(2) + 0.5), SOC),
    Known("geometric", geometric, 3.0, EXP),
    Known("entropy", entropy, math.log(4), EXP, duals={"sums_to_one": math.log(4) - 1}),
    Known("ellipsoid", minimum_volume_ellipsoid, 0.5, SDP | SOC),
    Known(
        "power mean",
        power_mean,
        3**0.75,
        frozenset({"power"}),
        duals={"budget": 3**0.75 / 4},
    ),
    Known("quadratic", quadratic, _quadratic_value(), SOC, accuracy=1e-4),
)
