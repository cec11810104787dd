"""What solvers without cones say of a model that has one.

Pyomo's translators meet an expression of a kind they do not know, and most of them ask the user to
report that to Pyomo's developers. Here each of them is told what to say instead: which cone it is,
and which solvers take it. A translator that would write the cone into a file as if it were a
function refuses too (:meth:`radcluster.conic.margins.ConeMargin._to_string`).
"""

from __future__ import annotations

import importlib

from radcluster.conic.margins import ALL_MARGINS, ConeMargin, refusal
from radcluster.errors import InputError

#: Dispatchers that look a kind of expression up with its base classes.
_BY_BASE = (
    ("pyomo.repn.linear", "LinearRepnVisitor.exit_node_dispatcher"),
    ("pyomo.repn.quadratic", "QuadraticRepnVisitor.exit_node_dispatcher"),
    ("pyomo.repn.parameterized", "ParameterizedLinearRepnVisitor.exit_node_dispatcher"),
    ("pyomo.repn.parameterized", "ParameterizedQuadraticRepnVisitor.exit_node_dispatcher"),
    ("pyomo.repn.ampl", "_operator_handles"),
    (
        "pyomo.contrib.solver.solvers.gurobi.gurobi_direct_minlp",
        "GurobiMINLPVisitor.exit_node_dispatcher",
    ),
    ("pyomo.contrib.observer.component_collector", "collector_handlers"),
)

#: Tables that know each kind of expression by its own class only.
_BY_CLASS = (
    ("pyomo.repn.standard_repn", "_repn_collectors"),
    ("pyomo.contrib.solver.solvers.scip.base", "_operator_map"),
)


def install() -> None:
    """Tell Pyomo's translators how to refuse a cone."""
    for module, path in _BY_BASE:
        table = _found(module, path)
        if table is not None:
            table[ConeMargin] = _refuse
    for module, path in _BY_CLASS:
        table = _found(module, path)
        if table is not None:
            table |= dict.fromkeys(ALL_MARGINS, _refuse)


def _found(module: str, path: str):
    """A table of a translator; None when this version of Pyomo has no such translator."""
    try:
        found = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return None
    return found


def _refuse(*arguments):
    """Called by a translator with the expression among its arguments."""
    cone = next(argument for argument in arguments if isinstance(argument, ConeMargin))
    raise InputError(refusal(cone))
