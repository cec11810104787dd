"""Linear and mixed-integer models through Pyomo's interfaces, with one kind of answer.

Pyomo has two generations of interfaces; each gets one adaptor here, and nothing else in the
package touches either. A solver's status is not taken at its word: an :class:`Outcome` only says
what the solver claims, and callers recompute objectives and compare bounds.
"""

from __future__ import annotations

import importlib
import logging
import math
import signal
import subprocess
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import pyomo.environ as pyo
from pyomo.common.errors import (
    ApplicationError,
    InvalidConstraintError,
    InvalidExpressionError,
)
from pyomo.common.tempfiles import TempfileManager
from pyomo.contrib.solver.common.factory import SolverFactory as NewSolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus
from pyomo.contrib.solver.common.results import TerminationCondition as New
from pyomo.contrib.solver.common.util import IncompatibleModelError
from pyomo.opt import TerminationCondition as Old

from radcluster.errors import InputError, SolverFailure, SolverUnavailable, Terminated
from radcluster.solvers import registry
from radcluster.solvers.options import Options
from radcluster.solvers.record import SolverInfo
from radcluster.status import Status

#: Seconds beyond its limit after which a solver that runs as a program is ended.
GRACE = 5.0


@dataclass(frozen=True)
class Outcome:
    """What a solver said of a model. Values of the variables are in the model itself.

    ``bound`` is the solver's dual bound (nan when it has none).
    """

    status: Status
    has_solution: bool
    objective: float
    bound: float
    solver: str
    version: str | None
    seconds: float
    n_variables: int
    n_constraints: int
    message: str = ""

    @property
    def excluded(self) -> bool:
        """Whether a bounded model has no solution, by the solver's word.

        The models built here are bounded: every variable lies in a box.
        """
        return self.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED)


def solve_model(
    model: pyo.ConcreteModel,
    solver: str | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    problem_class: str = "MILP",
) -> Outcome:
    """Solve a linear, mixed-integer, quadratic or nonlinear Pyomo model by a solver's name.

    The best solution found, if any, is loaded into ``model``; nothing is raised for a time limit
    or an infeasible model.
    """
    info = registry.require(solver, problem_class, title_of(model))
    _check_native(info, options)
    n_variables = sum(1 for _ in model.component_data_objects(pyo.Var))
    n_constraints = sum(1 for _ in model.component_data_objects(pyo.Constraint, active=True))
    _check_size(info, title_of(model), problem_class, n_variables, n_constraints)
    start = time.perf_counter()
    try:
        with _quiet(), _costs_times(info.cost_unit, model), _ending_with_us(info):
            adaptor = _solve_new if info.pyomo.new else _solve_legacy
            status, has_solution, bound, message = adaptor(info, model, options, problem_class)
    except (IncompatibleModelError, InvalidConstraintError, InvalidExpressionError) as error:
        others = ", ".join(other.name for other in registry.usable("MINLP"))
        raise InputError(
            f"{info.name} cannot take {title_of(model)} as it was built: {error} "
            f"Installed solvers for nonlinear models: {others}."
        ) from None
    except (ApplicationError, *_native_errors(info)) as error:
        raise SolverFailure(f"{info.name} failed on {title_of(model)}: {error}") from error
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    return Outcome(
        status=status,
        has_solution=has_solution,
        objective=pyo.value(objective) if has_solution else math.nan,
        bound=_finite(bound) / info.cost_unit,
        solver=info.name,
        version=info.version,
        seconds=time.perf_counter() - start,
        n_variables=n_variables,
        n_constraints=n_constraints,
        message=message,
    )


def title_of(model: pyo.ConcreteModel) -> str:
    """The model's name, without the quotes that Pyomo puts around a colon."""
    return model.name.strip("'")


def _native_errors(info: SolverInfo) -> tuple[type[Exception], ...]:
    pairs = (error.split(":") for error in info.errors)
    return tuple(getattr(importlib.import_module(module), name) for module, name in pairs)


