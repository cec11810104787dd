"""A positive semidefinite matrix as a Pyomo block.

Pyomo has no semidefinite constraint. :class:`SchurBlock` states one,

    [[X, y], [y', s]]  >=  0        (positive semidefinite; no border y, s: X >= 0),

with X symmetric and kept as one triangle. By Schur's complement the bordered form says
X >= y y' / s for s > 0, which is how a relaxed product of y with itself enters a program. Each
entry is a variable of the block, a variable from elsewhere in the model, or a constant. The block's
constraint ``cone`` says so in an expression of its own, :class:`SmallestEigenvalue`. The conic
solvers of :mod:`radcluster.solvers.conic` read it as a cone, the transformation
``radcluster.factorise`` turns it into polynomial equations for a nonlinear solver, and every other
solver refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Integral, Real

import numpy as np
from pyomo.common.collections import ComponentMap
from pyomo.core.base.block import BlockData, declare_custom_block
from pyomo.core.expr.numeric_expr import NumericExpression
from pyomo.environ import Block, Constraint, Reals, Var, value

from radcluster.errors import InputError

#: Largest order whose matrix is drawn when the block is printed.
DRAWN_ORDER = 12


class SmallestEigenvalue(NumericExpression):
    """The smallest eigenvalue of a symmetric matrix, given by its upper triangle by columns."""

    __slots__ = ()

    def nargs(self) -> int:
        return len(self._args_)

    def getname(self, *args, **kwds) -> str:
        return "smallest_eigenvalue"

    def _compute_polynomial_degree(self, result):
        return None

    def _apply_operation(self, result) -> float:
        return float(np.linalg.eigvalsh(unpack(list(result)))[0])

    def _to_string(self, values, verbose, smap) -> str:
        order = order_of(len(values))
        return f"{self.getname()}({order} x {order})"


@declare_custom_block(name="SchurBlock", rule="build")
class SchurBlockData(BlockData):
    """One matrix [[X, y], [y', s]]; see :meth:`build` for the keywords ``SchurBlock`` takes.

    Attributes
    ----------
    labels : tuple
        Names of the rows of X, in order.
    bordered : bool
        Whether the matrix has the last row y', s.
    X, y : Var
        The variables the block owns: ``X[i, j]`` with i not after j, and ``y[i]``. Entries given
        from outside have none; :meth:`entry` finds either.
    cone : Constraint
        That the smallest eigenvalue of the matrix is not negative; deactivate it to drop the cone.

    Examples
    --------
    The theta number of the 5-cycle:

    >>> import pyomo.environ as pyo
    >>> import radcluster
    >>> from radcluster.schur import SchurBlock
    >>> m = pyo.ConcreteModel()
    >>> edge = lambda i, j: 0 if (j - i) % 5 in (1, 4) else None
    >>> m.psd = SchurBlock(order=5, X=edge)
    >>> m.trace = pyo.Constraint(expr=sum(m.psd.entry(i, i) for i in range(5)) == 1)
    >>> everything = sum(m.psd.entry(i, j) for i in range(5) for j in range(5))
    >>> m.theta = pyo.Objective(expr=everything, sense=pyo.maximize)
    >>> result = pyo.SolverFactory("clarabel").solve(m)
    >>> round(pyo.value(m.theta), 5)
    2.23607
    """

    def build(
        self,
        *index,
        order: int | Iterable[Hashable],
        X: Callable | Mapping | None = None,
        y: Callable | Mapping | None = None,
        s=None,
        within=Reals,
        trace: tuple[Mapping, float] | None = None,
    ) -> None:
        """Fill the block.

        Parameters
        ----------
        order : int or iterable
            The rows of X: a number n stands for the labels 0..n-1.
        X : callable or mapping, optional
            ``X(i, j)``, for i not after j, or ``X[i, j]`` is the entry: a variable, a number or a
            parameter; None, or a missing key, makes the block create a variable.
        y : callable or mapping, optional
            The same for the border, ``y(i)`` or ``y[i]``.
        s : number or variable, optional
            The corner. Without it there is no border.
        within : set
            Domain of the entries of X that the block creates.
        trace : (weights, limit), optional
            A consequence of the other constraints, ``sum of weights[i] * entry(i, i) <= limit``,
            the corner's weight under the key None. No solver sees it: it makes a bound from an
            inexact dual solution safe (:mod:`radcluster.sdp_bounds`).
        """
        self.labels = _labels(order)
        self.position = {label: p for p, label in enumerate(self.labels)}
        self.bordered = s is not None
        self.trace = trace
        if y is not None and not self.bordered:
            raise InputError(f"the Schur block {self.name} has a border y but no corner s")
        if not self.order:
            raise InputError(f"the Schur block {self.name} has no rows")
        pairs = [(i, j) for q, j in enumerate(self.labels) for i in self.labels[: q + 1]]
        given = _given_pairs(X, pairs)
        missing = [pair for pair in pairs if pair not in given]
        self.X = Var(missing, within=within)
        # By their order, because Pyomo flattens labels that are tuples.
        entries = given | dict(zip(missing, self.X.values(), strict=True))
        # The upper triangle, column by column, the border last.
        self.triangle = [entries[pair] for pair in pairs]
        if self.bordered:
            given = _given(y, [(i,) for i in self.labels])
            missing = [i for i in self.labels if (i,) not in given]
            self.y = Var(missing)
            entries = given | {(i,): var for i, var in zip(missing, self.y.values(), strict=True)}
            self.triangle += [*(entries[(i,)] for i in self.labels), s]
        self.cone = Constraint(expr=SmallestEigenvalue(self.triangle) >= 0)

    @property
    def order(self) -> int:
        """Number of rows of the whole matrix, the border included."""
        return len(self.labels) + self.bordered

    def entry(self, i: Hashable, j: Hashable | None = None):
        """Entry (i, j) of X in either order; (i, None) is y[i], and (None, None) is s."""
        p, q = (len(self.labels) if label is None else self.position[label] for label in (i, j))
        p, q = min(p, q), max(p, q)
        return self.triangle[q * (q + 1) // 2 + p]

    def matrix(self) -> np.ndarray:
        """The whole matrix at the current values."""
        return unpack([value(entry) for entry in self.triangle])

    def _pprint_blockdata_components(self, ostream, sort):
        """Print the statement, and the matrix if it is small, before the variables."""
        shape = "[[X, y], [y', s]]" if self.bordered else "X"
        ostream.write(f"{shape} >= 0, order {self.order}\n")
        if self.order <= DRAWN_ORDER:
            for p in range(self.order):
                row = [_text(self.triangle[q * (q + 1) // 2 + p]) for q in range(p, self.order)]
                ostream.write(f"    {'  ' * p}{'  '.join(row)}\n")
        super()._pprint_blockdata_components(ostream, sort)


def schur_blocks(model: Block) -> list[SchurBlockData]:
    """The active Schur blocks of a model whose cone is active, in order of declaration."""
    return [
        block
        for block in model.block_data_objects(active=True, descend_into=True)
        if isinstance(block, SchurBlockData) and block.cone.active
    ]


def dual_matrices(model: Block) -> ComponentMap:
    """The dual matrix of each Schur block, from the model's ``dual`` suffix after a solve.

    For a minimisation it is the S >= 0 with <S, matrix> = 0 that stands for the block in the
    optimality conditions; for a maximisation, its negative.
    """
    return ComponentMap(
        (block, model.dual[block]) for block in schur_blocks(model) if block in model.dual
    )


def triangle_indices(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the upper triangle, column by column."""
    columns, rows = np.tril_indices(order)
    return rows, columns


def order_of(n_entries: int) -> int:
    """Order of the matrix whose triangle has this many entries."""
    return (math.isqrt(8 * n_entries + 1) - 1) // 2


def unpack(triangle) -> np.ndarray:
    """Symmetric matrix from its upper triangle, column by column."""
    triangle = np.asarray(triangle, dtype=float)
    order = order_of(len(triangle))
    rows, columns = triangle_indices(order)
    matrix = np.empty((order, order))
    matrix[rows, columns] = matrix[columns, rows] = triangle
    return matrix


def _labels(order) -> tuple:
    """The names of the rows of X."""
    labels = tuple(range(order)) if isinstance(order, Integral) else tuple(order)
    if len(set(labels)) < len(labels) or None in labels:
        raise InputError(f"the labels of a Schur block must differ, and none be None: {labels}")
    return labels


def _given(source, keys) -> dict:
    """What ``source``, a callable or a mapping, has for each of these tuples of labels."""
    if source is None:
        return {}
    if callable(source):
        found = {key: source(*key) for key in keys}
    elif hasattr(source, "keys"):
        # A key of one label is that label.
        found = {key: source[k] for key in keys if (k := key if key[1:] else key[0]) in source}
        known = {key if key[1:] else key[0] for key in keys}
        if isinstance(source, Mapping) and (unknown := [k for k in source if k not in known]):
            raise InputError(f"a Schur block has no entry {unknown[0]!r}")
    else:
        raise InputError(f"entries are given by a callable or a mapping, not by {source!r:.40}")
    return {key: entry for key, entry in found.items() if entry is not None}


def _given_pairs(source, pairs) -> dict:
    """The entries of X under (i, j), i not after j, whichever way round they were given."""
    if source is None or callable(source):
        return _given(source, pairs)
    mirrored = [(j, i) for i, j in pairs if i != j]
    found = _given(source, pairs + mirrored)
    for i, j in mirrored:
        entry = found.pop((i, j), None)
        if entry is not None and found.setdefault((j, i), entry) is not entry:
            numbers = isinstance(entry, Real) and isinstance(found[j, i], Real)
            if not (numbers and entry == found[j, i]):
                raise InputError(f"entries ({i}, {j}) and ({j}, {i}) of a Schur block differ")
    return found


def _text(entry) -> str:
    return entry.name if hasattr(entry, "name") else str(entry)
