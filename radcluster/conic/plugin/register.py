"""What Pyomo's factories know once radcluster is imported: conic solvers, and one transformation.

    from pyomo.environ import SolverFactory
    import radcluster.conic
    SolverFactory("clarabel").solve(model_with_cones)
    TransformationFactory("radcluster.factorise").apply_to(model_with_psd_blocks)

Registering imports little: what a name stands for is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib

from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.core.base.transformation import TransformationFactory

from radcluster.solvers.catalogue import SOLVERS

#: Pyomo's name of each conic solver.
PYOMO_NAMES = {
    info.name: info.conic.pyomo_name
    for info in SOLVERS.values()
    if info.conic is not None and info.conic.pyomo_name is not None
}


def register() -> None:
    """Make the conic solvers and the factorisation of their blocks known to Pyomo.

    One call fills the new factory (``pyomo.contrib.solver``, version 3 of ``pyomo.future``) and
    the one of ``pyomo.environ``.
    """
    where = "radcluster.conic.plugin.interface"
    for name, pyomo_name in PYOMO_NAMES.items():
        doc = f"The conic solver {name}, for models with cones of radcluster.conic"
        new = _Loader(where, "ConicSolver", name=name)
        legacy = _Loader(where, "LegacyConicSolver", name=name)
        SolverFactory.register(pyomo_name, doc=doc)(new, legacy)
    doc = "Replace each positive semidefinite block P by equations P = L L'"
    factorise = _Loader("radcluster.conic.plugin.factorise", "Factorise")
    TransformationFactory.register("radcluster.factorise", doc)(factorise)


class _Loader:
    """Stands in a factory for a class that is imported on its first use."""

    def __init__(self, module: str, class_name: str, **arguments):
        self.module, self.class_name, self.arguments = module, class_name, arguments

    def __call__(self, **kwds):
        found = getattr(importlib.import_module(self.module), self.class_name)
        return found(**self.arguments, **kwds)


register()