def _check_native(info: SolverInfo, options: Options) -> None:
    """Refuse options that a solver does not know; Pyomo would drop them or break on them."""
    if options.native and info.unknown_options:
        if unknown := info.unknown_options(options.native):
            raise InputError(f"{info.name} has no option {unknown[0]!r}")


def _check_size(info: SolverInfo, title: str, problem_class: str, variables: int, rows: int):
    """Refuse what the solver's free licence does not take, and say what does."""
    exceeded = info.free_size and info.free_size.exceeded(variables, rows)
    if exceeded:
        others = [other.name for other in registry.usable(problem_class) if not other.free_size]
        raise SolverUnavailable(
            f"the free licence of {info.name} {exceeded} ({title}). "
            f"Solvers here without such a limit: {', '.join(others)}. "
            "Method colgen solves far larger instances without such a model."
        )


def _native(info: SolverInfo, options: Options, neutral: tuple[str, ...]) -> dict:
    """Neutral options under the solver's own names, then the native ones as given."""
    chosen = dict(info.safe_options)
    for key in neutral:
        value = getattr(options, key)
        # What the solver lacks, the report of the step says.
        if value is None or key not in info.option_names:
            continue
        chosen[info.option_names[key]] = value
    chosen |= options.native
    return info.adjust(chosen) if info.adjust else chosen


def _solve_new(info: SolverInfo, model, options, problem_class):
    nonlinear = problem_class not in ("LP", "MILP")
    solver = NewSolverFactory((nonlinear and info.pyomo.nonlinear) or info.pyomo.name)
    # HiGHS is the one whose interface knows no start.
    start = {"warmstart_discrete_vars": True} if _can_start(info, model, options) else {}
    results = solver.solve(
        model,
        **start,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        tee=options.verbose,
        time_limit=options.time_limit,
        threads=options.threads,
        rel_gap=options.rel_gap,
        # The default absolute gap of some solvers is larger than a whole objective can be.
        abs_gap=0.0,
        solver_options=_native(info, options, ("seed",)),
    )
    has_solution = results.solution_status in (SolutionStatus.feasible, SolutionStatus.optimal)
    if has_solution:
        results.solution_loader.load_vars()
    condition = results.termination_condition
    status = _NEW_STATUS.get(condition, Status.ERROR)
    if status == Status.ERROR and has_solution:
        status = Status.FEASIBLE
    return status, has_solution, results.objective_bound, condition.name


def _can_start(info: SolverInfo, model, options: Options) -> bool:
    """Whether a start is asked for and the solver can make use of the values that there are."""
    if not (options.start and info.pyomo.takes_start):
        return False
    return not info.pyomo.whole_start or all(
        var.value is not None
        for var in model.component_data_objects(pyo.Var, active=True)
        if var.is_integer()
    )


_NEW_STATUS = {
    New.convergenceCriteriaSatisfied: Status.OPTIMAL,
    New.maxTimeLimit: Status.TIME_LIMIT,
    New.iterationLimit: Status.TIME_LIMIT,
    New.provenInfeasible: Status.INFEASIBLE,
    New.infeasibleOrUnbounded: Status.INFEASIBLE_OR_UNBOUNDED,
    New.interrupted: Status.INTERRUPTED,
}


