"""Bounds from an inexact dual solution of a conic program that hold all the same.

Theorem. Let x be feasible for min c'x, Ax + s = b, s in K (:mod:`radcluster.conic.program`), P_k
the matrices of its semidefinite blocks, and z any vector whose parts for inequalities and for
second-order, exponential and power cones lie in the dual cones. With S_k the matrices that z holds
for the blocks,

    c'x  >=  -b'z  +  (c + A'z)'x  +  sum_k <S_k, P_k>.

At an exact dual solution c + A'z = 0 and the S_k are psd, so the last two terms can be dropped. Of
an inexact one, z is first put into the dual cones; then c + A'z is moved into the S_k, exactly, for
every variable that is by itself an entry of a block; and

    <S_k, P_k>  >=  min(0, smallest eigenvalue of W_k^-1/2 S_k W_k^-1/2) t_k        (Jansson 2004)

where the weighted trace <W_k, P_k> is at most t_k: declared by ``trace=``, or from bounds of the
diagonal. Other variables cost the minimum of (c + A'z)_j x_j over their bounds. A convex quadratic
objective is replaced by its tangent at the solver's point, which lies below it.

A solver's inaccuracy costs a small multiple of t_k and of the bounds, never the validity. Rounding
is charged explicitly: a sum of n terms with n eps times the sum of their absolute values, an
eigenvalue with 8 n eps |S|; the variables outside all blocks are summed in exact arithmetic.

The bound with c = 0 also proves infeasibility: no x is left by a z for which it is positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from pyomo.environ import Objective, maximize
from scipy import sparse
from scipy.linalg import eigvalsh

from radcluster.conic.backends.check import cone_violation, residuals
from radcluster.conic.compiling.linear import LinearReader
from radcluster.conic.compiling.objective import factors
from radcluster.conic.program import ConeRows, ConicProgram, ConicStatus
from radcluster.conic.psd import MatrixConeData
from radcluster.conic.triangle import position_of, triangle_scale, unpack
from radcluster.errors import InputError

_EPS = np.finfo(float).eps


class SafeBound(float):
    """A bound, with the reason when there is none.

    Attributes
    ----------
    reason : str or None
        Why the bound is infinite.
    """

    reason: str | None

    def __new__(cls, number: float, reason: str | None = None):
        found = super().__new__(cls, number)
        found.reason = reason
        return found


def safe_bound(model, results) -> SafeBound:
    """A bound on the optimal value of a model that no inaccuracy of the solver can spoil.

    Parameters
    ----------
    model : Block
        As it was solved.
    results
        What ``solve`` returned for it, of a conic solver of either of Pyomo's interfaces.

    Returns
    -------
    SafeBound
        A lower bound of a minimisation, an upper bound of a maximisation. When it cannot be had,
        -inf or inf, and ``reason`` says what is missing: a finite bound of a variable, ``trace=``
        of a block, or a dual solution. Of a model that is proven infeasible it is inf (-inf for a
        maximisation), and ``reason`` says so.

    Notes
    -----
    The theorem is in :mod:`radcluster.conic.bounds`. It needs bounds on the variables, except on
    those that are entries of a semidefinite block by themselves; of each such block, a limit on its
    trace or upper bounds on its diagonal.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from radcluster.conic import PSDVar, safe_bound
    >>> m = pyo.ConcreteModel()
    >>> m.X = PSDVar(2, trace=1.0)
    >>> m.trace = pyo.Constraint(expr=m.X.X[0, 0] + m.X.X[1, 1] == 1)
    >>> m.value = pyo.Objective(expr=m.X.X[0, 1])
    >>> bound = safe_bound(m, pyo.SolverFactory("scs").solve(m))
    >>> -0.501 < bound <= -0.5
    True
    """
    loader = getattr(results, "_loader", None) or getattr(results, "solution_loader", None)
    if not hasattr(loader, "program"):
        raise InputError("safe_bound needs the results of a conic solver of radcluster.conic")
    if loader._pyomo_model is not model:
        raise InputError("these are the results of another model")
    if loader.program is None:
        maximised = any(
            objective.sense == maximize
            for objective in model.component_data_objects(Objective, active=True)
        )
        nothing = -math.inf if maximised else math.inf
        return SafeBound(nothing, "the model is infeasible: a constraint cannot hold")
    claimed = loader.solution.status == ConicStatus.INFEASIBLE
    if claimed and proves_infeasible(loader.program, loader.solution.z):
        nothing = loader.program.sign * math.inf
        return SafeBound(nothing, "the model is infeasible: the dual ray proves it")
    bound = program_bound(loader.program, loader.solution.z, loader.solution.x)
    return SafeBound(loader.program.sign * bound, bound.reason)


def program_bound(
    program: ConicProgram, z: np.ndarray | None, x: np.ndarray | None = None
) -> SafeBound:
    """A lower bound on the minimum of the program, whatever the accuracy of z.

    Parameters
    ----------
    program : ConicProgram
        Of a maximisation, the bound is on the negated objective.
    z : array or None
        Multipliers of the rows of ``program.A``, as a solver returned them.
    x : array or None
        Where the tangent of a quadratic objective is taken.

    Returns
    -------
    SafeBound
        -inf when z is missing or not finite, or something that matters is not bounded.
    """
    if z is None or not np.isfinite(z).all():
        return SafeBound(-math.inf, "there is no dual solution")
    if program.P is None:
        return _bound(program, z, program.c, program.offset)
    if x is None or not np.isfinite(x).all():
        return SafeBound(-math.inf, "there is no point for the tangent of the objective")
    c, offset, reason = _tangent(program, x)
    if reason is not None:
        return SafeBound(-math.inf, reason)
    return _bound(program, z, c, offset)


def proves_infeasible(program: ConicProgram, ray: np.ndarray | None) -> bool:
    """Whether a dual ray proves, rounding included, that no point is feasible."""
    if ray is None or not np.isfinite(ray).all() or not ray.any():
        return False
    return _bound(program, ray / np.abs(ray).max(), np.zeros_like(program.c), 0.0) > 0.0


def dual_violation(program: ConicProgram, z: np.ndarray) -> float:
    """By how much z fails to be a dual solution.

    The residual c + A'z is moved into the blocks first; what counts is the most negative
    eigenvalue of a block, relative to its largest where that exceeds 1, and the residual of the
    variables outside all blocks.
    """
    exact = made_exact(program, z, program.c)
    worst = float(np.abs(program.c + program.A.T @ exact.z).max())
    for order, part in zip(program.orders, program.block_slices(), strict=True):
        eigenvalues = eigvalsh(unpack(exact.z[part] / triangle_scale(order)))
        worst = max(worst, -float(eigenvalues[0]) / max(1.0, float(eigenvalues[-1])))
    return worst


def primal_violation(program: ConicProgram, x: np.ndarray) -> float:
    """By how much x fails to be feasible, relative to the largest right-hand side above 1."""
    found = residuals(program, x, np.zeros_like(program.b)).primal
    image = float(np.abs(program.A @ x).max(initial=0.0))
    largest = float(np.abs(program.b).max(initial=0.0))
    return found * (1.0 + max(largest, image)) / max(1.0, largest)


def _bound(program: ConicProgram, z, c, offset: float) -> SafeBound:
    exact = made_exact(program, z, c)
    total = -dot_up(program.b, exact.z)
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        if cone.kind != "semidefinite":
            continue
        weights, limit, missing = trace_limit(cone.source)
        scaled, margin = scaled_block(cone, exact, part, weights)
        smallest = float(eigvalsh(scaled, subset_by_index=[0, 0])[0]) - margin
        if smallest < 0:
            if not math.isfinite(limit):
                return SafeBound(-math.inf, missing)
            total += smallest * limit
    others, reason = least_over_bounds(program, exact.z, c, exact.outside)
    return SafeBound(float(total + others + offset), reason)


@dataclass(frozen=True)
class ExactDual:
    """Multipliers in the dual cones, their residual moved into the blocks.

    Attributes
    ----------
    z : array
    outside : bool array
        Columns that are no entries of blocks.
    owner : int array
        For each other column the row of its entry.
    leftover : array
        A bound of |c + A'z| for these, which rounding has left.
    """

    z: np.ndarray
    outside: np.ndarray
    owner: np.ndarray
    leftover: np.ndarray


def made_exact(program: ConicProgram, z: np.ndarray, c: np.ndarray) -> ExactDual:
    """Put z into the dual cones and move c + A'z into the entries of the blocks."""
    z = _in_dual_cones(program, z)
    owner = _owners(program)
    inside = np.flatnonzero(owner >= 0)
    coefficient = -_row_scale(program)[owner[inside]]
    residual = c + program.A.T @ z
    np.subtract.at(z, owner[inside], residual[inside] / coefficient)
    terms = np.diff(program.A.tocsc().indptr) + 2
    leftover = 2 * _EPS * terms * (np.abs(c) + np.abs(program.A).T @ np.abs(z))
    leftover += np.abs(c + program.A.T @ z)
    return ExactDual(z, owner < 0, owner, leftover)


