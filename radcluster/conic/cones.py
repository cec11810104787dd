"""Second-order, rotated, exponential and power cones as Pyomo components.

    SecondOrderCone(t, [w1, w2, ...])             |w| <= t
    RotatedSecondOrderCone(u, v, [w1, ...])       w'w <= 2 u v,   u, v >= 0
    ExponentialCone(x, y, z)                      y exp(x / y) <= z,   y >= 0   (and its closure)
    PowerCone(x, y, z, alpha)                     x^alpha y^(1-alpha) >= |z|,   x, y >= 0

Every entry is a number, a variable or an affine expression. An indexed cone has a rule that returns
the arguments: ``SecondOrderCone(m.K, rule=lambda m, k: (m.t[k], [m.x[k], m.y[k]]))``. After a solve
with a ``dual`` suffix on the model, ``m.dual[m.c]`` is the vector of the cone's multipliers, in the
order of its entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base.block import declare_custom_block
from pyomo.core.base.indexed_component import IndexedComponent
from pyomo.core.expr.numvalue import NumericValue

from radcluster.conic import margins
from radcluster.conic.arrays import Affine
from radcluster.conic.cone import ConeData, component
from radcluster.errors import InputError


class _VectorConeData(ConeData):
    """A cone of vectors."""

    def _stated(self, heads: tuple, tail) -> None:
        entries = [*heads, *_listed(tail)]
        for number, entry in enumerate(entries):
            bad = isinstance(entry, bool) or not (
                entry.__class__ in native_numeric_types or isinstance(entry, NumericValue)
            )
            if bad or getattr(entry, "is_indexed", lambda: False)():
                place = self.place(number)
                raise InputError(f"{place} is {entry!r:.60}: neither a number nor an expression")
        self.state(entries)

    def vector(self) -> np.ndarray:
        """The entries at the current values."""
        return self.entry_values()


def _listed(tail) -> list:
    if isinstance(tail, Affine):
        return tail.expressions(range(tail.size))
    if isinstance(tail, NumericValue):
        return [tail]
    if isinstance(tail, Iterable) and not hasattr(type(tail), "__array__"):
        # A list, a generator, m.x[:]; of a mapping or an indexed variable the values.
        tail = list(tail.values() if isinstance(tail, Mapping | IndexedComponent) else tail)
    return list(np.asarray(tail, dtype=object).ravel())


def _scalar(entry):
    return entry.expr if isinstance(entry, Affine) else entry


@declare_custom_block(name="SecondOrderConeBlock")
class SecondOrderConeData(_VectorConeData):
    """|w| <= t; see :func:`SecondOrderCone`."""

    kind = "second-order"
    margin = margins.SecondOrderMargin

    def build(self, t, entries) -> None:
        self._stated((_scalar(t),), entries)


@declare_custom_block(name="RotatedSecondOrderConeBlock")
class RotatedSecondOrderConeData(_VectorConeData):
    """w'w <= 2 u v; see :func:`RotatedSecondOrderCone`."""

    kind = "second-order"
    margin = margins.RotatedMargin

    def build(self, u, v, entries) -> None:
        self._stated((_scalar(u), _scalar(v)), entries)


@declare_custom_block(name="ExponentialConeBlock")
class ExponentialConeData(_VectorConeData):
    """y exp(x / y) <= z; see :func:`ExponentialCone`."""

    kind = "exponential"
    margin = margins.ExponentialMargin

    def build(self, x, y, z) -> None:
        self._stated((_scalar(x), _scalar(y), _scalar(z)), ())


@declare_custom_block(name="PowerConeBlock")
class PowerConeData(_VectorConeData):
    """x^alpha y^(1-alpha) >= |z|; see :func:`PowerCone`."""

    kind = "power"
    margin = margins.PowerMargin

    def build(self, x, y, z, alpha) -> None:
        constant = alpha.__class__ in native_numeric_types or (
            isinstance(alpha, NumericValue) and not alpha.is_potentially_variable()
        )
        if not constant:
            raise InputError(f"alpha of the power cone {self.name} must be a number or parameter")
        self._stated((_scalar(x), _scalar(y), _scalar(z), alpha), ())


def SecondOrderCone(*arguments, rule=None, **keywords):
    """The constraint ``|entries| <= t``.

    Parameters
    ----------
    t, entries
        A number, variable or affine expression, and a list or array of them. With ``rule``, index
        sets instead.
    rule : callable, optional
        ``rule(model, *index)`` returns ``(t, entries)``.

    Examples
    --------
    The point of a line that is nearest to the origin:

    >>> import pyomo.environ as pyo
    >>> import radcluster.conic as conic
    >>> m = pyo.ConcreteModel()
    >>> m.x, m.y, m.t = pyo.Var(), pyo.Var(), pyo.Var()
    >>> m.line = pyo.Constraint(expr=3 * m.x + 4 * m.y == 10)
    >>> m.norm = conic.SecondOrderCone(m.t, [m.x, m.y])
    >>> m.distance = pyo.Objective(expr=m.t)
    >>> result = pyo.SolverFactory("clarabel").solve(m)
    >>> round(pyo.value(m.t), 4)
    2.0
    """
    return component(SecondOrderConeBlock, arguments, rule, keywords)  # noqa: F821


def RotatedSecondOrderCone(*arguments, rule=None, **keywords):
    """The constraint entries'entries <= 2 u v with u, v >= 0.

    Parameters
    ----------
    u, v, entries
        As in :func:`SecondOrderCone`; with ``rule``, index sets instead.
    """
    return component(RotatedSecondOrderConeBlock, arguments, rule, keywords)  # noqa: F821


def ExponentialCone(*arguments, rule=None, **keywords):
    """The constraint y exp(x / y) <= z, y >= 0.

    Parameters
    ----------
    x, y, z
        Numbers, variables or affine expressions; with ``rule``, index sets instead.
        ``ExponentialCone(x, 1, z)`` says exp(x) <= z, and ``ExponentialCone(t, 1, x)`` says
        t <= log x.
    """
    return component(ExponentialConeBlock, arguments, rule, keywords)  # noqa: F821


def PowerCone(*arguments, rule=None, **keywords):
    """The constraint ``x^alpha y^(1-alpha) >= |z|``, x, y >= 0.

    Parameters
    ----------
    x, y, z, alpha
        Numbers, variables or affine expressions; alpha a number or parameter strictly between 0
        and 1. With ``rule``, index sets instead.
    """
    return component(PowerConeBlock, arguments, rule, keywords)  # noqa: F821