def _solve_legacy(info: SolverInfo, model, options, problem_class):
    solver = pyo.SolverFactory(info.pyomo.name)
    neutral = ("time_limit", "threads", "seed")
    if problem_class != "LP":
        neutral += ("rel_gap",)
    settings = _native(info, options, neutral)
    start = {"warmstart": True} if _can_start(info, model, options) else {}
    if info.executable and options.time_limit is not None:
        _end_after(solver, options.time_limit + GRACE)
    began = time.perf_counter()
    try:
        results = solver.solve(
            model, load_solutions=False, tee=options.verbose, options=settings, **start
        )
    except subprocess.TimeoutExpired:
        return Status.TIME_LIMIT, False, None, "did not stop at its time limit and was ended"
    condition = results.solver.termination_condition
    has_solution = len(results.solution) > 0 and condition not in _WITHOUT_SOLUTION
    if has_solution:
        model.solutions.load_from(results)
        has_solution = all(
            var.value is not None for var in model.component_data_objects(pyo.Var, active=True)
        )
    sense = next(model.component_data_objects(pyo.Objective, active=True)).sense
    problem = results.problem
    bound = problem.lower_bound if sense == pyo.minimize else problem.upper_bound
    status = _OLD_STATUS.get(condition, Status.ERROR)
    if status == Status.ERROR and has_solution:
        status = Status.FEASIBLE
    elif status == Status.ERROR and _passed(options.time_limit, began):
        # Xpress calls it an error when its time ends before the root is solved.
        status = Status.TIME_LIMIT
    bound = _number(bound)
    if info.printed_bound:
        claimed = status == Status.OPTIMAL and has_solution
        bound = _unrounded(info, model, bound, sense, claimed, options, settings)
    return status, has_solution, bound, str(condition)


def _unrounded(info, model, bound, sense, claimed, options, settings) -> float:
    """The bound of a solver that prints few digits: what its claim of optimality says instead.

    The claim is about the gap it was told. Where the user told it another one, or there is no
    claim, the bound is moved by as much as it may have been rounded.
    """
    gap = info.option_names["rel_gap"]
    own_gap = any(key.lower().startswith(("ratio", "allow")) for key in options.native)
    if claimed and not own_gap:
        objective = pyo.value(next(model.component_data_objects(pyo.Objective, active=True)))
        return objective - sense * settings.get(gap, 0.0) * abs(objective)
    return bound - sense * info.printed_bound * abs(bound)


def _passed(limit: float | None, began: float) -> bool:
    return limit is not None and time.perf_counter() - began >= limit


def _end_after(solver, seconds: float) -> None:
    """Let Pyomo end the solver's program after so many seconds, whatever limit that one was told.

    Pyomo's own ``timelimit`` would hand the later limit to the solver, too.
    """
    execute = solver._execute_command

    def execute_within(command):
        solver._timelimit = seconds
        return execute(command)

    solver._execute_command = execute_within


_OLD_STATUS = {
    Old.optimal: Status.OPTIMAL,
    Old.maxTimeLimit: Status.TIME_LIMIT,
    # So cbc calls the end of its time before it has found a solution.
    Old.intermediateNonInteger: Status.TIME_LIMIT,
    Old.infeasible: Status.INFEASIBLE,
    Old.infeasibleOrUnbounded: Status.INFEASIBLE_OR_UNBOUNDED,
    Old.userInterrupt: Status.INTERRUPTED,
    Old.resourceInterrupt: Status.INTERRUPTED,
}

#: Where values, if there are any, are no solution.
_WITHOUT_SOLUTION = (Old.infeasible, Old.unbounded, Old.intermediateNonInteger)


def _finite(bound) -> float:
    return math.nan if bound is None or not math.isfinite(bound) else float(bound)


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


@contextmanager
def _ending_with_us(info: SolverInfo):
    """Let SIGTERM end a solver that runs as a program, and remove its files, before it ends us."""
    if not info.executable or threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number, frame):
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    depth = len(TempfileManager._context_stack)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        # Pyomo leaves its files behind when it is interrupted.
        while len(TempfileManager._context_stack) > depth:
            TempfileManager.pop(remove=True)


@contextmanager
def _costs_times(unit: float, model):
    """Let a solver see the objective in another unit; its own is put back in any case."""
    if unit == 1.0:
        yield
        return
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    stated = objective.expr
    objective.set_value(stated * unit)
    try:
        yield
    finally:
        objective.set_value(stated)


@contextmanager
def _quiet():
    """Keep an infeasible model or a licence notice from speaking on the user's terminal."""
    logger = logging.getLogger("pyomo")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
