"""Affine Pyomo expressions as rows of a sparse matrix.

Pyomo's own compilers fold fixed variables and parameters into numbers, and start anew at every
solve. :class:`LinearReader` keeps fixed variables as columns, and notes which rows have to be read
again because a number in them can change: the others can be kept between solves.
"""

from __future__ import annotations

from itertools import accumulate, chain, islice
from operator import attrgetter

import numpy as np
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base.var import ScalarVar, VarData
from pyomo.core.expr.numeric_expr import (
    DivisionExpression,
    LinearExpression,
    MonomialTermExpression,
    NegationExpression,
    ProductExpression,
    SumExpression,
)
from pyomo.core.expr.numvalue import NumericValue
from pyomo.environ import value
from pyomo.repn.linear import LinearRepnVisitor
from scipy import sparse

from radcluster.errors import InputError

_VARIABLES = frozenset({VarData, ScalarVar})
#: Sums of more terms than this are read at once.
_MANY = 30
_SUMS = frozenset({LinearExpression, SumExpression})
#: The arguments of a term, without a call of Python's for each of many.
_PARTS = attrgetter("_args_")


class NotAffine(InputError):
    """An expression that is not affine in the variables that are free."""


class LinearReader:
    """Reads affine expressions, one row each.

    Attributes
    ----------
    variables : list of Var data
        The columns, in order of appearance, fixed variables included.
    constants : list of float
    volatile : list of int
        Rows that hold a parameter, a named expression, or a product with a fixed variable.
    """

    def __init__(self, variables: list | None = None, index: dict[int, int] | None = None):
        self.variables = [] if variables is None else variables
        self.index = {} if index is None else index
        self.constants: list[float] = []
        self.volatile: list[int] = []
        self._data: list[float] = []
        self._columns: list[int] = []
        self._pointers = [0]

    def __len__(self) -> int:
        return len(self.constants)

    def matrix(self, n_columns: int | None = None) -> sparse.csr_array:
        """The rows read so far; a variable that occurs twice in a row stands there twice."""
        shape = (len(self), len(self.variables) if n_columns is None else n_columns)
        parts = (
            np.array(self._data, dtype=float),
            np.array(self._columns, dtype=np.int64),
            np.array(self._pointers, dtype=np.int64),
        )
        return sparse.csr_array(parts, shape=shape)

    def column(self, var) -> int:
        """The column of a variable, a new one when it was not seen before.

        With a variable come all others of its component, in the order of their indices: solvers
        are sensitive to the order of columns, and this one is Pyomo's.
        """
        index = self.index
        number = index.get(id(var))
        if number is not None:
            return number
        first = len(self.variables)
        # Without Pyomo's detour by the indices: they were made in this order.
        group = list(var.parent_component()._data.values())
        if not index.keys().isdisjoint(map(id, group)):
            group = [data for data in group if id(data) not in index]
        index.update(zip(map(id, group), range(first, first + len(group)), strict=True))
        self.variables.extend(group)
        if id(var) not in index:  # taken out of its component since
            index[id(var)] = len(self.variables)
            self.variables.append(var)
        return index[id(var)]

    def read(self, expression) -> None:
        """Append a row.

        Raises
        ------
        NotAffine
            With nothing appended.
        """
        length = len(self._data)
        try:
            constant, volatile = self._terms(expression)
        except NotAffine:
            del self._data[length:], self._columns[length:]
            raise
        if volatile:
            self.volatile.append(len(self.constants))
        self.constants.append(constant)
        self._pointers.append(len(self._data))

    def read_sums(self, expressions) -> bool:
        """Append a row for each sum of variables; False, with nothing appended, for others."""
        if not _SUMS.issuperset(map(type, expressions)):
            return False
        sums = [expression.args for expression in expressions]
        terms = list(chain.from_iterable(sums))
        if not _VARIABLES.issuperset(map(type, terms)):
            return False
        self._append_variables(terms)
        self.constants.extend([0.0] * len(sums))
        ends = accumulate(map(len, sums), initial=self._pointers[-1])
        self._pointers.extend(islice(ends, 1, None))
        return True

    def read_all(self, expressions) -> None:
        """Append a row for each; at once where all but the last are variables."""
        expressions = list(expressions)
        variables = expressions[:-1]
        if _VARIABLES.issuperset(map(type, variables)):
            self._append_variables(variables)
            self.constants.extend([0.0] * len(variables))
            first = self._pointers[-1]
            self._pointers.extend(range(first + 1, first + 1 + len(variables)))
            expressions = expressions[-1:]
        constants, pointers = self.constants, self._pointers
        for expression in expressions:
            kind = expression.__class__
            if kind in _VARIABLES:
                self._append_variables([expression])
                constants.append(0.0)
                pointers.append(len(self._data))
            elif kind is float or kind is int:
                constants.append(float(expression))
                pointers.append(len(self._data))
            else:
                self.read(expression)

    def _append_variables(self, variables: list) -> None:
        """Append terms: each variable once."""
        self._columns.extend(self.columns(variables))
        self._data.extend([1.0] * len(variables))

    def columns(self, variables) -> list[int]:
        """The columns of many variables, as :meth:`column` gives them."""
        keys = list(map(id, variables))
        numbers = list(map(self.index.get, keys))
        if None in numbers:
            for key, var in zip(keys, variables, strict=True):
                if key not in self.index:
                    self.column(var)
            numbers = list(map(self.index.__getitem__, keys))
        return numbers

    def _terms(self, expression) -> tuple[float, bool]:
        index, data, columns = self.index, self._data, self._columns
        constant, volatile = 0.0, False
        stack = [(1.0, expression)]
        while stack:
            factor, node = stack.pop()
            kind = node.__class__
            if kind in _SUMS:
                terms = node.args
                if len(terms) > _MANY and self._read_many(factor, terms):
                    continue
                for place, term in enumerate(terms):
                    sort = term.__class__
                    if sort is MonomialTermExpression:
                        number, var = term.args
                        if number.__class__ not in native_numeric_types:
                            var = None
                    elif sort in _VARIABLES:
                        number, var = 1.0, term
                    else:
                        var = None
                    if var is None:
                        # From left to right, as it was written.
                        stack.extend((factor, later) for later in reversed(terms[place:]))
                        break
                    if number:  # zero is as good as absent: it cannot change
                        column = index.get(id(var))
                        if column is None:
                            column = self.column(var)
                        columns.append(column)
                        data.append(factor * number)
            elif kind in _VARIABLES:
                columns.append(self.column(node))
                data.append(factor)
            elif kind in native_numeric_types:
                constant += factor * node
            elif kind is MonomialTermExpression or kind is ProductExpression:
                left, right = node.args
                number, other = (right, left) if _is_variable(left) else (left, right)
                if _is_variable(number) and not number.is_fixed():
                    number, other = other, number
                if _is_variable(number) and not number.is_fixed():
                    constant += self._by_pyomo(factor, node)
                    volatile = True
                else:
                    volatile |= number.__class__ not in native_numeric_types
                    stack.append((factor * _number(number), other))
            elif kind is NegationExpression:
                stack.append((-factor, node.args[0]))
            else:
                constant += self._other(factor, node, stack)
                volatile = True
        return float(constant), volatile

    def _read_many(self, factor: float, terms) -> bool:
        """Append a long sum of numbers times variables at once; False when it is no such sum."""
        if set(map(type, terms)) != {MonomialTermExpression}:
            return False
        numbers, variables = zip(*map(_PARTS, terms), strict=True)
        if not set(map(type, numbers)) <= native_numeric_types:
            return False
        self._columns.extend(self.columns(variables))
        self._data.extend(numbers if factor == 1.0 else [factor * number for number in numbers])
        return True

    def _other(self, factor, node, stack) -> float:
        """What occurs seldom: parameters, named expressions, quotients, and the rest."""
        if not isinstance(node, NumericValue):
            raise InputError(f"{node!r:.60} is neither a number nor an expression")
        if not node.is_potentially_variable():
            return factor * _number(node)
        if node.is_variable_type():
            self._columns.append(self.column(node))
            self._data.append(factor)
        elif node.is_named_expression_type():
            stack.append((factor, node.expr))
        elif node.__class__ is DivisionExpression and not _is_variable(node.args[1]):
            stack.append((factor / _number(node.args[1]), node.args[0]))
        else:
            return self._by_pyomo(factor, node)
        return 0.0

    def _by_pyomo(self, factor, node) -> float:
        """The constant of an expression that is affine once its fixed variables are numbers."""
        recorder = _Recorder()
        found = LinearRepnVisitor({}, var_recorder=recorder).walk_expression(node)
        if found.nonlinear is not None:
            raise NotAffine(f"{node} is not affine")
        if not {*map(type, found.linear.values()), type(found.constant)} <= native_numeric_types:
            raise InputError(f"{node} holds something that is not a number")
        for key, number in found.linear.items():
            self._columns.append(self.column(recorder.var_map[key]))
            self._data.append(factor * number)
        return factor * found.constant


class _Recorder:
    """Takes down the variables that Pyomo meets; its own take all others of a component too."""

    def __init__(self):
        self.var_map: dict = {}

    def add(self, var) -> None:
        self.var_map[id(var)] = var


def _is_variable(node) -> bool:
    return node.__class__ not in native_numeric_types and node.is_potentially_variable()


def _number(node) -> float:
    number = value(node, exception=False)
    if number is None:
        raise InputError(f"{node} has no value")
    return number
