"""The left side of a cone's constraint ``margin >= 0``, as an expression of Pyomo's own kind.

Pyomo has no cones. Each cone component here holds one constraint whose body is such an expression.
It can be evaluated, printed, cloned and deactivated. The conic solvers read it as a cone; every
other solver meets a kind of expression that it does not know and refuses the model
(:mod:`radcluster.conic.plugin.refusals`).

The arguments are the entries of the cone. Of a matrix given as
:class:`radcluster.conic.arrays.Affine`, they are the variables, and ``local`` holds the map from
the variables to the entries.
"""

from __future__ import annotations

import math

import numpy as np
from pyomo.core.expr.numeric_expr import NumericExpression

from radcluster.conic.triangle import order_of, unpack
from radcluster.errors import InputError
from radcluster.solvers import registry


class ConeMargin(NumericExpression):
    """How far the entries lie inside a cone: negative outside, zero on its boundary.

    Attributes
    ----------
    local : (sparse matrix, vector) or None
        ``matrix @ arguments + vector`` are the entries; None: the arguments are.
    """

    __slots__ = ("local",)
    #: What a reader calls the cone, and its name in a solver's record.
    noun = "cone"
    kind = ""

    def __init__(self, args, local=None):
        super().__init__(args)
        self.local = local

    def nargs(self) -> int:
        return len(self._args_)

    def create_node_with_local_data(self, args, classtype=None):
        return (classtype or self.__class__)(args, self.local)

    def getname(self, *args, **kwds) -> str:
        return "margin"

    def _compute_polynomial_degree(self, result):
        return None

    def _apply_operation(self, result) -> float:
        entries = np.array(list(result), dtype=float)
        if self.local is not None:
            matrix, constant = self.local
            entries = matrix @ entries + constant
        return float(self.margin(entries))

    def margin(self, entries: np.ndarray) -> float:
        raise NotImplementedError

    def text(self, values: list[str]) -> str:
        """How the expression is printed."""
        return f"{self.getname()}({', '.join(values)})"

    def _to_string(self, values, verbose, smap) -> str:
        if smap is not None:  # a writer of files, which would take it for a function
            raise InputError(refusal(self))
        return self.text(values)


class SmallestEigenvalue(ConeMargin):
    """The smallest eigenvalue of a symmetric matrix, given by its upper triangle by columns."""

    __slots__ = ()
    noun = "positive semidefinite block"
    kind = "semidefinite"

    def getname(self, *args, **kwds) -> str:
        return "smallest_eigenvalue"

    def margin(self, entries):
        return np.linalg.eigvalsh(unpack(entries))[0]

    def text(self, values):
        order = order_of(len(values) if self.local is None else len(self.local[1]))
        return f"{self.getname()}({order} x {order})"


class SecondOrderMargin(ConeMargin):
    """t - |w| of the entries (t, w)."""

    __slots__ = ()
    noun = "second-order cone"
    kind = "second-order"

    def margin(self, entries):
        return entries[0] - np.linalg.norm(entries[1:])


class RotatedMargin(ConeMargin):
    """The smaller eigenvalue of [[u, |w|/sqrt 2], [|w|/sqrt 2, v]], of the entries (u, v, w)."""

    __slots__ = ()
    noun = "rotated second-order cone"
    kind = "second-order"

    def margin(self, entries):
        u, v = entries[:2]
        return (u + v) / 2 - math.hypot((u - v) / 2, np.linalg.norm(entries[2:]) / math.sqrt(2.0))


class ExponentialMargin(ConeMargin):
    """z - y exp(x / y) of the entries (x, y, z), and y itself where that is negative."""

    __slots__ = ()
    noun = "exponential cone"
    kind = "exponential"

    def margin(self, entries):
        x, y, z = entries.tolist()
        if y < 0.0:
            return y
        if y == 0.0:  # the closure of the cone: x <= 0 <= z
            return min(z, -x)
        return z - y * math.exp(min(x / y, 700.0))


class PowerMargin(ConeMargin):
    """x^alpha y^(1-alpha) - |z| of the entries (x, y, z, alpha)."""

    __slots__ = ()
    noun = "power cone"
    kind = "power"

    def margin(self, entries):
        x, y, z, alpha = entries.tolist()
        if min(x, y) < 0.0:
            return min(x, y)
        return x**alpha * y ** (1.0 - alpha) - abs(z)


ALL_MARGINS = (
    SmallestEigenvalue,
    SecondOrderMargin,
    RotatedMargin,
    ExponentialMargin,
    PowerMargin,
)


def refusal(cone: ConeMargin) -> str:
    """What to say when a solver cannot take a cone."""
    able = [
        info.conic.pyomo_name
        for info in registry.usable("SDP")
        if info.conic.pyomo_name is not None and cone.kind in info.conic.cones
    ]
    hint = ""
    if cone.kind == "semidefinite":
        hint = (
            " A nonlinear solver takes it after "
            'TransformationFactory("radcluster.factorise").apply_to(model).'
        )
    article = "an" if cone.noun[0] in "aeiou" else "a"
    return (
        f"this model has {article} {cone.noun}, which this solver or file format cannot take: "
        f"use {', '.join(able)}.{hint}"
    )
