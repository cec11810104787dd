"""What all cone components share: entries, one constraint, and a place in the solver's duals."""

from __future__ import annotations

import inspect

import numpy as np
from pyomo.core.base.block import BlockData
from pyomo.environ import Block, Constraint, value

from radcluster import show
from radcluster.conic.arrays import Affine
from radcluster.conic.margins import ConeMargin
from radcluster.conic.plugin import refusals
from radcluster.errors import InputError

refusals.install()


class ConeData(BlockData):
    """A block whose constraint ``cone`` puts its entries into a cone.

    Attributes
    ----------
    cone : Constraint
        ``margin >= 0``; deactivate it to drop the cone.
    """

    #: Name in the table of backends and cones.
    kind = ""
    #: The expression of the constraint.
    margin: type[ConeMargin] = ConeMargin

    def state(self, entries: list | Affine) -> None:
        """Keep the entries and add the constraint."""
        self._affine = entries if isinstance(entries, Affine) else None
        if self._affine is None:
            self._entries = entries
            self.cone = Constraint(expr=self.margin(entries) >= 0)
        else:
            self._entries = None
            if not self._affine.variables:
                self._entries = self._affine.constant.tolist()
                body = self.margin(self._entries)
                self._affine = None
            else:
                local = (self._affine.coefficients, self._affine.constant)
                body = self.margin(self._affine.variables, local)
            # Not by ``body >= 0``: Pyomo would refuse a body without variables.
            self.cone = Constraint(expr=(0, body, None))

    @property
    def affine(self) -> Affine | None:
        """The entries as arrays, when that is how they were given; otherwise None."""
        return self._affine

    @property
    def entries(self) -> list:
        """The entries as Pyomo expressions, in the order in which the cone takes them."""
        if self._entries is None:
            self._entries = self._affine.expressions(range(self._affine.size))
        return self._entries

    def entry_values(self) -> np.ndarray:
        """The entries at the current values of the variables."""
        if self._affine is not None:
            x = np.array([value(var) for var in self._affine.variables], dtype=float)
            return self._affine.coefficients @ x + self._affine.constant
        return np.array([value(entry) for entry in self._entries], dtype=float)

    def statement(self) -> str:
        """What the cone says, in a line."""
        return f"{self.margin.noun}, {len(self.entries)} entries"

    def __repr__(self) -> str:
        return f"<{self.name}: {self.statement()}>"

    def _repr_html_(self) -> str:
        margin = value(self.cone.body, exception=False)
        unknown = margin is None or margin != margin
        known = "unknown, variables have no values yet" if unknown else margin
        return show.card(f"{self.name}: {self.statement()}", [("margin", known)], self._drawn())

    def _drawn(self) -> str:
        """The entries in HTML, where they are few."""
        return ""

    def place(self, number: int) -> str:
        """What to call an entry in a message."""
        return f"entry {number} of the {self.margin.noun} {self.name}"


def active_cones(model: Block) -> list[ConeData]:
    """The active cones of a model, in order of declaration.

    Raises
    ------
    InputError
        For a cone whose statement failed: Pyomo leaves it in the model, without a constraint.
    """
    found = []
    for block in model.block_data_objects(active=True, descend_into=True):
        if not isinstance(block, ConeData):
            continue
        if block.component("cone") is None:
            raise InputError(f"the cone {block.name} was not stated: delete it or state it anew")
        if block.cone.active:
            found.append(block)
    return found


class Stated:
    """The rule of a cone that was stated in place, as in ``m.c = SecondOrderCone(t, [x, y])``."""

    def __init__(self, arguments: tuple, keywords: dict):
        self.arguments, self.keywords = arguments, keywords

    def __call__(self, block, *index):
        block.build(*self.arguments, **self.keywords)
        # The block keeps what it needs; a copy of the model need not copy the matrix as well.
        self.arguments, self.keywords = (), {}


class StatedEach:
    """The rule of an indexed cone: ``rule(parent, *index)`` returns what the cone is made of."""

    def __init__(self, rule, keywords: dict):
        self.rule, self.keywords = rule, keywords

    def __call__(self, block, *index):
        found = self.rule(block.parent_block(), *index)
        arguments = found if isinstance(found, tuple) else (found,)
        block.build(*arguments, **self.keywords)


def component(container, arguments: tuple, rule, keywords: dict):
    """A scalar component from what was stated, or an indexed one from a rule."""
    common = {key: keywords.pop(key) for key in ("doc", "name") if key in keywords}
    if rule is None:
        # ``PSD(matrix=...)`` is as good as ``PSD(...)``.
        statement = inspect.signature(container._ComponentDataClass.build)
        try:
            statement.bind(None, *arguments, **keywords)
        except TypeError as error:
            name = container.__name__.removesuffix("Block")
            raise InputError(
                f"{name} needs its entries, or index sets and a rule: {error}"
            ) from None
        return container(rule=Stated(arguments, keywords), **common)
    return container(*arguments, rule=StatedEach(rule, keywords), **common)
