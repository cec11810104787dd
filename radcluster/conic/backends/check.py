"""Whether an answer shows what its solver says of it.

``optimal`` needs a point and multipliers whose residuals are small, ``infeasible`` a ray z in the
dual cone with A'z = 0 and b'z < 0, and ``unbounded`` a direction x with slack -Ax in the cone,
Px = 0 and c'x < 0. Solvers have been seen to say all three without.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigvalsh

from radcluster.conic.program import ConeRows, ConicProgram, ConicSolution, ConicStatus
from radcluster.conic.triangle import triangle_scale, unpack

#: A ray with b'z = -1 (or c'x = -1) misses its conditions by no more than this. Then no feasible
#: point has a sum of absolute values below the reciprocal.
RAY = 1e-6


def cone_violation(cone: ConeRows, rows: np.ndarray, dual: bool = False) -> float:
    """By how much rows lie outside a cone, or its dual; 0 inside."""
    if cone.kind == "semidefinite":
        matrix = unpack(rows / triangle_scale(cone.order))
        return max(0.0, -float(eigvalsh(matrix, subset_by_index=[0, 0])[0]))
    if cone.kind == "second-order":
        return max(0.0, float(np.linalg.norm(rows[1:]) - rows[0]))
    inside = _INSIDE[cone.kind, dual]
    direction = np.array([-1.0, 1.0, 1.0] if cone.kind == "exponential" else [1.0, 1.0, 0.0])
    return _steps_to(lambda step: inside(*(rows + step * direction).tolist(), cone.alpha))


def _steps_to(inside) -> float:
    """How far to go along a direction into the interior, by bisection."""
    if inside(0.0):
        return 0.0
    high = 1e-12
    while not inside(high):
        high *= 4.0
        if high > 1e30:
            return math.inf
    low = high / 4.0
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (low, middle) if inside(middle) else (middle, high)
    return high


def _in_exponential(x, y, z, _) -> bool:
    if y <= 0.0:
        return y == 0.0 and x <= 0.0 <= z
    return x / y <= 700.0 and y * math.exp(x / y) <= z


def _in_dual_exponential(u, v, w, _) -> bool:
    if u >= 0.0:
        return u == 0.0 and min(v, w) >= 0.0
    return v / u <= 700.0 and -u * math.exp(v / u - 1.0) <= w


def _in_power(x, y, z, alpha) -> bool:
    return min(x, y) >= 0.0 and x**alpha * y ** (1.0 - alpha) >= abs(z)


def _in_dual_power(u, v, w, alpha) -> bool:
    return min(u, v) >= 0.0 and (u / alpha) ** alpha * (v / (1 - alpha)) ** (1 - alpha) >= abs(w)


_INSIDE = {
    ("exponential", False): _in_exponential,
    ("exponential", True): _in_dual_exponential,
    ("power", False): _in_power,
    ("power", True): _in_dual_power,
}


def _slack_violation(program: ConicProgram, slack: np.ndarray) -> float:
    """By how much a slack fails to lie in the cone of the program."""
    zero, linear = program.n_zero, program.n_linear
    worst = max(np.abs(slack[:zero]).max(initial=0.0), -slack[zero:linear].min(initial=0.0))
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        worst = max(worst, cone_violation(cone, slack[part]))
    return float(worst)


def _dual_cone_violation(program: ConicProgram, z: np.ndarray) -> float:
    worst = -z[program.n_zero : program.n_linear].min(initial=0.0)
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        worst = max(worst, cone_violation(cone, z[part], dual=True))
    return float(worst)


@dataclass(frozen=True)
class Residuals:
    """How far a pair x, z is from an optimal one, each relative to the size of what it compares.

    Attributes
    ----------
    primal, dual, gap : float
        Infeasibility of x, of z, and the difference of their objectives.
    value_error : float
        What the residuals may change in the objective, relative to it: large when the program is
        ill-posed, however small the residuals.
    """

    primal: float
    dual: float
    gap: float
    value_error: float

    @property
    def worst(self) -> float:
        return max(self.primal, self.dual, self.gap)

    def __str__(self) -> str:
        return (
            f"infeasibility {self.primal:.1e}, dual infeasibility {self.dual:.1e}, "
            f"gap {self.gap:.1e}"
        )


def residuals(program: ConicProgram, x: np.ndarray, z: np.ndarray) -> Residuals:
    """How far x and z are from optimal."""
    image = program.A @ x
    slack = program.b - image
    primal = _slack_violation(program, slack)
    pull = program.A.T @ z
    gradient = program.c if program.P is None else program.c + program.P @ x
    stationary = float(np.abs(gradient + pull).max(initial=0.0))
    dual = max(stationary, _dual_cone_violation(program, z))
    value = program.sign * program.objective(x)
    other = program.sign * program.dual_objective(x, z)
    gap = abs(value - other)
    # As solvers measure it: they do not see the constant.
    unit = 1.0 + min(abs(value - program.offset), abs(other - program.offset))
    error = primal * float(np.linalg.norm(z)) + dual * float(np.linalg.norm(x)) + gap
    return Residuals(
        primal / (1.0 + max(_largest(program.b), _largest(image))),
        dual / (1.0 + max(_largest(gradient), _largest(pull))),
        gap / unit,
        error / unit,
    )


def _largest(vector: np.ndarray) -> float:
    return float(np.abs(vector).max(initial=0.0))


def shows_infeasible(program: ConicProgram, z: np.ndarray | None) -> bool:
    """Whether z is a ray that no feasible point of ordinary size is compatible with."""
    if z is None or not np.isfinite(z).all():
        return False
    value = float(program.b @ z)
    if value >= 0.0:
        return False
    z = z / -value
    missed = max(_largest(program.A.T @ z), _dual_cone_violation(program, z))
    return missed <= RAY


def shows_unbounded(program: ConicProgram, x: np.ndarray | None) -> bool:
    """Whether x is a direction along which every feasible point stays so and improves."""
    if x is None or not np.isfinite(x).all():
        return False
    value = float(program.c @ x)
    if value >= 0.0:
        return False
    x = x / -value
    curved = 0.0 if program.P is None else _largest(program.P @ x)
    return max(curved, _slack_violation(program, -(program.A @ x))) <= RAY


def checked(
    program: ConicProgram, solution: ConicSolution, solver: str, tolerance: float
) -> ConicSolution:
    """The solution with a status that it bears out."""
    status, said = solution.status, f"{solver} says {solution.status}"
    if status == ConicStatus.INFEASIBLE and not shows_infeasible(program, solution.z):
        message = f"{said} ({solution.message}), but gives no ray that shows it"
        return replace(solution, status=ConicStatus.UNKNOWN, message=message)
    if status == ConicStatus.UNBOUNDED and not shows_unbounded(program, solution.x):
        message = f"{said} ({solution.message}), but gives no direction that shows it"
        return replace(solution, status=ConicStatus.UNKNOWN, message=message)
    if status == ConicStatus.OPTIMAL:
        if solution.x is None or solution.z is None or not np.isfinite(solution.x).all():
            return replace(solution, status=ConicStatus.ERROR, message=f"{said}, without a point")
        found = residuals(program, solution.x, solution.z)
        if not found.worst <= 10.0 * tolerance or not found.value_error <= max(
            1e-3, 100 * tolerance
        ):
            message = f"{said}, but its point is not accurate: {found}"
            if found.worst <= 10.0 * tolerance:
                message = f"{said}, but the program is ill-posed: its value is uncertain by "
                message += f"{found.value_error:.1e} in spite of small residuals ({found})"
            return replace(solution, status=ConicStatus.ALMOST, message=message)
    return solution
