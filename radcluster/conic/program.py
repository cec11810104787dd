"""A conic program as arrays, what a solver returned for it, and the way back into the model.

    minimise  1/2 x'Px + c'x + offset   subject to   A x + slack = b,
    slack  in  {0}^p  x  R_+^q  x  second-order  x  PSD  x  exponential  x  power cones

Linear constraints and variable bounds give the first p + q rows; each cone gives its own. A matrix
cone gives the upper triangle of its matrix, column by column, off-diagonal entries times sqrt 2, so
that inner products of vectors are those of matrices. A rotated cone w'w <= 2uv is the second-order
cone of ((u+v)/sqrt 2, (u-v)/sqrt 2, w). A dual solution z lies in the dual cone with
Px + A'z + c = 0, and -1/2 x'Px - b'z + offset is its value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
from pyomo.core.staleflag import StaleFlagManager
from scipy import sparse

from radcluster.conic.triangle import triangle_scale, unpack

#: The order of the cones in a program, which is SCS's.
KINDS = ("second-order", "semidefinite", "exponential", "power")


class ConicStatus(StrEnum):
    """How a conic solver ended. A member equals its text."""

    OPTIMAL = "optimal"
    #: A point that misses the tolerance.
    ALMOST = "almost"
    INFEASIBLE = "infeasible"
    #: The objective falls without end along a ray; so it does from any feasible point.
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    #: The solver claims what it does not show.
    UNKNOWN = "unknown"
    ERROR = "error"

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class ConeRows:
    """One cone of a program.

    Attributes
    ----------
    kind : str
        Of :data:`KINDS`.
    size : int
        Rows of the cone; of a matrix, its order is :attr:`order`.
    source : cone component or None
        Where it came from.
    order : int
    alpha : float
        Exponent of a power cone.
    rotated : bool
        Whether the source is a rotated cone.
    """

    kind: str
    size: int
    source: Any = None
    order: int = 0
    alpha: float = 0.0
    rotated: bool = False


@dataclass(frozen=True)
class ConicProgram:
    """The arrays of a conic program, and which part of the model each row and column came from.

    Attributes
    ----------
    c, offset, A, b
        As above; for a maximisation, of the negated objective (``sign`` is then -1).
    P : sparse array or None
        Symmetric and positive semidefinite, both triangles; None when the objective is linear.
    n_zero, n_nonnegative : int
        p and q.
    columns : list of Var data
        The first columns; the rest are of the program's own, each equal to an entry of a cone.
    rows : list of (constraint or column index, sign)
        For each of the p + q linear rows: the constraint, or the column whose bound it is, or None
        for an equation of the program's own; and whether ``A x <= b`` is it (1, or 0 for an
        equation) or its negative (-1).
    cones : list of ConeRows
    """

    c: np.ndarray
    offset: float
    sign: float
    A: sparse.csc_array
    b: np.ndarray
    n_zero: int
    n_nonnegative: int
    columns: list
    rows: list
    cones: list[ConeRows] = field(default_factory=list)
    P: sparse.csc_array | None = None

    @property
    def n_linear(self) -> int:
        return self.n_zero + self.n_nonnegative

    @property
    def kinds(self) -> set[str]:
        """The kinds of cones it has."""
        return {cone.kind for cone in self.cones}

    @property
    def blocks(self) -> list:
        """The matrix cones' components."""
        return [cone.source for cone in self.cones if cone.kind == "semidefinite"]

    @property
    def orders(self) -> list[int]:
        return [cone.order for cone in self.cones if cone.kind == "semidefinite"]

    def cone_slices(self) -> list[slice]:
        """The rows of each cone."""
        ends = self.n_linear + np.cumsum([cone.size for cone in self.cones], dtype=int)
        return [slice(a, e) for a, e in zip([self.n_linear, *ends], ends, strict=False)]

    def block_slices(self) -> list[slice]:
        """The rows of each matrix cone."""
        pairs = zip(self.cones, self.cone_slices(), strict=True)
        return [part for cone, part in pairs if cone.kind == "semidefinite"]

    def scaled(self) -> tuple[ConicProgram, float]:
        """The program with its objective in units of its largest coefficient, and that unit.

        Solvers have absolute tolerances: an objective of 1e-8 would be as good as none to them.
        The unit is a power of two, so that nothing is rounded.
        """
        largest = float(np.abs(self.c).max(initial=0.0))
        if self.P is not None:
            largest = max(largest, float(np.abs(self.P.data).max(initial=0.0)))
        unit = 2.0 ** round(math.log2(largest)) if largest > 0 else 1.0
        quadratic = None if self.P is None else self.P / unit
        return replace(self, c=self.c / unit, P=quadratic, offset=self.offset / unit), unit

    def minimised(self, x: np.ndarray) -> float:
        """What is minimised, at x."""
        curved = 0.0 if self.P is None else 0.5 * float(x @ (self.P @ x))
        return curved + float(self.c @ x + self.offset)

    def objective(self, x: np.ndarray) -> float:
        """The model's own objective at x."""
        return self.sign * self.minimised(x)

    def dual_objective(self, x: np.ndarray | None, z: np.ndarray) -> float:
        """The value of a dual solution, in the model's own sense."""
        curved = 0.0 if self.P is None else 0.5 * float(x @ (self.P @ x))
        return self.sign * float(self.offset - curved - self.b @ z)

    def load(self, x: np.ndarray) -> None:
        """Put values into the model's variables."""
        for var, number in zip(self.columns, x.tolist(), strict=False):
            var.set_value(number, skip_validation=True)
        StaleFlagManager.mark_all_as_stale(delayed=True)

    def duals(self, z: np.ndarray) -> dict:
        """Dual of each constraint (a number) and of each cone (a vector, or a matrix).

        A constraint's dual is the rate at which the objective changes with its right-hand side;
        a cone's is what its inner product with the entries enters the Lagrangian with, by a minus
        sign (and, for a maximisation, its negative).
        """
        found: dict = {}
        for (source, direction), multiplier in zip(self.rows, z.tolist(), strict=False):
            if source is not None and not isinstance(source, int):
                change = -self.sign * (direction or 1) * multiplier
                found[source] = found.get(source, 0.0) + change
        for cone, part in zip(self.cones, self.cone_slices(), strict=True):
            if cone.source is not None:
                found[cone.source] = self.sign * in_entries(cone, z[part])
        return found

    def reduced_costs(self, z: np.ndarray) -> list[float]:
        """Of each column: what the multipliers of its bounds add up to."""
        costs = np.zeros(len(self.columns))
        for (source, direction), multiplier in zip(self.rows, z.tolist(), strict=False):
            if isinstance(source, int):
                costs[source] -= self.sign * (direction or 1) * multiplier
        return costs.tolist()


def in_entries(cone: ConeRows, rows: np.ndarray) -> np.ndarray:
    """Rows of a cone in the coordinates of its component: a matrix, or a vector of entries."""
    if cone.kind == "semidefinite":
        return unpack(rows / triangle_scale(cone.order))
    if cone.rotated:
        u, v = (rows[0] + rows[1]) / math.sqrt(2.0), (rows[0] - rows[1]) / math.sqrt(2.0)
        return np.concatenate([[u, v], rows[2:]])
    return rows.copy()


@dataclass(frozen=True)
class ConicSolution:
    """What a conic solver returned.

    Attributes
    ----------
    status : ConicStatus
    x, z : array or None
        Primal point and dual multipliers; for ``infeasible``, z is the dual ray that shows it; for
        ``unbounded``, x is the direction of a ray along which the objective falls.
    message : str
        The solver's own word, and what was found on checking it.
    iterations : int or None
    seconds : float or None
        The solver's own time.
    """

    status: ConicStatus
    x: np.ndarray | None
    z: np.ndarray | None
    message: str
    iterations: int | None = None
    seconds: float | None = None