def _in_dual_cones(program: ConicProgram, z: np.ndarray) -> np.ndarray:
    z = z.copy()
    nonnegative = slice(program.n_zero, program.n_linear)
    z[nonnegative] = np.maximum(z[nonnegative], 0.0)
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        if cone.kind == "second-order":
            tail = float(np.linalg.norm(z[part][1:]))
            z[part.start] = max(z[part.start], tail * (1.0 + 2 * cone.size * _EPS))
        elif cone.kind != "semidefinite":
            direction = [-1.0, 1.0, 1.0] if cone.kind == "exponential" else [1.0, 1.0, 0.0]
            step = cone_violation(cone, z[part], dual=True)
            # Beyond the boundary, so that rounding in the test of membership does not matter.
            step += 1e-12 * (1.0 + float(np.abs(z[part]).max()))
            z[part] += step * np.array(direction)
    return z


def _row_scale(program: ConicProgram) -> np.ndarray:
    """sqrt 2 for off-diagonal entries of blocks, 1 elsewhere."""
    scale = np.ones(len(program.b))
    for order, part in zip(program.orders, program.block_slices(), strict=True):
        scale[part] = triangle_scale(order)
    return scale


def _owners(program: ConicProgram) -> np.ndarray:
    """For each column a row of a block of which it is the entry by itself; -1: there is none."""
    owner = np.full(len(program.c), -1)
    rows = np.zeros(len(program.b), dtype=bool)
    for part in program.block_slices():
        rows[part] = True
    matrix = sparse.csr_array(program.A)
    single = rows & (np.diff(matrix.indptr) == 1) & (program.b == 0.0)
    numbers = np.flatnonzero(single)
    columns = matrix.indices[matrix.indptr[numbers]]
    plain = matrix.data[matrix.indptr[numbers]] == -_row_scale(program)[numbers]
    owner[columns[plain][::-1]] = numbers[plain][::-1]
    return owner


