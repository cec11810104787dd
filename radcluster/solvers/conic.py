"""Conic solvers by name, known to Pyomo's ``SolverFactory`` once radcluster is imported.

    from pyomo.environ import SolverFactory
    import radcluster
    SolverFactory("clarabel").solve(model_with_schur_blocks)

Registering imports little: a solver's interface is loaded when its name is first asked for.
"""

from __future__ import annotations

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
    """Make the conic solvers known to Pyomo."""
    for name, pyomo_name in PYOMO_NAMES.items():
        doc = f"The conic solver {name}, for linear models with Schur blocks"
        LegacySolverFactory.register(pyomo_name, doc)(_Loader(name))


class _Loader:
    """Stands in the factory for a class that is imported on its first use."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, **kwds):
        from radcluster.solvers.conic_interface import LegacyConicSolver

        return LegacyConicSolver(name=self.name, **kwds)


register()
