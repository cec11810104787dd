"""Pyomo models with cones compiled to arrays, once, and brought up to date after that.

:func:`compile_model` compiles a model. A :class:`Compiler` keeps what it read, so that compiling
the same model again reads only what is new (cuts), what was stated anew, and the rows in which a
number can change (parameters). Fixed variables stay columns until the end, so fixing, freeing and
moving them costs nothing.
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.common.gc_manager import PauseGC
from pyomo.environ import (
    Block,
    Constraint,
    Expression,
    Objective,
    Param,
    RangeSet,
    Set,
    Suffix,
    Var,
    maximize,
)
from pyomo.repn.util import categorize_valid_components
from scipy import sparse

from radcluster.conic.compiling.linear import LinearReader
from radcluster.conic.compiling.objective import Curve, hessian, read_objective, require_convex
from radcluster.conic.compiling.rows import (
    BoundRows,
    ConeEntries,
    LinearRows,
    RowStore,
    cone_entries,
    variable_bounds,
)
from radcluster.conic.cone import active_cones
from radcluster.conic.program import KINDS, ConicProgram
from radcluster.errors import InputError

#: Up to this, relative to its limit, a constraint without variables counts as satisfied.
_TRIVIAL = 1e-9


def compile_model(model: Block, *, inline: bool = False) -> ConicProgram:
    """Compile a model whose constraints are affine but for its cones.

    Parameters
    ----------
    inline : bool
        Whether the program has no columns of its own for entries of cones with several terms.

    Raises
    ------
    InputError
        For an integer variable, a nonlinear constraint, an objective that is not linear or convex
        quadratic, several objectives, or a cone entry that is not affine; the message names the
        component.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from radcluster.conic import SecondOrderCone
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([0, 1])
    >>> m.cost = pyo.Objective(expr=m.x[0] - m.x[1])
    >>> m.disc = SecondOrderCone(1, [m.x[0], m.x[1]])
    >>> program = compile_model(m)
    >>> program.A.shape, program.cones[0].kind
    ((3, 2), 'second-order')
    """
    return Compiler(model, inline=inline).compile()


class Compiler:
    """Compiles one model, as often as asked."""

    def __init__(self, model: Block, *, inline: bool = False):
        self.model = model
        self.inline = inline
        self._variables: list = []
        self._index: dict[int, int] = {}
        self._store = RowStore(self._reader)
        self._cones: dict[int, tuple[object, ConeEntries]] = {}

    def _reader(self) -> LinearReader:
        return LinearReader(self._variables, self._index)

    def compile(self) -> ConicProgram:
        """The program of the model as it is now."""
        # A large model makes many small objects here, none of them garbage.
        with PauseGC():
            _refuse_unknown(self.model)
            objective = _the_objective(self.model)
            blocks = active_cones(self.model)
            blocks.sort(key=lambda block: KINDS.index(block.kind))
            curve = None if objective is None else read_objective(objective, self._reader())
            rows = self._store.rows(_linear_constraints(self.model, blocks))
            cones = [self._entries(block) for block in blocks]
            return _assembled(self._variables, objective, curve, rows, cones)

    def _entries(self, block) -> ConeEntries:
        known = self._cones.get(id(block))
        if known is not None and known[0] is block.cone.expr:
            return known[1]
        found = cone_entries(block, self._reader(), self.inline)
        if found.steady:
            self._cones[id(block)] = (block.cone.expr, found)
        return found


def _refuse_unknown(model) -> None:
    known = {Block, Constraint, Expression, Objective, Param, RangeSet, Set, Suffix, Var}
    _, unknown = categorize_valid_components(model, active=True, valid=known)
    for components in unknown.values():
        kind = components[0].ctype.__name__
        raise InputError(f"a conic solver cannot take {kind} components: {components[0].name}")


def _the_objective(model):
    objectives = list(model.component_data_objects(Objective, active=True))
    if len(objectives) > 1:
        names = ", ".join(objective.name for objective in objectives[:3])
        raise InputError(f"{len(objectives)} objectives are active, among them {names}")
    return objectives[0] if objectives else None


def _linear_constraints(model, blocks) -> list:
    """The active constraints that are not cones."""
    cones = {id(block.cone) for block in blocks}
    constraints = model.component_data_objects(Constraint, active=True, descend_into=True)
    return [constraint for constraint in constraints if id(constraint) not in cones]


def _assembled(variables, objective, curve: Curve | None, rows: LinearRows, cones) -> ConicProgram:
    """Everything that was read, with fixed variables as numbers."""
    n = len(variables)
    matrices = [rows.matrix, *(entries.matrix for entries in cones)]
    used = np.zeros(n, dtype=bool)
    for matrix in matrices:
        used[matrix.indices] = True
    if curve is not None:
        used[curve.linear.indices] = used[curve.rows] = used[curve.columns] = True
    fixed = np.fromiter(map(attrgetter("_fixed"), variables), dtype=bool, count=n) & used
    numbers = np.zeros(n)
    for column in np.flatnonzero(fixed):
        numbers[column] = _fixed_value(variables[column])
    folding = _Folding(n, used & ~fixed, numbers if fixed.any() else None)
    columns = [variables[column] for column in np.flatnonzero(folding.free)]
    maximised = objective is not None and objective.sense == maximize
    c, P, offset = _objective_arrays(curve, folding, objective, maximised)
    linear = _linear_rows(rows, folding, variable_bounds(columns))
    own, own_rhs, cone_matrix, cone_rhs = _cone_rows(cones, folding)
    n_own = len(own_rhs)
    zero = linear.n_zero
    body = linear.matrix
    body.resize((body.shape[0], len(columns) + n_own))
    A = sparse.vstack([body[:zero], own, body[zero:], cone_matrix], format="csc")
    return ConicProgram(
        c=np.concatenate([c, np.zeros(n_own)]),
        offset=offset,
        sign=-1.0 if maximised else 1.0,
        A=sparse.csc_array(A),
        b=np.concatenate([linear.rhs[:zero], own_rhs, linear.rhs[zero:], cone_rhs]),
        n_zero=zero + n_own,
        n_nonnegative=len(linear.rhs) - zero,
        columns=columns,
        rows=[*linear.sources[:zero], *[(None, 0)] * n_own, *linear.sources[zero:]],
        cones=[entries.cone for entries in cones],
        P=None if P is None else _widened(P, n_own),
    )


def _fixed_value(var) -> float:
    if var.value is None:
        raise InputError(f"the variable {var.name} is fixed, but has no value")
    return float(var.value)


class _Folding:
    """Which columns stay, and the numbers of those that do not."""

    def __init__(self, n: int, free: np.ndarray, numbers: np.ndarray | None):
        self.n, self.free, self.numbers = n, free, numbers
        self.new_number = np.cumsum(free) - 1

    def __call__(self, matrix: sparse.csr_array, constant: np.ndarray):
        """Rows over the free columns, and their constants with the fixed ones added."""
        parts = (matrix.data, matrix.indices, matrix.indptr)
        matrix = sparse.csr_array(parts, shape=(matrix.shape[0], self.n))
        shape = (matrix.shape[0], int(self.free.sum()))
        if self.numbers is not None:
            constant = constant + matrix @ self.numbers
            kept = self.free[matrix.indices]
            ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
            parts = (matrix.data[kept], self.new_number[matrix.indices[kept]], ends)
        else:
            parts = (matrix.data, self.new_number[matrix.indices], matrix.indptr)
        return sparse.csr_array(parts, shape=shape), constant


def _objective_arrays(curve: Curve | None, folding: _Folding, objective, maximised):
    """c, P and the offset of what is minimised."""
    if curve is None:
        return np.zeros(int(folding.free.sum())), None, 0.0
    sign = -1.0 if maximised else 1.0
    linear, constant = folding(curve.linear, np.array([curve.constant]))
    c = linear.toarray().ravel()
    offset = float(constant[0])
    if not (np.isfinite(c).all() and np.isfinite(offset) and np.isfinite(curve.data).all()):
        raise InputError(f"the objective {objective.name} holds a number that is not finite")
    if not len(curve.data):
        return sign * c, None, sign * offset
    # Pyomo has turned products with fixed variables into linear terms already.
    P = sign * hessian(curve, folding.n)[folding.free][:, folding.free]
    require_convex(P, objective.name, maximised)
    return sign * c, sparse.csc_array(P), sign * offset


def _widened(P: sparse.csc_array, n_own: int) -> sparse.csc_array:
    n = P.shape[0] + n_own
    wide = sparse.csc_array(P)
    wide.resize((n, n))
    return wide


class _Rows:
    """Rows ``A x = b`` first, then ``A x <= b``."""

    def __init__(self, matrix, rhs, sources, n_zero):
        self.matrix, self.rhs, self.sources, self.n_zero = matrix, rhs, sources, n_zero


def _linear_rows(rows: LinearRows, folding: _Folding, bounds: BoundRows) -> _Rows:
    """Constraints and variable bounds; constraints without variables are checked and left out."""
    matrix, constant = folding(rows.matrix, rows.constant)
    matrix.sum_duplicates()
    lower, upper = rows.lower - constant, rows.upper - constant
    if np.isnan(lower).any() or np.isnan(upper).any() or not np.isfinite(matrix.data).all():
        raise InputError(
            f"{_first_bad(rows, matrix, lower, upper)} holds a number that is not finite"
        )
    filled = np.zeros(matrix.shape[0], dtype=bool)
    filled[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[matrix.data != 0.0]] = True
    _check_trivial(rows, lower, upper, ~filled)
    equal = np.flatnonzero(filled & (lower == upper))
    # Of a range, the upper side stands before the lower one.
    sided = np.stack([np.isfinite(upper), np.isfinite(lower)], axis=1)
    sided &= (filled & (lower != upper))[:, None]
    row, side = np.nonzero(sided)
    sign = 1.0 - 2.0 * side
    inequalities = matrix[row]
    inequalities.data *= np.repeat(sign, np.diff(inequalities.indptr))
    fixing, rest = bounds.kinds == 0, bounds.kinds != 0
    kinds = bounds.kinds[rest]
    n_columns = matrix.shape[1]
    parts = [
        matrix[equal],
        _unit_rows(bounds.columns[fixing], np.ones(int(fixing.sum())), n_columns),
        inequalities,
        _unit_rows(bounds.columns[rest], kinds.astype(float), n_columns),
    ]
    rhs = [
        upper[equal],
        bounds.values[fixing],
        np.where(side == 0, upper[row], -lower[row]),
        kinds * bounds.values[rest],
    ]
    sources = [(rows.sources[r], 0) for r in equal.tolist()]
    sources += [(column, 0) for column in bounds.columns[fixing].tolist()]
    signs = sign.astype(int).tolist()
    sources += [(rows.sources[r], s) for r, s in zip(row.tolist(), signs, strict=True)]
    sources += list(zip(bounds.columns[rest].tolist(), kinds.tolist(), strict=True))
    stacked = sparse.csr_array(sparse.vstack(parts, format="csr"))
    return _Rows(stacked, np.concatenate(rhs), sources, len(equal) + int(fixing.sum()))


def _unit_rows(columns, signs, n_columns) -> sparse.csr_array:
    shape = (len(columns), n_columns)
    return sparse.csr_array((signs, columns, np.arange(len(columns) + 1)), shape=shape)


def _first_bad(rows, matrix, lower, upper) -> str:
    bad = np.isnan(lower) | np.isnan(upper)
    owners = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    bad[owners[~np.isfinite(matrix.data)]] = True
    return f"constraint {rows.sources[int(np.argmax(bad))].name}"


def _check_trivial(rows, lower, upper, trivial) -> None:
    """Constraints without variables hold, or the model has no solution."""
    slack = _TRIVIAL * np.maximum(1.0, np.abs(np.where(np.isfinite(upper), upper, 0.0)))
    broken = np.flatnonzero(trivial & ((upper < -slack) | (lower > slack)))
    if len(broken):
        name = rows.sources[int(broken[0])].name
        raise InfeasibleConstraintException(
            f"the constraint {name} has no free variable and does not hold"
        )


def _cone_rows(cones: list[ConeEntries], folding: _Folding):
    """Equations of the program's own columns, and the rows of the cones."""
    n_free = int(folding.free.sum())
    n_own = sum(len(entries.own) for entries in cones)
    own, own_rhs, matrices, constants, first = [], [], [], [], 0
    for entries in cones:
        matrix, constant = folding(entries.matrix, entries.constant)
        matrix.resize((matrix.shape[0], n_free + n_own))
        if len(entries.own):
            fresh = np.arange(n_free + first, n_free + first + len(entries.own))
            minus = _unit_rows(fresh, -np.ones(len(fresh)), n_free + n_own)
            own.append(matrix[entries.own] + minus)
            own_rhs.append(-constant[entries.own])
            first += len(fresh)
            matrix, constant = _replaced(matrix, constant, entries.own, fresh)
        rows, constant = entries.turned(matrix, constant)
        matrices.append(-rows)
        constants.append(constant)
    empty = sparse.csr_array((0, n_free + n_own))
    return (
        sparse.vstack([empty, *own], format="csr"),
        np.concatenate([np.empty(0), *own_rhs]),
        sparse.vstack([empty, *matrices], format="csr"),
        np.concatenate([np.empty(0), *constants]),
    )


def _replaced(matrix, constant, numbers, fresh):
    """Entries with these numbers as columns of their own."""
    kept = np.ones(matrix.shape[0], dtype=bool)
    kept[numbers] = False
    coo = matrix.tocoo()
    stay = kept[coo.row]
    data = np.concatenate([coo.data[stay], np.ones(len(fresh))])
    where = (np.append(coo.row[stay], numbers), np.append(coo.col[stay], fresh))
    return sparse.csr_array((data, where), shape=matrix.shape), np.where(kept, constant, 0.0)
