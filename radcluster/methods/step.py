"""What a driver needs around each solved program: a clock, a solver by name, a report."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyomo.environ as pyo

from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.graph.conflicts import Analysis, analyse
from radcluster.models.parts import assignment
from radcluster.problem.instance import Instance
from radcluster.proof.verify import violations
from radcluster.result import StepReport
from radcluster.settings import Settings
from radcluster.solvers import registry
from radcluster.solvers.mip import Outcome, solve_model, title_of
from radcluster.status import Status

#: Charged to any bound, in units of the largest admissible squared distance.
ABSOLUTE_MARGIN = 2e-8


#: Seconds for the largest clique.
CLIQUE_SECONDS = 2.0
#: More points than this are not held as matrices of all pairs, of which there are several.
MAX_POINTS = 10_000
#: What a program that is too large is refused with.
TAKE_INSTEAD = (
    "Take method exact without a solver's name, or heuristic for a partition without a proof."
)


def analyse_within(instance: Instance, settings: Settings, clock: Clock) -> Analysis:
    """What the conflict graph tells, in the time that the clock leaves.

    Refuses points whose distances do not fit in memory.
    """
    n = instance.n_points
    if n > MAX_POINTS and instance.points is not None:
        raise InputError(
            f"method {settings.method} needs the distances of all pairs: {n} points take "
            f"{8e-9 * n**2:.1f} GB, of at most {8e-9 * MAX_POINTS**2:.1f}. " + TAKE_INSTEAD
        )
    budget = CLIQUE_SECONDS if clock.left is None else min(CLIQUE_SECONDS, clock.left)
    return analyse(instance, anchored=settings.anchored, clique_budget=budget)


def choose_solver(settings: Settings, problem_class: str, formulation: str, step=None) -> str:
    """The solver for one program: the one named for it, or the default of its class."""
    name = named_solver(settings, problem_class, formulation, step)
    return name or registry.default(problem_class).name


def named_solver(settings: Settings, problem_class: str, formulation: str, step=None) -> str | None:
    """The solver the user named for a program, checked to be here and to fit; None if none is.

    By step, or the first of the names that takes the program's class. Where there is only one
    program (no ``step``), a name that does not fit is refused.
    """
    wanted = settings.solver
    if isinstance(wanted, dict):
        fitting = [wanted[step]] if step in wanted else []
    else:
        names = [wanted] if isinstance(wanted, str) else list(wanted or [])
        fitting = [name for name in names if problem_class in registry.get(name).classes]
        if step is None and not fitting:
            fitting = names
    return registry.require(fitting[0], problem_class, formulation).name if fitting else None


def refuse_unused_native(settings: Settings, solvers) -> None:
    """Say so when a solver was given options of its own that is not going to be called."""
    if unused := sorted(set(settings.native) - set(solvers)):
        called = ", ".join(sorted(filter(None, solvers)))
        raise InputError(f"native options for {unused[0]}, but the solvers are: {called}")


def load_callable(reference: str | Callable, what: str, built_in=()) -> Callable:
    """A callable as given, or the one that ``"module:function"`` names."""
    if callable(reference):
        return reference
    module_name, _, function = str(reference).partition(":")
    if "/" in module_name or module_name.startswith("."):
        raise InputError(f"{what} is MODULE:FUNCTION, not a path: {Path(module_name).stem}:...")
    try:
        found = getattr(importlib.import_module(module_name), function)
    except (ImportError, AttributeError, ValueError) as error:
        names = f"one of {', '.join(built_in)} or " if built_in else ""
        raise InputError(
            f"{what} must be {names}MODULE:FUNCTION, got {reference!r}: {error}"
        ) from None
    if not callable(found):
        raise InputError(f"{what} {reference!r} is not callable")
    return found


#: What a function can raise that is not meant to be a builder, or is not finished.
_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def call_own(function: Callable, what: str, *arguments):
    """What a user's own function returns for these arguments, once it is known to take them."""
    try:
        inspect.signature(function).bind(*arguments)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} {name_of(function)} cannot be called: {error}") from None
    try:
        return function(*arguments)
    except _FAILURES as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{what} {name_of(function)} failed: {reason}") from error