def dot_up(b: np.ndarray, z: np.ndarray) -> float:
    """b'z, rounded up."""
    return float(b @ z + 2 * len(b) * _EPS * (np.abs(b) @ np.abs(z)))


def scaled_block(cone: ConeRows, exact: ExactDual, part: slice, weights: np.ndarray):
    """W^-1/2 S W^-1/2, and a margin for all errors of its eigenvalues."""
    s = unpack(exact.z[part] / triangle_scale(cone.order))
    root = np.sqrt(weights)
    scaled = s / np.outer(root, root)
    margin = 8 * cone.order * _EPS * np.linalg.norm(scaled)
    charged = exact.leftover[(exact.owner >= part.start) & (exact.owner < part.stop)]
    return scaled, margin + np.linalg.norm(charged) / weights.min()


def trace_limit(block: MatrixConeData) -> tuple[np.ndarray, float, str | None]:
    """Weights of the diagonal, a limit of the weighted trace, and what is missing if infinite."""
    labels = [*block.labels, None] if block.bordered else list(block.labels)
    if block.trace is not None:
        weights, limit = block.trace
        return np.array([weights[label] for label in labels], dtype=float), float(limit), None
    upper = [_upper(block, position_of(p, p)) for p in range(block.order)]
    missing = None
    if not math.isfinite(sum(upper)):
        missing = (
            f"the trace of the block {block.name} is not bounded: declare trace=..., or bound its "
            "diagonal"
        )
    return np.ones(len(labels)), float(sum(upper)) * (1.0 + 1e-12), missing


