"""A Pyomo model with Schur blocks as a conic program, and solutions back into the model.

    minimise  c'x + offset   subject to   A x + slack = b,
    slack  in  {0}^p  x  R_+^q  x  PSD(n_1)  x  PSD(n_2)  x ...

Linear constraints and variable bounds give the first p + q rows; each Schur block gives the upper
triangle of its matrix, column by column, off-diagonal entries times sqrt 2, so that inner products
of vectors are those of matrices. A dual solution z lies in the dual cone with A'z + c = 0, and
-b'z + offset is its value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError, InvalidValueError
from pyomo.common.gc_manager import PauseGC
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.expr.numvalue import NumericValue
from pyomo.core.staleflag import StaleFlagManager
from pyomo.environ import Block, Objective, maximize, value
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler
from scipy import sparse

from radcluster.errors import InputError
from radcluster.schur import SchurBlockData, schur_blocks, triangle_indices, unpack


@dataclass(frozen=True)
class ConicProgram:
    """The arrays of a conic program, and which part of the model each row and column came from.

    Attributes
    ----------
    c, offset, A, b
        As above; for a maximisation, of the negated objective (``sign`` is then -1).
    n_zero, n_nonnegative : int
        p and q.
    columns : list of Var data
    rows : list of (constraint or column index, sign)
        For each of the p + q linear rows: the constraint, or the column whose bound it is; and
        whether ``A x <= b`` is it (1, or 0 for an equation) or its negative (-1).
    blocks : list of Schur blocks
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
    blocks: list[SchurBlockData]

    @property
    def n_linear(self) -> int:
        return self.n_zero + self.n_nonnegative

    @property
    def orders(self) -> list[int]:
        return [block.order for block in self.blocks]

    def block_slices(self) -> list[slice]:
        """The rows of each Schur block."""
        ends = self.n_linear + np.cumsum([n * (n + 1) // 2 for n in self.orders], dtype=int)
        return [slice(a, e) for a, e in zip([self.n_linear, *ends], ends, strict=False)]

    def scaled(self) -> tuple[ConicProgram, float]:
        """The program with its objective in units of its largest coefficient, and that unit.

        Solvers have absolute tolerances: an objective of 1e-8 would be as good as none to them.
        The unit is a power of two, so that nothing is rounded.
        """
        largest = float(np.abs(self.c).max(initial=0.0))
        unit = 2.0 ** round(math.log2(largest)) if largest > 0 else 1.0
        return replace(self, c=self.c / unit, offset=self.offset / unit), unit

    def objective(self, x: np.ndarray) -> float:
        """The model's own objective at x."""
        return self.sign * float(self.c @ x + self.offset)

    def load(self, x: np.ndarray) -> None:
        """Put values into the model's variables."""
        for var, number in zip(self.columns, x.tolist(), strict=True):
            var.set_value(number, skip_validation=True)
        StaleFlagManager.mark_all_as_stale(delayed=True)

    def duals(self, z: np.ndarray) -> dict:
        """Dual of each constraint (a number) and of each Schur block (a matrix).

        A constraint's dual is the rate at which the objective changes with its right-hand side;
        a block's is the matrix whose inner product with the block enters the Lagrangian with a
        minus sign (and, for a maximisation, its negative).
        """
        found: dict = {}
        for (source, direction), multiplier in zip(self.rows, z.tolist(), strict=False):
            if not isinstance(source, int):
                change = -self.sign * (direction or 1) * multiplier
                found[source] = found.get(source, 0.0) + change
        for block, part in zip(self.blocks, self.block_slices(), strict=True):
            found[block] = self.sign * unpack(z[part] / triangle_scale(block.order))
        return found

    def reduced_costs(self, z: np.ndarray) -> list[float]:
        """Of each column: what the multipliers of its bounds add up to."""
        costs = np.zeros(len(self.columns))
        for (source, direction), multiplier in zip(self.rows, z.tolist(), strict=False):
            if isinstance(source, int):
                costs[source] -= self.sign * (direction or 1) * multiplier
        return costs.tolist()


@dataclass(frozen=True)
class ConicSolution:
    """What a conic solver returned.

    Attributes
    ----------
    status : str
        ``optimal``; ``almost`` (a point that misses the tolerance); ``infeasible`` or
        ``unbounded``; ``time_limit``, ``iteration_limit``; ``error``.
    x, z : array or None
        Primal point and dual multipliers; for ``infeasible``, z is the solver's dual ray, or None
        when it gives none.
    message : str
        The solver's own word.
    """

    status: str
    x: np.ndarray | None
    z: np.ndarray | None
    message: str


def triangle_scale(order: int) -> np.ndarray:
    """1 on the diagonal, sqrt 2 off it, over the triangle of a symmetric matrix."""
    rows, columns = triangle_indices(order)
    return np.where(rows == columns, 1.0, math.sqrt(2.0))


def compile_model(model: Block) -> ConicProgram:
    """Compile a model whose constraints are linear but for its Schur blocks.

    Raises
    ------
    InputError
        For an integer variable, a nonlinear constraint or objective, several objectives, or a
        block entry that is neither a variable nor a constant; the message names the component.
    """
    objectives = list(model.component_data_objects(Objective, active=True))
    if len(objectives) > 1:
        raise InputError(
            f"{len(objectives)} objectives are active, among them {objectives[1].name}"
        )
    blocks = schur_blocks(model)
    form = _linear_part(model, blocks)
    # A large model makes many small objects here, none of them garbage.
    with PauseGC():
        try:
            return _assemble(form, objectives, blocks)
        except InvalidValueError as error:
            raise InputError(f"a constraint has no value: {error}") from None


def _linear_part(model, blocks):
    """All but the cones, compiled by Pyomo."""
    for block in blocks:
        block.cone.deactivate()
    try:
        return LinearStandardFormCompiler().write(model, mixed_form=True)
    except (InvalidConstraintError, InvalidExpressionError) as error:
        raise InputError(f"conic solvers take linear expressions only: {error}") from None
    except ValueError as error:
        raise InputError(f"a conic solver cannot take this model: {error}") from None
    finally:
        for block in blocks:
            block.cone.activate()


def _assemble(form, objectives, blocks) -> ConicProgram:
    """The compiled linear part, the bounds and the Schur blocks, put together."""
    columns = list(form.columns)
    index = {id(var): number for number, var in enumerate(columns)}
    cones = [_block_rows(block, columns, index) for block in blocks]
    n = len(columns)
    c = np.zeros(n)
    if objectives:
        c[: form.c.shape[1]] = form.c.toarray().ravel()
    linear, rhs, sources, n_zero = _linear_rows(form, columns)
    parts = [linear] + [
        sparse.csr_array((-data, (row, column)), shape=(len(constant), n))
        for data, row, column, constant in cones
    ]
    return ConicProgram(
        c=c,
        offset=float(form.c_offset[0]) if objectives else 0.0,
        sign=-1.0 if objectives and objectives[0].sense == maximize else 1.0,
        A=sparse.csc_array(sparse.vstack(parts, format="csc")),
        b=np.concatenate([rhs, *(constant for *_, constant in cones)]),
        n_zero=n_zero,
        n_nonnegative=len(rhs) - n_zero,
        columns=columns,
        rows=sources,
        blocks=blocks,
    )


def _linear_rows(form, columns):
    """Constraints and variable bounds as rows ``A x = b`` first, then ``A x <= b``."""
    kinds = np.array([row.bound_type for row in form.rows], dtype=int)
    bound_column, bound_kind, bound_value = _bounds(columns)
    kind = np.concatenate([kinds, bound_kind])
    direction = np.where(kind == -1, -1.0, 1.0)
    n = len(columns)
    constraints = sparse.csr_array(form.A)
    constraints.resize((len(kinds), n))
    order_one = (np.ones(len(bound_column)), (np.arange(len(bound_column)), bound_column))
    matrix = sparse.vstack(
        [constraints, sparse.csr_array(order_one, shape=(len(bound_column), n))], format="csr"
    )
    matrix = sparse.dia_array((direction[None], [0]), shape=(len(kind),) * 2) @ matrix
    rhs = direction * np.concatenate([np.asarray(form.rhs, dtype=float), bound_value])
    order = np.argsort(kind != 0, kind="stable")
    sources = [row.constraint for row in form.rows] + bound_column.tolist()
    rows = [(sources[r], int(kind[r])) for r in order]
    return sparse.csr_array(matrix)[order], rhs[order], rows, int((kind == 0).sum())


def _bounds(columns):
    """Column, kind (-1 lower, 1 upper, 0 both) and value of each finite variable bound."""
    column, kind, bound = [], [], []
    for number, var in enumerate(columns):
        if not var.is_continuous():
            raise InputError(f"conic solvers take continuous variables only: {var.name} is not")
        lower, upper = var.bounds
        if lower is not None and lower == upper:
            sides = ((0, lower),)
        else:
            sides = ((-1, lower), (1, upper))
        for side, limit in sides:
            if limit is not None:
                column.append(number)
                kind.append(side)
                bound.append(limit)
    return np.array(column, dtype=int), np.array(kind, dtype=int), np.array(bound, dtype=float)


def _block_rows(block, columns, index):
    """Scaled triangle of a block as (data, row, column) of its variables, and its constants.

    Variables that occur in blocks only are appended to ``columns``.
    """
    scale = triangle_scale(block.order).tolist()
    data, row, column = [], [], []
    constants = np.zeros(len(scale))
    for r, (entry, factor) in enumerate(zip(block.triangle, scale, strict=True)):
        is_number = entry.__class__ in native_numeric_types
        if not is_number and not isinstance(entry, NumericValue):
            raise InputError(f"{_where(block, r)} is {entry!r}: neither a variable nor a constant")
        if not is_number and entry.is_variable_type():
            if not entry.fixed:
                if id(entry) not in index:
                    index[id(entry)] = len(columns)
                    columns.append(entry)
                data.append(factor)
                row.append(r)
                column.append(index[id(entry)])
                continue
        elif not is_number and entry.is_potentially_variable():
            raise InputError(
                f"{_where(block, r)} is {entry}: neither a variable nor a constant. "
                f"Leave it to the block, and state it by an equation."
            )
        number = value(entry, exception=False)
        if number is None or not math.isfinite(number):
            raise InputError(f"{_where(block, r)} is {number}: not a finite number")
        constants[r] = factor * number
    return np.array(data), np.array(row, dtype=int), np.array(column, dtype=int), constants


def _where(block, r) -> str:
    rows, columns = triangle_indices(block.order)
    return f"entry ({rows[r]}, {columns[r]}) of the Schur block {block.name}"
