"""What Pyomo's factories know once radcluster is imported: conic solvers, and one transformation.

    from pyomo.environ import SolverFactory
    import radcluster
    SolverFactory("clarabel").solve(model_with_schur_blocks)
    TransformationFactory("radcluster.factorise").apply_to(model_with_schur_blocks)

Registering imports little: what a name stands for is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib

from pyomo.core.base.transformation import TransformationFactory
from pyomo.opt.base.solvers import LegacySolverFactory

#: Pyomo's name of each solver. Pyomo has a ``mosek`` of its own, for programs without matrices.
PYOMO_NAMES = {
    "clarabel": "clarabel",
    "scs": "scs",
    "cvxopt": "cvxopt",
    "sdpa": "sdpa",
    "copt": "copt",
    "mosek": "mosek_sdp",
}


def register() -> None:
    """Make the conic solvers and the factorisation of their blocks known to Pyomo."""
    for name, pyomo_name in PYOMO_NAMES.items():
        doc = f"The conic solver {name}, for linear models with Schur blocks"
        solver = _Loader("radcluster.solvers.conic_interface", "LegacyConicSolver", name=name)
        LegacySolverFactory.register(pyomo_name, doc)(solver)
    doc = "Replace each Schur block P by equations P = L L'"
    factorise = _Loader("radcluster.factorise", "Factorise")
    TransformationFactory.register("radcluster.factorise", doc)(factorise)


class _Loader:
    """Stands in a factory for a class that is imported on its first use."""

    def __init__(self, module: str, class_name: str, **arguments):
        self.module, self.class_name, self.arguments = module, class_name, arguments

    def __call__(self, **kwds):
        found = getattr(importlib.import_module(self.module), self.class_name)
        return found(**self.arguments, **kwds)


register()
