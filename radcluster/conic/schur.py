"""A positive semidefinite matrix of variables, with or without a border, as a Pyomo block.

:class:`SchurBlock` states

    [[X, y], [y', s]]  >=  0        (positive semidefinite; no border y, s: X >= 0),

with X symmetric and kept as one triangle. By Schur's complement the bordered form says
X >= y y' / s for s > 0, which is how a relaxed product of y with itself enters a program. Each
entry is a variable of the block, or what it is given: a number, a variable from elsewhere in the
model, an affine expression. :func:`PSDVar` is the shorthand without border.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Integral

import numpy as np
from pyomo.common.collections import ComponentMap
from pyomo.common.gc_manager import PauseGC
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base.block import declare_custom_block
from pyomo.core.base.set import SetOf
from pyomo.core.base.var import VarData
from pyomo.core.expr.numvalue import NumericValue
from pyomo.environ import Block, Reals, Var

from radcluster.conic.cone import active_cones
from radcluster.conic.entries import symmetric_triangle
from radcluster.conic.psd import MatrixConeData
from radcluster.errors import InputError


@declare_custom_block(name="SchurBlock", rule="build")
class SchurBlockData(MatrixConeData):
    """One matrix [[X, y], [y', s]]; see :meth:`build` for the keywords ``SchurBlock`` takes.

    Attributes
    ----------
    labels : tuple
        Names of the rows of X, in order.
    bordered : bool
        Whether the matrix has the last row y', s.
    X, y : Var
        The variables the block owns: ``X[i, j]`` with i not after j, and ``y[i]``. Entries given
        from outside have none; :meth:`entry` finds either. (i, None) is y[i], (None, None) is s.
    cone : Constraint
        That the smallest eigenvalue of the matrix is not negative; deactivate it to drop the cone.

    Examples
    --------
    The theta number of the 5-cycle:

    >>> import pyomo.environ as pyo
    >>> from radcluster.conic import SchurBlock
    >>> m = pyo.ConcreteModel()
    >>> edge = lambda i, j: 0 if (j - i) % 5 in (1, 4) else None
    >>> m.psd = SchurBlock(order=5, X=edge)
    >>> m.trace = pyo.Constraint(expr=sum(m.psd.entry(i, i) for i in range(5)) == 1)
    >>> everything = m.psd.matrix_expression().sum()
    >>> m.theta = pyo.Objective(expr=everything, sense=pyo.maximize)
    >>> result = pyo.SolverFactory("clarabel").solve(m)
    >>> round(pyo.value(m.theta), 5)
    2.23607
    """

    def build(
        self,
        *index,
        order: int | Iterable[Hashable],
        X: Callable | Mapping | Iterable | None = None,
        y: Callable | Mapping | Iterable | None = None,
        s=None,
        within=Reals,
        trace: float | tuple[Mapping, float] | None = None,
        inline: bool = False,
        cone: bool = True,
    ) -> None:
        """Fill the block.

        Parameters
        ----------
        order : int or iterable
            The rows of X: a number n stands for the labels 0..n-1.
        X : callable, mapping or array, optional
            ``X(i, j)``, for i not after j, or ``X[i, j]`` is the entry: a number, a parameter, a
            variable or an affine expression; None, or a missing key, makes the block create a
            variable.
        y : callable, mapping or array, optional
            The same for the border, ``y(i)`` or ``y[i]``.
        s : number, variable or affine expression, optional
            The corner. Without it there is no border.
        within : set
            Domain of the entries of X that the block creates.
        trace : float or (weights, limit), optional
            A consequence of the other constraints, ``sum of weights[i] * entry(i, i) <= limit``,
            the corner's weight under the key None; a number limits the plain trace. No solver sees
            it: it makes a bound from an inexact dual solution safe.
        inline : bool
            See :class:`radcluster.conic.psd.MatrixConeData`.
        cone : bool
            Whether the constraint is active.
        """
        self.name_rows(_labels(order), s is not None, trace, inline)
        if y is not None and not self.bordered:
            raise InputError(f"the Schur block {self.name} has a border y but no corner s")
        if not self.order:
            raise InputError(f"the Schur block {self.name} has no rows")
        # Many small objects, none of them garbage.
        with PauseGC():
            self.state(self._filled(X, y, s, within))
        if not cone:
            self.cone.deactivate()

    def _filled(self, X, y, s, within) -> list:
        """The entries: those given, and variables for the others."""
        labels = self.labels
        pairs = [(i, j) for q, j in enumerate(labels) for i in labels[: q + 1]]
        given = _given_pairs(X, pairs, labels)
        self.all_own = not given and not self.bordered
        entries, self.X = _completed(given, pairs, within)
        if self.bordered:
            keys = [(i,) for i in labels]
            border, self.y = _completed(_given(_by_label(y, labels, 1), keys), keys, Reals)
            entries = [*entries, *border, s]
        for number, entry in enumerate(entries if given or self.bordered else ()):
            if entry.__class__ is not VarData and not _is_entry(entry):
                place = self.place(number)
                raise InputError(f"{place} is {entry!r:.60}: neither a number nor an expression")
        return entries

    def shape_text(self) -> str:
        return "[[X, y], [y', s]]" if self.bordered else "X"


# The component that the decorator makes of it has no help of its own.
SchurBlock.__doc__ = SchurBlockData.__doc__  # noqa: F821


def PSDVar(order, *sets, **keywords):
    """A positive semidefinite matrix of new variables: a Schur block without border.

    Parameters
    ----------
    order : int or iterable
        Its rows: a number n stands for 0..n-1.
    *sets
        Index sets, for one such matrix per index.
    **keywords
        Further keywords of :class:`SchurBlock`: ``within``, ``trace``.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel()
    >>> m.P = PSDVar(3)
    >>> len(m.P.X), m.P.matrix_expression().shape
    (6, (3, 3))
    """
    return SchurBlock(*sets, order=order, **keywords)  # noqa: F821


def SymmetricVar(order, *sets, **keywords):
    """A symmetric matrix of new variables, with no constraint; otherwise as :func:`PSDVar`."""
    return SchurBlock(*sets, order=order, cone=False, **keywords)  # noqa: F821


def schur_blocks(model: Block) -> list[MatrixConeData]:
    """The active positive semidefinite blocks of a model, in order of declaration."""
    return [cone for cone in active_cones(model) if isinstance(cone, MatrixConeData)]


def dual_matrices(model: Block) -> ComponentMap:
    """The dual matrix of each semidefinite block, from the model's ``dual`` suffix after a solve.

    For a minimisation it is the S >= 0 with <S, matrix> = 0 that stands for the block in the
    optimality conditions; for a maximisation, its negative.
    """
    return ComponentMap(
        (block, model.dual[block]) for block in schur_blocks(model) if block in model.dual
    )


def _labels(order) -> tuple:
    """The names of the rows of X."""
    labels = tuple(range(order)) if isinstance(order, Integral) else tuple(order)
    if len(set(labels)) < len(labels) or None in labels:
        raise InputError(f"the labels of a Schur block must differ, and none be None: {labels}")
    return labels


def _is_entry(entry) -> bool:
    if isinstance(entry, bool):
        return False
    return entry.__class__ in native_numeric_types or isinstance(entry, NumericValue)


def _completed(given: dict, keys: list, within) -> tuple[list, Var]:
    """An entry for each key, and the variable that holds those that were not given."""
    missing = [key for key in keys if key not in given] if given else keys
    names = missing if not missing or missing[0][1:] else [key[0] for key in missing]
    if missing and not any(isinstance(label, tuple) for label in missing[-1]):
        # As they are: Pyomo would look at each of them, for nothing.
        names = SetOf(dict.fromkeys(names))
    created = Var(names, within=within)
    created.construct()
    if not given:
        return list(created._data.values()), created
    # By their order, because Pyomo flattens labels that are tuples.
    entries = given | dict(zip(missing, created.values(), strict=True))
    return [entries[key] for key in keys], created


def _given(source, keys) -> dict:
    """What ``source``, a callable or a mapping, has for each of these tuples of labels."""
    if source is None:
        return {}
    if hasattr(source, "keys"):
        # A key of one label is that label.
        found = {key: source[k] for key in keys if (k := key if key[1:] else key[0]) in source}
        known = {key if key[1:] else key[0] for key in keys}
        if isinstance(source, Mapping) and (unknown := [k for k in source if k not in known]):
            raise InputError(f"a Schur block has no entry {unknown[0]!r}")
    elif callable(source):
        found = {key: source(*key) for key in keys}
    else:
        raise InputError(f"entries are given by a callable, mapping or array, not {source!r:.40}")
    return {key: entry for key, entry in found.items() if entry is not None}


def _by_label(source, labels, depth: int):
    """An array or nested list as a mapping from labels; anything else as it is."""
    if not isinstance(source, np.ndarray | list | tuple):
        return source
    array = np.array(source, dtype=object)
    if array.shape != (len(labels),) * depth:
        raise InputError(f"entries of shape {array.shape} do not fit {len(labels)} rows")
    cells = np.ndindex(array.shape)
    if depth == 1:
        return {labels[p]: array[p] for (p,) in cells}
    return {(labels[p], labels[q]): array[p, q] for p, q in cells}


def _given_pairs(source, pairs, labels) -> dict:
    """The entries of X under (i, j), i not after j, whichever way round they were given."""
    source = _by_label(source, labels, 2)
    if source is None or (callable(source) and not hasattr(source, "keys")):
        return _given(source, pairs)
    mirrored = [(j, i) for i, j in pairs if i != j]
    found = _given(source, pairs + mirrored)
    for i, j in mirrored:
        entry = found.pop((i, j), None)
        if entry is not None and found.setdefault((j, i), entry) is not entry:
            what = f"X of a Schur block, at ({i}, {j}) and ({j}, {i}),"
            sides = np.array([[0, found[j, i]], [entry, 0]], dtype=object)
            checked = symmetric_triangle(sides, what)
            if not isinstance(checked, list) and not checked.variables:
                found[j, i] = float(checked.constant[1])
    return found
