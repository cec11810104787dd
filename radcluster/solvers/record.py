"""What radcluster knows of one solver: everything in one record."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from radcluster.solvers.options import Options

#: Problem classes. A nonconvex quadratic constraint makes an MIQCP, a ratio an MINLP.
CLASSES = ("LP", "MILP", "MIQCP", "MINLP", "SDP", "NLP")


@dataclass(frozen=True)
class PyomoInterface:
    """How Pyomo reaches a linear or mixed-integer solver.

    Attributes
    ----------
    name : str
        Its name in Pyomo's factory.
    new : bool
        Whether it is in the new factory, whose interfaces carry the neutral options themselves.
    nonlinear : str or None
        The name for nonlinear models, where that is another one.
    takes_start : bool
        Whether it starts from the values that the variables have.
    whole_start : bool
        Whether every discrete variable must then have a value.
    """

    name: str
    new: bool = False
    nonlinear: str | None = None
    takes_start: bool = False
    whole_start: bool = False


#: Cones of :mod:`radcluster.conic`. The first two are their own duals.
CONES = ("second-order", "semidefinite", "exponential", "power")


@dataclass(frozen=True)
class ConicInterface:
    """How a conic solver is reached, and what it takes.

    Attributes
    ----------
    cones : tuple of str
        Of :data:`CONES`.
    pyomo_name : str or None
        The name under which :mod:`radcluster.conic` registers it in Pyomo's factories.
    quadratic : bool
        Whether it takes a quadratic objective as it is.
    crashes : bool
        Whether it was seen to end the whole process, and so runs in one of its own.
    own_columns : bool
        Whether entries of matrices with several terms become variables with an equation each. An
        interior-point method for cones of slacks is faster so; SDPA, which has no equations, loses
        accuracy by it.
    tolerance : float
        Its own tolerance, roughly, when none is asked for.
    option_names : mapping
        Of a solver reached through CVXPY: its own names for ``tolerance``, ``time_limit`` and
        ``threads``, each a tuple.
    """

    cones: tuple[str, ...]
    pyomo_name: str | None = None
    quadratic: bool = False
    crashes: bool = False
    own_columns: bool = True
    tolerance: float = 1e-6
    option_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class FreeSize:
    """The size of models that a free licence takes, and whether that is the licence here.

    Attributes
    ----------
    variables, rows, both : int or None
        The most variables, rows, and variables and rows together; None: no such limit.
    applies : callable
        Whether the installed licence has these limits. It asks the solver, so it is called only
        for models beyond them.
    """

    applies: Callable[[], bool]
    variables: int | None = None
    rows: int | None = None
    both: int | None = None

    def exceeded(self, variables: int, rows: int) -> str | None:
        """Which limit a model of this size exceeds, in words; None when none applies."""
        limits = (
            (variables, self.variables, "variables"),
            (rows, self.rows, "rows"),
            (variables + rows, self.both, "variables and rows"),
        )
        for size, most, what in limits:
            if most is not None and size > most and self.applies():
                return f"takes at most {most} {what}, and the model has {size}"
        return None


@dataclass(frozen=True)
class SolverInfo:
    """A solver radcluster knows, installed or not.

    Attributes
    ----------
    name : str
    classes : tuple of str
        What it solves, of :data:`CLASSES`.
    install : str
        How to install it.
    modules : tuple of str
        What it imports as.
    distribution : str or None
        The package that carries its version.
    executable : str or None
        The command of a solver that Pyomo calls as a program.
    version_flags : tuple of str
        What makes that command print its version.
    pyomo : PyomoInterface or None
        None for conic solvers, which Pyomo does not know.
    conic : ConicInterface or None
        None for solvers without cones.
    option_names : mapping
        Its own names for the neutral options that Pyomo's interface does not carry.
    safe_options : mapping
        Options under which its answers can be trusted; a user's own override them.
    cost_unit : float
        A power of two that objectives are multiplied by on their way to a mixed-integer solver.
        Its tolerance on reduced costs is absolute, so a larger unit makes it tighter.
    dual_tolerance : float
        That tolerance, under the ``safe_options``. Every row and column may add it to a bound.
    bound_margin : float
        The part of a bound that its tolerance on feasibility may have added.
    printed_bound : float
        The part by which the bound that its program prints may be rounded.
    errors : tuple of "module:class"
        Errors of its Python package that mean that it failed.
    unknown_options : callable, optional
        Which of these option names it does not know. Pyomo would drop them or break on them.
    adjust : callable, optional
        Last changes to its options, e.g. a limit in whole seconds.
    only : tuple of str
        The formulations that it solves, where it does not take every program of its classes.
    check : callable, optional
        What an installed solver lacks besides its package, such as a licence; None: nothing.
    free_size : FreeSize, optional
        The size of models that its free licence takes.
    """

    name: str
    classes: tuple[str, ...]
    install: str
    modules: tuple[str, ...] = ()
    distribution: str | None = None
    executable: str | None = None
    version_flags: tuple[str, ...] = ()
    pyomo: PyomoInterface | None = None
    conic: ConicInterface | None = None
    option_names: Mapping[str, str] = field(default_factory=dict)
    safe_options: Mapping[str, Any] = field(default_factory=dict)
    cost_unit: float = 1024.0
    dual_tolerance: float = 1e-9
    bound_margin: float = 1e-7
    printed_bound: float = 0.0
    errors: tuple[str, ...] = ()
    unknown_options: Callable[[Mapping[str, Any]], list[str]] | None = None
    adjust: Callable[[dict], dict] | None = None
    only: tuple[str, ...] = ()
    check: Callable[[], str | None] | None = None
    free_size: FreeSize | None = None

    def lacking(self, options: Options) -> str | None:
        """What of the neutral options it cannot be told, in words; None when it can be told all."""
        names: Mapping[str, Any]
        keys: tuple[str, ...]
        if self.conic:
            names, keys = self.conic.option_names, ("time_limit", "threads")
            if not names:  # reached directly, by code that knows its options
                return None
        else:
            names = self.option_names
            neutral = ("time_limit", "rel_gap", "threads", "seed")
            keys = ("seed",) if self.pyomo and self.pyomo.new else neutral
        missing = [key for key in keys if getattr(options, key) is not None and key not in names]
        if options.start and not (self.pyomo and self.pyomo.takes_start):
            missing.append("a start")
        return f"{self.name} has no option for {' and '.join(missing)}" if missing else None

    @property
    def installed(self) -> bool:
        if self.executable:
            return shutil.which(self.executable) is not None
        return all(importlib.util.find_spec(name) for name in self.modules)

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be used here, and what to do about it; None when it can."""
        if not self.installed:
            return f"is not installed: {self.install}"
        return self.check() if self.check else None

    @property
    def version(self) -> str | None:
        """Version of the installed solver; None when it is not installed."""
        if not self.installed:
            return None
        if self.distribution:
            return importlib.metadata.version(self.distribution)
        return _printed_version(self.executable, self.version_flags)


@cache
def _printed_version(executable: str, flags: tuple[str, ...]) -> str | None:
    run = subprocess.run(
        [executable, *flags], capture_output=True, text=True, timeout=10, check=False
    )
    found = re.search(r"(\d+\.\d+(?:\.\d+)*)", run.stdout)
    return found.group(1) if found else None
