"""Constraints, bounds and cones of a model as rows over all of its variables.

Rows are read over every variable that occurs, fixed ones too. The compiler turns the fixed ones
into numbers at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np
from pyomo.common.errors import InvalidConstraintError
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.expr.relational_expr import RangedExpression
from pyomo.environ import value
from scipy import sparse

from radcluster.conic.compiling.linear import LinearReader, NotAffine
from radcluster.conic.cone import ConeData
from radcluster.conic.margins import RotatedMargin
from radcluster.conic.program import ConeRows
from radcluster.conic.triangle import triangle_scale
from radcluster.errors import InputError

#: Runs of more ranges than this are read at once.
_MANY = 30


@dataclass(frozen=True)
class LinearRows:
    """``lower <= matrix x + constant <= upper``, one row per constraint."""

    sources: list
    matrix: sparse.csr_array
    constant: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class RowStore:
    """Linear constraints that were read, kept between compilations.

    A row is read again when its constraint was stated anew, or when a number in it can change.
    """

    def __init__(self, new_reader):
        self._new_reader = new_reader
        self._kept = new_reader()
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._slot: dict[int, tuple[int, object, object]] = {}
        self._volatile: set[int] = set()

    def rows(self, constraints: list) -> LinearRows:
        """The rows of these constraints: those that can be kept first."""
        kept, again = [], []
        for kind, run in groupby(constraints, key=attrgetter("expr.__class__")):
            run = list(run)
            if kind is RangedExpression and len(run) > _MANY and self._read_ranges(run, kept):
                continue
            for constraint in run:
                known = self._slot.get(id(constraint))
                if known is not None and known[1] is constraint.expr:
                    kept.append((known[0], constraint))
                elif id(constraint) in self._volatile:
                    again.append(constraint)
                else:
                    self._read_first(constraint, kept, again)
        reader, sides = self._new_reader(), []
        for constraint in again:
            sides.append(_read(constraint, reader)[0])
        n = len(reader.variables)
        slots = np.array([slot for slot, _ in kept], dtype=int)
        matrix = self._kept.matrix(n)
        if len(slots) != matrix.shape[0] or (np.diff(slots) != 1).any():
            matrix = matrix[slots]
        matrix = sparse.vstack([matrix, reader.matrix(n)], format="csr")
        kept_constants = np.array(self._kept.constants, dtype=float)[slots]
        constant = np.concatenate([kept_constants, reader.constants])
        again_lower, again_upper = np.array(sides, dtype=float).reshape(-1, 2).T
        lower = np.concatenate([np.array(self._lower, dtype=float)[slots], again_lower])
        upper = np.concatenate([np.array(self._upper, dtype=float)[slots], again_upper])
        sources = [constraint for _, constraint in kept] + again
        return LinearRows(sources, matrix, constant, lower, upper)

    def _read_ranges(self, run: list, kept: list) -> bool:
        """Read many sums of variables between two numbers at once: most rows of a large model.

        False, with nothing read, when one of them is something else or was read before.
        """
        known = self._slot.keys() | self._volatile if self._volatile else self._slot.keys()
        expressions = [constraint.expr for constraint in run]
        lower, bodies, upper = zip(*[part.args for part in expressions], strict=True)
        numbers = set(map(type, lower)) | set(map(type, upper)) == {float}
        first = len(self._kept)
        new = known.isdisjoint(map(id, run))
        if not (numbers and new and self._kept.read_sums(bodies)):
            return False
        self._lower.extend(lower)
        self._upper.extend(upper)
        slots = range(first, first + len(run))
        facts = zip(slots, expressions, run, strict=True)
        self._slot.update(zip(map(id, run), facts, strict=True))
        kept.extend(zip(slots, run, strict=True))
        return True

    def _read_first(self, constraint, kept: list, again: list) -> None:
        slot = len(self._kept)
        sides, volatile = _read(constraint, self._kept)
        self._lower.append(sides[0])
        self._upper.append(sides[1])
        if volatile:
            # Its row stays in the store, unused.
            self._slot.pop(id(constraint), None)
            self._volatile.add(id(constraint))
            again.append(constraint)
        else:
            # The constraint is kept too, so that its id stays its own.
            self._slot[id(constraint)] = (slot, constraint.expr, constraint)
            kept.append((slot, constraint))


def _read(constraint, reader: LinearReader) -> tuple[tuple[float, float], bool]:
    """Append the body; its two limits, and whether any number can change."""
    n_volatile = len(reader.volatile)
    try:
        lower, body, upper = constraint.to_bounded_expression()
        reader.read(body)
    except (NotAffine, InvalidConstraintError) as error:
        raise InputError(
            f"conic solvers take affine constraints and cones: {constraint.name} is neither "
            f"({error}). A norm |w| <= t is conic.SecondOrderCone(t, w)."
        ) from None
    except InputError as error:
        raise InputError(f"constraint {constraint.name}: {error}") from None
    volatile = len(reader.volatile) > n_volatile
    sides = []
    for side, missing in ((lower, -math.inf), (upper, math.inf)):
        if side is None:
            sides.append(missing)
        elif side.__class__ in native_numeric_types:
            sides.append(float(side))
        else:
            number = value(side, exception=False)
            if number is None:
                raise InputError(f"constraint {constraint.name}: {side} has no value")
            sides.append(float(number))
            volatile = True
    return tuple(sides), volatile


@dataclass(frozen=True)
class BoundRows:
    """Column, kind (-1 lower, 1 upper, 0 both) and value of each finite variable bound."""

    columns: np.ndarray
    kinds: np.ndarray
    values: np.ndarray


def variable_bounds(columns: list) -> BoundRows:
    """The bounds of variables, which have to be continuous."""
    column, kind, bound = [], [], []
    for number in _maybe_bounded(columns):
        var = columns[number]
        lower, upper = var.bounds
        sides = ((0, lower),) if lower == upper else ((-1, lower), (1, upper))
        for side, limit in sides:
            if limit is not None:
                column.append(number)
                kind.append(side)
                bound.append(limit)
    return BoundRows(np.array(column, dtype=int), np.array(kind, dtype=int), np.array(bound, float))


def _maybe_bounded(columns: list) -> list[int]:
    """Which variables may have bounds. To ask each of them takes many times as long."""
    keys = list(map(id, map(attrgetter("_domain"), columns)))
    bounded = set()
    for key, var in dict(zip(keys, columns, strict=True)).items():
        if not var.is_continuous():
            name = columns[keys.index(key)].name
            raise InputError(f"conic solvers take continuous variables only: {name} is not")
        if var.domain.bounds() != (None, None):
            bounded.add(key)
    lower, upper = (list(map(attrgetter(side), columns)) for side in ("_lb", "_ub"))
    n = len(columns)
    if not bounded and lower.count(None) == n and upper.count(None) == n:
        return []
    facts = enumerate(zip(keys, lower, upper, strict=True))
    return [
        number
        for number, (key, low, high) in facts
        if low is not None or high is not None or key in bounded
    ]


@dataclass(frozen=True)
class ConeEntries:
    """``matrix x + constant`` are the entries of a cone.

    Attributes
    ----------
    own : int array
        Entries that get a variable of the program's own.
    steady : bool
        Whether no number can change until the cone is stated anew.
    """

    cone: ConeRows
    matrix: sparse.csr_array
    constant: np.ndarray
    own: np.ndarray
    steady: bool

    def turned(self, rows: sparse.csr_array, constant: np.ndarray):
        """Rows over the entries as rows of the cone, in the coordinates that solvers take."""
        if self.cone.kind == "semidefinite":
            scale = triangle_scale(self.cone.order)
        elif self.cone.rotated:
            half = math.sqrt(0.5)
            turn = sparse.eye_array(self.cone.size, format="lil")
            turn[:2, :2] = [[half, half], [half, -half]]
            return sparse.csr_array(turn) @ rows, turn @ constant
        else:
            return rows, constant
        rows = rows.copy()
        rows.data *= np.repeat(scale, np.diff(rows.indptr))
        return rows, constant * scale


def cone_entries(block: ConeData, reader: LinearReader, inline: bool = False) -> ConeEntries:
    """Read the entries of a cone."""
    cone, steady = _described(block)
    given = block.affine
    if given is not None:
        columns = np.array([reader.column(var) for var in given.variables], dtype=np.int64)
        part = given.coefficients
        parts = (part.data, columns[part.indices], part.indptr)
        matrix = sparse.csr_array(parts, shape=(cone.size, len(reader.variables)))
        constant = given.constant
    else:
        try:
            reader.read_all(block.entries[: cone.size])
        except InputError as error:
            place = block.place(len(reader))
            raise InputError(f"{place} is not affine in the variables: {error}") from None
        matrix, constant = reader.matrix(), np.array(reader.constants)
        matrix.sum_duplicates()
        steady = steady and not reader.volatile
    if not np.isfinite(constant).all() or not np.isfinite(matrix.data).all():
        bad = ~np.isfinite(constant)
        bad[np.repeat(np.arange(cone.size), np.diff(matrix.indptr))[~np.isfinite(matrix.data)]] = 1
        raise InputError(f"{block.place(int(np.argmax(bad)))} is not a finite number")
    own = np.empty(0, dtype=int)
    if cone.kind == "semidefinite" and not (inline or block.inline):
        own = np.flatnonzero(np.diff(matrix.indptr) > 1)
    return ConeEntries(cone, matrix, constant, own, steady)


def _described(block: ConeData) -> tuple[ConeRows, bool]:
    """The cone without its rows, and whether its own numbers are constants."""
    if block.kind == "semidefinite":
        order = block.order
        return ConeRows(block.kind, order * (order + 1) // 2, block, order=order), True
    if block.kind == "power":
        given = block.entries[3]
        alpha = value(given, exception=False)
        if alpha is None or not 0.0 < alpha < 1.0:
            raise InputError(f"alpha of the power cone {block.name} must lie between 0 and 1")
        steady = given.__class__ in native_numeric_types
        return ConeRows(block.kind, 3, block, alpha=float(alpha)), steady
    rotated = block.margin is RotatedMargin
    return ConeRows(block.kind, len(block.entries), block, rotated=rotated), True
