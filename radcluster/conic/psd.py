"""Linear matrix inequalities as Pyomo components.

    PSD(matrix)                          matrix >= 0 (positive semidefinite)
    PSD(matrix, sense="<=", rhs=B)       matrix <= B

The entries are numbers and affine expressions. Matrices of new variables that go into such formulas
are made by ``PSDVar`` and ``SymmetricVar`` of :mod:`radcluster.conic.schur`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base.block import declare_custom_block
from pyomo.environ import value
from scipy import sparse

from radcluster import show
from radcluster.conic.arrays import Affine
from radcluster.conic.compiling.linear import LinearReader
from radcluster.conic.cone import ConeData, component
from radcluster.conic.entries import as_matrix, difference, symmetric_triangle
from radcluster.conic.margins import SmallestEigenvalue
from radcluster.conic.triangle import position_of, triangle_indices, unpack
from radcluster.errors import InputError

#: Largest order whose matrix is drawn when the block is printed.
DRAWN_ORDER = 12

_SENSES = {">=": False, "psd": False, "<=": True, "nsd": True}


class MatrixConeData(ConeData):
    """A symmetric matrix that is positive semidefinite.

    Attributes
    ----------
    labels : tuple
        Names of the rows, in order; the row of a border has none.
    bordered : bool
    inline : bool
        Whether solvers get the entries as they are. Otherwise an entry with several terms becomes
        a variable of the solver's own with an equation, which interior-point methods solve faster.
    trace : (weights, limit) or None
        ``sum of weights[i] * entry(i, i) <= limit`` is known to follow from the model. No solver
        sees it: it makes a bound from an inexact dual solution safe
        (:func:`radcluster.conic.safe_bound`).
    """

    kind = "semidefinite"
    margin = SmallestEigenvalue
    #: Whether every entry is a variable of the block's own.
    all_own = False

    def name_rows(self, labels: tuple, bordered: bool, trace, inline: bool) -> None:
        """Keep the names of the rows, and the known limit of the trace."""
        self.labels, self.bordered, self.inline = labels, bordered, inline
        self.position = {label: p for p, label in enumerate(labels)}
        if isinstance(trace, Real):
            names = [*labels, None] if bordered else labels
            trace = (dict.fromkeys(names, 1.0), float(trace))
        self.trace: tuple[Mapping, float] | None = trace

    @property
    def order(self) -> int:
        """Number of rows of the whole matrix, a border included."""
        return len(self.labels) + self.bordered

    @property
    def triangle(self) -> list:
        """The entries of the upper triangle, column by column, as Pyomo expressions."""
        return self.entries

    def _at(self, label) -> int:
        return len(self.labels) if label is None else self.position[label]

    def entry(self, i: Hashable, j: Hashable | None = None):
        """Entry (i, j), in either order."""
        return self.entries[position_of(self._at(i), self._at(j))]

    def matrix(self) -> np.ndarray:
        """The whole matrix at the current values."""
        return unpack(self.entry_values())

    def matrix_expression(self) -> np.ndarray:
        """The whole matrix as an array of Pyomo expressions, for numpy's operators."""
        rows, columns = triangle_indices(self.order)
        array = np.empty((self.order, self.order), dtype=object)
        array[rows, columns] = array[columns, rows] = np.array([*self.entries, None])[:-1]
        return array

    def matrix_affine(self) -> Affine:
        """The whole matrix as arrays; see :func:`radcluster.conic.affine`."""
        triangle = self.affine
        if triangle is None and self.all_own:
            size = len(self.entries)
            triangle = Affine((size,), self.entries, sparse.eye_array(size), np.zeros(size))
        elif triangle is None:
            reader = LinearReader()
            with PauseGC():
                reader.read_all(self.entries)
            if reader.volatile:
                raise InputError(f"{self.name} holds parameters: use matrix_expression()")
            shape = (len(reader),)
            triangle = Affine(shape, reader.variables, reader.matrix(), reader.constants)
        rows, columns = triangle_indices(self.order)
        numbers = np.empty((self.order, self.order), dtype=int)
        numbers[rows, columns] = numbers[columns, rows] = np.arange(len(rows))
        return triangle[numbers.ravel()].reshape(self.order, self.order)

    def place(self, number: int) -> str:
        rows, columns = triangle_indices(self.order)
        where = f"({rows[number]}, {columns[number]})"
        return f"entry {where} of the {self.margin.noun} {self.name}"

    def shape_text(self) -> str:
        """The statement, as it is printed."""
        return "matrix"

    def statement(self) -> str:
        return f"{self.shape_text()} >= 0, order {self.order}"

    def _drawn(self) -> str:
        """The matrix: values where there are any, else names."""
        if self.order > DRAWN_ORDER:
            return ""
        rows = [
            [self.entries[position_of(p, q)] for q in range(self.order)] for p in range(self.order)
        ]
        values = [[value(entry, exception=False) for entry in row] for row in rows]
        if any(entry is None for row in values for entry in row):
            values = [[str(entry) for entry in row] for row in rows]
        return show.html_table((), values)

    def _pprint_blockdata_components(self, ostream, sort):
        """Print the statement, and the matrix if it is small, before the variables."""
        ostream.write(f"{self.statement()}\n")
        if self.order <= DRAWN_ORDER:
            for p in range(self.order):
                row = [str(self.entries[position_of(p, q)]) for q in range(p, self.order)]
                ostream.write(f"    {'  ' * p}{'  '.join(row)}\n")
        super()._pprint_blockdata_components(ostream, sort)


