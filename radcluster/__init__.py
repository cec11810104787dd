"""k-means with a hard radius, formulated in Pyomo, solved by the solver you name, certified."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radcluster.api import min_clusters as min_clusters
    from radcluster.api import min_radius as min_radius
    from radcluster.api import solve as solve
    from radcluster.errors import InfeasibleError as InfeasibleError
    from radcluster.errors import InputError as InputError
    from radcluster.errors import SolverFailure as SolverFailure
    from radcluster.errors import SolverUnavailable as SolverUnavailable
    from radcluster.estimator import RadiusKMeans as RadiusKMeans
    from radcluster.problem.instance import Instance as Instance
    from radcluster.result import Result as Result
    from radcluster.result import StepReport as StepReport
    from radcluster.views.comparison import compare as compare

__version__ = "0.2.0"

# Loaded on first use, so that ``radcluster --help`` need not wait for every solver's package.
_WHERE = {
    "InfeasibleError": "errors",
    "InputError": "errors",
    "Instance": "problem.instance",
    "RadiusKMeans": "estimator",
    "Result": "result",
    "SolverFailure": "errors",
    "SolverUnavailable": "errors",
    "StepReport": "result",
    "compare": "views.comparison",
    "min_clusters": "api",
    "min_radius": "api",
    "solve": "api",
}

__all__ = list(_WHERE)


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"module 'radcluster' has no attribute {name!r}")
    return getattr(importlib.import_module(f"radcluster.{_WHERE[name]}"), name)


def __dir__():
    return sorted([*globals(), *_WHERE])


class _RegisterWithPyomo:
    """Makes the conic solvers known to Pyomo as soon as Pyomo itself is imported.

    Importing Pyomo takes longer than everything else that ``import radcluster`` does, and much of
    radcluster works without it. So the import of ``pyomo.environ`` is left to whoever needs it.
    """

    module = "radcluster.conic.plugin.register"

    def find_spec(self, name, path=None, target=None):
        if name != "pyomo.environ":
            return None
        sys.meta_path.remove(self)
        spec: Any = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_register(module):
            execute(module)
            importlib.import_module(self.module)

        spec.loader.exec_module = execute_and_register
        return spec


if "pyomo.environ" in sys.modules:
    importlib.import_module(_RegisterWithPyomo.module)
else:
    sys.meta_path.insert(0, _RegisterWithPyomo())

# Where results find the functions that draw them; loaded when the first figure is asked for.
importlib.import_module("radcluster.show").use("radcluster.views")