def build_own(reference: str | Callable, what: str, *arguments, built_in=()):
    """The model that a user's own builder returns for these arguments."""
    model = call_own(load_callable(reference, what, built_in), what, *arguments)
    if not isinstance(model, pyo.ConcreteModel) or model.component("pi") is None:
        raise InputError(f"{what} must return a ConcreteModel with variables pi, got {model!r}")
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise InputError(f"{what} {name_of(reference)} has {len(objectives)} active objectives")
    return model


def search_certificate(report: StepReport, own: str | Callable | None = None) -> dict:
    """That a solver found no solution of a model, built in or the user's own."""
    certificate = {"kind": "search", "model": report.model, "solver": report.solver}
    return certificate if own is None else certificate | {"own": name_of(own)}


def solve_step(
    step: str,
    model,
    settings: Settings,
    solver: str,
    problem_class: str,
    clock: Clock,
    scale: float = 1.0,
    *,
    start: bool = False,
    reserve: float = 0.0,
) -> tuple[StepReport, Outcome]:
    """Solve one Pyomo model and report on it, its objective times ``scale``.

    With ``start`` the solver starts from the values of the discrete variables. ``reserve`` is how
    many seconds of the limit go into handing the model over.
    """
    left = None if clock.left is None else max(clock.left - reserve, 0.01)
    options = replace(settings.options(solver, left), start=start)
    outcome = solve_model(model, solver, options, problem_class=problem_class)
    if outcome.status == Status.ERROR:
        raise SolverFailure(f"{solver} gave no answer for {title_of(model)}: {outcome.message}")
    report = StepReport(
        step=step,
        model=title_of(model),
        solver=solver,
        version=outcome.version,
        n_variables=outcome.n_variables,
        n_constraints=outcome.n_constraints,
        seconds=outcome.seconds,
        objective=outcome.objective * scale if outcome.has_solution else None,
        bound=None if math.isnan(outcome.bound) else outcome.bound * scale,
        status=outcome.status,
        note=registry.get(solver).lacking(options),
    )
    return report, outcome


def partition_of(model, instance: Instance, solver: str) -> np.ndarray:
    """Labels of a solved model, refused unless they are a valid partition."""
    labels = assignment.labels_of(model)
    if wrong := violations(instance, labels):
        raise SolverFailure(f"{solver} returned an invalid partition: {wrong[0]}")
    return labels


def safe_bound(outcome: Outcome, widest: float = 1.0) -> float:
    """Lower bound of a minimisation in normalised units, less what tolerances may have added."""
    if math.isnan(outcome.bound):
        return 0.0
    return max(0.0, outcome.bound - bound_margin(outcome, widest))


def bound_margin(outcome: Outcome, widest: float = 1.0) -> float:
    """What a solver's tolerances may have added to its bound.

    A solver stops when every reduced cost is right up to its tolerance t. So each column, and each
    row by its slack, may have added t times its range. In normalised units that is 1 at most
    without weights, and 1 over the least weight, ``widest``, with them.
    """
    info = registry.get(outcome.solver)
    size = outcome.n_variables + outcome.n_constraints
    absolute = ABSOLUTE_MARGIN + size * info.dual_tolerance / info.cost_unit * max(widest, 1.0)
    return info.bound_margin * abs(outcome.bound) + absolute


def refuse_unbounded(outcome: Outcome, own: str | Callable) -> None:
    """Built-in models are bounded; of the user's own, 'infeasible or unbounded' is no proof."""
    if outcome.status == Status.INFEASIBLE_OR_UNBOUNDED:
        raise SolverFailure(f"{outcome.solver} calls {name_of(own)} infeasible or unbounded")


def name_of(reference: str | Callable) -> str:
    """A user's own builder or step, as a message or a report names it."""
    return reference if isinstance(reference, str) else getattr(reference, "__name__", "own")
