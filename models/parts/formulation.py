"""A Pyomo model that shows itself: what it is made of, and the mathematics it was built from."""

from __future__ import annotations

from html import escape

import pyomo.environ as pyo

from radcluster import show

_KINDS = (
    ("set", pyo.Set),
    ("parameter", pyo.Param),
    ("variable", pyo.Var),
    ("objective", pyo.Objective),
    ("constraint", pyo.Constraint),
    ("block", pyo.Block),
)


class Formulation(pyo.ConcreteModel):
    """A ``ConcreteModel`` in every respect, with a short ``repr`` and a table in notebooks.

    Parameters
    ----------
    name : str
        ``family:form``.
    about : str
        The mathematics: the docstring of the module that builds it.

    Examples
    --------
    >>> m = Formulation("example", "min x")
    >>> m.x = pyo.Var([1, 2])
    >>> m
    <Formulation example: 2 variables, 0 constraints>
    """

    def __init__(self, name: str, about: str | None = None):
        super().__init__(name=name)
        self.about = about or ""

    def contents(self) -> show.Table:
        """Sets, variables, objective, constraints and blocks: kind, name, size, meaning."""
        rows = [
            (kind, component.name, len(component), component.doc or "")
            for kind, ctype in _KINDS
            for component in self.component_objects(ctype, descend_into=False, active=True)
            if not component.name.endswith("_domain")
        ]
        return show.Table(("kind", "name", "size", "meaning"), tuple(rows))

    def _title(self) -> str:
        return self.name.strip("'")  # Pyomo puts quotes around a name with a colon

    def _size(self) -> str:
        variables = sum(1 for _ in self.component_data_objects(pyo.Var))
        rows = sum(1 for _ in self.component_data_objects(pyo.Constraint, active=True))
        return f"{variables} variables, {rows} constraints"

    def __repr__(self) -> str:
        return f"<Formulation {self._title()}: {self._size()}>"

    def _repr_html_(self) -> str:
        mathematics = f"<pre>{escape(self.about.strip())}</pre>"
        parts = [self.contents()._repr_html_()]
        if self.about:
            parts.append(show.folded("the mathematics", mathematics))
        return show.card(f"{self._title()}: {self._size()}", (), *parts)
