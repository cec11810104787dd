"""Matrices that are affine in Pyomo variables, kept as arrays: the fast way to write an LMI.

An object array of Pyomo expressions costs a Python object per term of each entry. :class:`Affine`
holds the same matrix as

    vec(matrix)  =  C v + d        (v: Pyomo variables; C sparse, d a vector of numbers),

so that sums and products with numbers are single operations of scipy. ``np.asarray(affine)`` is the
object array of expressions again, for use in ordinary constraints.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from scipy import sparse

from radcluster.errors import InputError


class Affine:
    """A matrix (or vector, or scalar) that is affine in Pyomo variables; see :func:`affine`.

    Attributes
    ----------
    shape : tuple of int
    variables : list of Var data
    coefficients : sparse array (size, number of variables)
        One row per entry, the entries in row-major order.
    constant : array (size,)
    """

    #: numpy leaves operators to this class.
    __array_ufunc__ = None

    def __init__(self, shape, variables: list, coefficients, constant):
        self.shape = tuple(shape)
        self.variables = variables
        self.coefficients = sparse.csr_array(coefficients)
        self.constant = np.asarray(constant, dtype=float)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return len(self.constant)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Affine(shape={self.shape}, {len(self.variables)} variables)"

    def __array__(self, dtype=None, copy=None):
        """The object array of Pyomo expressions."""
        entries = np.empty(self.size, dtype=object)
        entries[:] = self.expressions(range(self.size))
        return entries.reshape(self.shape)

    def expressions(self, numbers: Iterable[int]) -> list:
        """Pyomo expressions of the entries with these row-major numbers."""
        with PauseGC():
            return self._expressions(numbers)

    def _expressions(self, numbers) -> list:
        matrix, variables = self.coefficients, self.variables
        pointers, columns, data = (
            part.tolist() for part in (matrix.indptr, matrix.indices, matrix.data)
        )
        constants = self.constant.tolist()
        found = []
        for r in numbers:
            number, part = constants[r], slice(pointers[r], pointers[r + 1])
            if part.stop - part.start == 1 and not number and data[part.start] == 1.0:
                found.append(variables[columns[part.start]])
                continue
            factors = zip(data[part], [variables[column] for column in columns[part]], strict=True)
            terms = list(map(MonomialTermExpression, factors))
            found.append(
                LinearExpression([number, *terms] if number else terms) if terms else number
            )
        return found

    @property
    def T(self) -> Affine:
        """The transpose."""
        order = np.arange(self.size).reshape(self.shape).T.ravel()
        return self._picked(order, self.shape[::-1])

    def __getitem__(self, key) -> Affine:
        numbers = np.arange(self.size).reshape(self.shape)[key]
        return self._picked(np.ravel(numbers), np.shape(numbers))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def reshape(self, *shape) -> Affine:
        """The same entries, row by row, in another shape."""
        shape = np.empty(self.size).reshape(*shape).shape
        return Affine(shape, self.variables, self.coefficients, self.constant)

    def _picked(self, numbers, shape) -> Affine:
        return Affine(shape, self.variables, self.coefficients[numbers], self.constant[numbers])

    def __add__(self, other):
        found = _made_affine(other)
        if found is None:  # parameters and expressions: an array of expressions
            return np.asarray(self) + np.asarray(other, dtype=object)
        other = found
        mine, theirs = _broadcast(self, other)
        variables, left, right = _joined(mine, theirs)
        return Affine(mine.shape, variables, left + right, mine.constant + theirs.constant)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return Affine(self.shape, self.variables, -self.coefficients, -self.constant)

    def __pos__(self) -> Affine:
        return self

    def __sub__(self, other):
        found = _made_affine(other)
        return self + -(np.asarray(other, dtype=object) if found is None else found)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, factor):
        """Entry by entry, with numbers."""
        factor = _numbers(factor, "multiply")
        shape = np.broadcast_shapes(self.shape, factor.shape)
        mine = self._spread(shape)
        factors = np.broadcast_to(factor, shape).ravel()
        coefficients = mine.coefficients.multiply(factors[:, None])
        return Affine(shape, mine.variables, coefficients, mine.constant * factors)

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self * (1.0 / _numbers(divisor, "divide"))

    def __matmul__(self, other):
        other = _numbers(other, "multiply")
        if self.ndim < 2:  # the first axis of the numbers is summed over
            return self.__rmatmul__(np.moveaxis(other, 0, -1))
        return self.T.__rmatmul__(other.T).T

    def __rmatmul__(self, other):
        other = _numbers(other, "multiply")
        if not self.shape or not other.ndim or other.shape[-1] != self.shape[0]:
            raise InputError(f"cannot multiply shapes {other.shape} and {self.shape}")
        width = self.size // self.shape[0]
        rows = sparse.csr_array(other.reshape(-1, other.shape[-1]))
        left = sparse.kron(rows, sparse.eye_array(width), format="csr") if width > 1 else rows
        shape = other.shape[:-1] + self.shape[1:]
        return Affine(shape, self.variables, left @ self.coefficients, left @ self.constant)

    def sum(self) -> Affine:
        """Sum of all entries, a scalar."""
        ones = sparse.csr_array(np.ones((1, self.size)))
        return Affine((), self.variables, ones @ self.coefficients, [self.constant.sum()])

    def trace(self) -> Affine:
        """Sum of the diagonal, a scalar."""
        n = min(self.shape)
        return self[np.arange(n), np.arange(n)].sum()

    def inner(self, matrix) -> Affine:
        """Inner product with a matrix of numbers, a scalar."""
        weights = sparse.csr_array(_numbers(matrix, "multiply").reshape(1, -1))
        return Affine((), self.variables, weights @ self.coefficients, weights @ self.constant)

    @property
    def expr(self):
        """The Pyomo expression of a scalar."""
        if self.size != 1:
            raise InputError(f"only a scalar is one expression, not shape {self.shape}")
        return self.expressions([0])[0]

    def _spread(self, shape) -> Affine:
        if shape == self.shape:
            return self
        numbers = np.broadcast_to(np.arange(self.size).reshape(self.shape), shape)
        return self._picked(numbers.ravel(), shape)


def affine(source) -> Affine:
    """A matrix of variables whose sums and products stay arrays.

    Parameters
    ----------
    source : Var, component with ``matrix_affine()``, or array
        A variable indexed by 0..n-1 (a vector) or by pairs of such numbers (a matrix); a
        :func:`radcluster.conic.PSDVar`; or an array of variables and numbers.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(range(2))
    >>> x = affine(m.x)
    >>> F = np.ones((3, 3)) + x[0] * np.eye(3) + x[1] * np.diag([1.0, 2.0, 3.0])
    >>> F.shape, str(F[1, 1].expr)
    ((3, 3), '1.0 + x[0] + 2.0*x[1]')
    """
    if isinstance(source, Affine):
        return source
    if hasattr(source, "matrix_affine"):
        return source.matrix_affine()
    if getattr(source, "is_indexed", lambda: False)():
        source = _array_of(source)
    found = _made_affine(np.asarray(source, dtype=object))
    if found is None:
        raise InputError(f"{source!r:.60} is no array of variables and numbers")
    return found


def _array_of(var) -> np.ndarray:
    """An indexed variable as a vector or a matrix, by its indices 0, 1, ..."""
    keys = list(var)
    depth = len(keys[0]) if keys and isinstance(keys[0], tuple) else 1
    cells = [key if isinstance(key, tuple) else (key,) for key in keys]
    try:
        shape = tuple(1 + max(cell[axis] for cell in cells) for axis in range(depth))
        array = np.full(shape, None, dtype=object)
        for cell, data in zip(cells, var.values(), strict=True):
            array[cell] = data
    except (TypeError, ValueError, IndexError):
        raise InputError(f"{var.name} is not indexed by whole numbers from 0") from None
    if (array == None).any():  # noqa: E711 - entry by entry
        raise InputError(f"{var.name} has no variable at some index between 0 and {shape}")
    return array


def _made_affine(source) -> Affine | None:
    """Numbers, variables and arrays of them; None for anything else."""
    if isinstance(source, Affine):
        return source
    array = np.asarray(source)
    if array.dtype != object:
        if not np.issubdtype(array.dtype, np.number):
            return None
        empty = sparse.csr_array((array.size, 0))
        return Affine(array.shape, [], empty, array.ravel())
    index: dict[int, int] = {}
    variables, rows, columns = [], [], []
    constant = np.zeros(array.size)
    for r, entry in enumerate(array.ravel().tolist()):
        if isinstance(entry, Real):
            constant[r] = entry
            continue
        if not getattr(entry, "is_variable_type", lambda: False)():
            return None
        column = index.setdefault(id(entry), len(variables))
        if column == len(variables):
            variables.append(entry)
        rows.append(r)
        columns.append(column)
    shape = (array.size, len(variables))
    coefficients = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    return Affine(array.shape, variables, coefficients, constant)


def _numbers(source, what: str) -> np.ndarray:
    array = np.asarray(source)
    if not np.issubdtype(array.dtype, np.number):
        raise InputError(
            f"can only {what} an affine matrix by numbers; use matrix_expression() for parameters"
        )
    return array.astype(float, copy=False)


def _broadcast(a: Affine, b: Affine) -> tuple[Affine, Affine]:
    shape = np.broadcast_shapes(a.shape, b.shape)
    return a._spread(shape), b._spread(shape)


def _joined(a: Affine, b: Affine):
    """Coefficients of both over one list of variables."""
    if a.variables is b.variables or not b.variables:
        right = b.coefficients if b.variables else sparse.csr_array(a.coefficients.shape)
        return a.variables, a.coefficients, right
    if not a.variables:
        return b.variables, sparse.csr_array(b.coefficients.shape), b.coefficients
    index = {id(var): number for number, var in enumerate(a.variables)}
    variables = list(a.variables)
    columns = np.empty(len(b.variables), dtype=int)
    for number, var in enumerate(b.variables):
        columns[number] = index.setdefault(id(var), len(variables))
        if columns[number] == len(variables):
            variables.append(var)
    left = sparse.csr_array(a.coefficients)
    left.resize((a.size, len(variables)))
    coo = b.coefficients.tocoo()
    shape = (b.size, len(variables))
    right = sparse.csr_array((coo.data, (coo.row, columns[coo.col])), shape=shape)
    return variables, left, right