@declare_custom_block(name="PSDBlock")
class PSDData(MatrixConeData):
    """A matrix of affine entries that is positive semidefinite; see :func:`PSD`."""

    def build(self, matrix, sense=">=", rhs=None, order=None, trace=None, inline=False) -> None:
        if sense not in _SENSES:
            raise InputError(f'sense must be ">=" or "<=": {sense!r}')
        matrix = difference(as_matrix(matrix, order), rhs, _SENSES[sense])
        if not matrix.shape[0]:
            raise InputError(f"the {self.margin.noun} {self.name} has no rows")
        self.name_rows(tuple(range(matrix.shape[0])), False, trace, inline)
        what = f"the {self.margin.noun} {self.name}"
        self.state(symmetric_triangle(matrix, what))


def PSD(*arguments, rule=None, **keywords):
    """A symmetric matrix with affine entries, constrained to be positive semidefinite.

    Parameters
    ----------
    matrix : array, nested list, mapping, callable, Affine, PSDVar or SchurBlock
        The entries: numbers, variables, affine expressions. A mapping has pairs as keys, one
        triangle or both; what is missing is 0. A callable ``f(i, j)`` needs ``order``. With
        ``rule``, give index sets instead.
    rule : callable, optional
        ``rule(model, *index)`` returns the matrix, or ``(matrix, sense, rhs)``.
    sense : {">=", "<="}
        ``matrix - rhs`` is positive semidefinite, or negative semidefinite.
    rhs : matrix, optional
        Zero when omitted.
    order : int or iterable, optional
        The rows of a matrix given by a callable or a mapping.
    trace : float or (weights, limit), optional
        A limit of the trace that is known to follow from the model; for safe bounds.
    inline : bool
        See :class:`MatrixConeData`.

    Examples
    --------
    Lyapunov's inequality A'P + PA <= -I, the least trace of P:

    >>> import numpy as np, pyomo.environ as pyo, radcluster.conic as conic
    >>> A = np.array([[-1.0, 2.0], [0.0, -3.0]])
    >>> m = pyo.ConcreteModel()
    >>> m.P = conic.PSDVar(2)
    >>> P = m.P.matrix_expression()
    >>> m.lyapunov = conic.PSD(A.T @ P + P @ A, sense="<=", rhs=-np.eye(2))
    >>> m.trace = pyo.Objective(expr=P.trace())
    >>> result = pyo.SolverFactory("clarabel").solve(m)
    >>> m.P.matrix().round(4)
    array([[0.5   , 0.25  ],
           [0.25  , 0.3333]])
    """
    return component(PSDBlock, arguments, rule, keywords)  # noqa: F821
