"""The methods by name: what each does, which settings it reads, where its ``run`` is.

A method is a function ``run(instance, settings, clock, progress) -> Answer``. To add one, write it
in a file of this folder and give it a line in :data:`METHODS`. Names, help texts, the check of
settings and the way to the function all come from here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from radcluster.clock import Clock
from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.result import Answer
from radcluster.settings import Settings, check_choice

#: Settings that only some methods read. Another method would silently ignore them.
SPECIAL = (
    "formulation",
    "constraints",
    "native",
    "anchored",
    "cuts",
    "sdp",
    "step1",
    "step2",
    "step4",
    "repeat",
)
_MIXED_INTEGER = ("formulation", "constraints", "native", "anchored")
_STEPS = ("constraints", "native", "anchored", "cuts", "sdp", "step1", "step2", "step4", "repeat")


@dataclass(frozen=True)
class Method:
    """One way to solve an instance.

    Attributes
    ----------
    name, summary : str
    where : str
        ``module:function``; loaded when the method is first used.
    reads : tuple of str
        Which of the :data:`SPECIAL` settings it reads.
    solvers_by_step : bool
        Whether it calls several solvers, which can be named by step.
    calls_solvers : bool
        Whether it calls any solver that can be named.
    """

    name: str
    summary: str
    where: str
    reads: tuple[str, ...] = ()
    solvers_by_step: bool = False
    calls_solvers: bool = True

    def run(
        self, instance: Instance, settings: Settings, clock: Clock, progress: Callable | None
    ) -> Answer:
        """Solve the instance."""
        module, _, function = self.where.partition(":")
        found = getattr(importlib.import_module(f"radcluster.methods.{module}"), function)
        return found(instance, settings, clock, progress)


METHODS = {
    method.name: method
    for method in (
        Method(
            "exact", "proven, by the route that suits the instance", "exact:run", _MIXED_INTEGER
        ),
        Method("milp", "Eq. 8 linearised, by a MILP solver", "milp:run", _MIXED_INTEGER),
        Method("minlp", "Eq. 8 as printed, by an MINLP solver", "milp:run", _MIXED_INTEGER),
        Method("pipeline", "the paper's Algorithm 1", "pipeline:run", _STEPS, True),
        Method("colgen", "branch and price over clusters", "colgen.solve:run"),
        Method("sdp_tree", "branch and bound on an SDP relaxation", "sdp_tree.solve:run"),
        Method(
            "heuristic",
            "a good partition without a bound",
            "heuristic.run:run",
            calls_solvers=False,
        ),
    )
}


def check(settings: Settings) -> Method:
    """The method that the settings name, once it is known to read all of them."""
    check_choice("method", settings.method, list(METHODS))
    method = METHODS[settings.method]
    if settings.solver is not None and not method.calls_solvers:
        raise InputError(f"method {method.name!r} calls no solver")
    if not method.solvers_by_step:
        if isinstance(settings.solver, Mapping):
            named = " or ".join(repr(m.name) for m in METHODS.values() if m.solvers_by_step)
            raise InputError(f"solvers by step are for method {named}")
        names = settings.solver or ()
        if not isinstance(names, str) and len(names) > 1:
            raise InputError(f"method {method.name!r} takes one solver, got {', '.join(names)}")
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    for key in set(SPECIAL) - set(method.reads):
        # An empty list or table asks for nothing.
        if getattr(settings, key) not in (defaults[key], [], (), {}):
            readers = " or ".join(repr(m.name) for m in METHODS.values() if key in m.reads)
            raise InputError(f"{key} is for method {readers}")
    return method