def _upper(block: MatrixConeData, number: int) -> float:
    """An upper bound of an entry from the bounds of its variables."""
    reader = LinearReader()
    reader.read(block.entries[number])
    row, total = reader.matrix(), reader.constants[0]
    for column, coefficient in zip(row.indices.tolist(), row.data.tolist(), strict=True):
        var = reader.variables[column]
        lower, upper = (var.value, var.value) if var.fixed else var.bounds
        side = upper if coefficient > 0 else lower
        if side is None:
            return math.inf
        total += coefficient * side
    return total


def least_over_bounds(
    program: ConicProgram, z: np.ndarray, c: np.ndarray, outside: np.ndarray
) -> tuple[float, str | None]:
    """The least value of (c + A'z)'x over the bounds of the variables outside all blocks.

    In exact arithmetic: of a variable without bounds, only a residual of zero will do.
    """
    matrix = program.A.tocsc()
    total = Fraction(0)
    for column in np.flatnonzero(outside).tolist():
        part = slice(*matrix.indptr[column : column + 2])
        residual = Fraction(float(c[column])) + sum(
            Fraction(a) * Fraction(z_row)
            for a, z_row in zip(
                matrix.data[part].tolist(), z[matrix.indices[part]].tolist(), strict=True
            )
        )
        if residual:
            var = program.columns[column]
            lower, upper = var.bounds
            side = lower if residual > 0 else upper
            if side is None:
                word = "lower" if residual > 0 else "upper"
                reason = f"the variable {var.name} has no {word} bound"
                return -math.inf, f"{reason}, and its dual residual is {float(residual):.1e}"
            total += residual * Fraction(float(side))
    return (float(np.nextafter(float(total), -np.inf)) if total else 0.0), None


def _tangent(program: ConicProgram, x: np.ndarray):
    """c and offset of a linear function below the objective over the bounds of the variables."""
    P = sparse.csr_array(program.P)
    slope = P @ x
    c = program.c + slope
    _, worst = factors(program.P)
    curved = np.flatnonzero(np.diff(P.indptr) > 0)
    radius = np.zeros(len(x))
    for column in curved.tolist():
        var = program.columns[column]
        sides = var.bounds
        if None in sides:
            reason = f"the variable {var.name} of the quadratic objective is not bounded"
            return c, 0.0, reason
        radius[column] = max(abs(side - x[column]) for side in sides)
    terms = np.diff(P.indptr) + 2
    error = 2 * _EPS * terms * (np.abs(program.c) + abs(P) @ np.abs(x))
    charge = float(error @ radius) - 0.5 * min(worst, 0.0) * float(radius @ radius)
    half = 0.5 * float(x @ slope)
    charge += 4 * len(x) * _EPS * float(np.abs(x) @ (abs(P) @ np.abs(x)))
    return c, program.offset - half - 2.0 * charge, None
