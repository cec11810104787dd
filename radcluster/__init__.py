"""k-means with a hard radius, formulated in Pyomo, solved by the solver you name, certified."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# Loaded on first use, so that ``radcluster --help`` need not wait for every solver's package.
_WHERE = {
    "InputError": "errors",
    "Instance": "instance",
    "Result": "result",
    "SolverFailure": "errors",
    "SolverUnavailable": "errors",
    "StepReport": "result",
    "min_clusters": "fewest",
    "min_radius": "smallest",
    "solve": "driver",
}

__all__ = list(_WHERE)


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"module 'radcluster' has no attribute {name!r}")
    return getattr(importlib.import_module(f"radcluster.{_WHERE[name]}"), name)


def __dir__():
    return sorted([*globals(), *_WHERE])


# Makes the conic solvers known to Pyomo; each is imported when it is first asked for.
importlib.import_module("radcluster.solvers.conic")
