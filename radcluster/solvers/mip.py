"""Linear and mixed-integer models through Pyomo's interfaces, with one kind of answer.

Pyomo has two generations of interfaces; each gets one adaptor here, and nothing else in the
package touches either. A solver's status is not taken at its word: an :class:`Outcome` only says
what the solver claims, and callers recompute objectives and compare bounds.
"""

from __future__ import annotations

import importlib
import logging
import math
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import highspy
import pyomo.environ as pyo
import pyscipopt
from pyomo.common.errors import (
    ApplicationError,
    InvalidConstraintError,
    InvalidExpressionError,
)
from pyomo.contrib.solver.common.factory import SolverFactory as NewSolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus
from pyomo.contrib.solver.common.results import TerminationCondition as New
from pyomo.contrib.solver.common.util import IncompatibleModelError
from pyomo.opt import TerminationCondition as Old

from radcluster.errors import InputError, SolverFailure
from radcluster.solvers import registry
from radcluster.solvers.options import Options


@dataclass(frozen=True)
class Outcome:
    """What a solver said of a model. Values of the variables are in the model itself.

    ``status`` is ``optimal``, ``feasible``, ``infeasible``, ``time_limit``, ``interrupted`` or
    ``error``; ``bound`` is the solver's dual bound (nan when it has none).
    """

    status: str
    has_solution: bool
    objective: float
    bound: float
    solver: str
    version: str | None
    seconds: float
    n_variables: int
    n_constraints: int
    message: str = ""


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
    _check_native(info.name, options)
    start = time.perf_counter()
    try:
        with _quiet():
            adaptor = _solve_new if info.name in _NEW_STYLE else _solve_legacy
            status, has_solution, bound, message = adaptor(info.name, model, options, problem_class)
    except (IncompatibleModelError, InvalidConstraintError, InvalidExpressionError) as error:
        others = ", ".join(other.name for other in registry.usable("MINLP"))
        raise InputError(
            f"{info.name} cannot take {title_of(model)} as it was built: {error} "
            f"Installed solvers for nonlinear models: {others}."
        ) from None
    except (ApplicationError, *_native_errors(info.name)) as error:
        raise SolverFailure(f"{info.name} failed on {title_of(model)}: {error}") from error
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    return Outcome(
        status=status,
        has_solution=has_solution,
        objective=pyo.value(objective) if has_solution else math.nan,
        bound=math.nan if bound is None or not math.isfinite(bound) else float(bound),
        solver=info.name,
        version=info.version,
        seconds=time.perf_counter() - start,
        n_variables=sum(1 for _ in model.component_data_objects(pyo.Var)),
        n_constraints=sum(1 for _ in model.component_data_objects(pyo.Constraint, active=True)),
        message=message,
    )


def title_of(model: pyo.ConcreteModel) -> str:
    """The model's name, without the quotes that Pyomo puts around a colon."""
    return model.name.strip("'")


#: Where the solvers whose Python packages raise errors of their own keep them.
_NATIVE_ERRORS = {
    "gurobi": ("gurobipy", "GurobiError"),
    "cplex": ("cplex.exceptions", "CplexError"),
    "xpress": ("xpress", "SolverError"),
}


def _native_errors(name: str) -> tuple[type[Exception], ...]:
    if name not in _NATIVE_ERRORS:
        return ()
    module, error = _NATIVE_ERRORS[name]
    return (getattr(importlib.import_module(module), error),)


def _check_native(name: str, options: Options) -> None:
    """Refuse options that a solver does not know; Pyomo would drop them or break on them."""
    if not options.native:
        return
    if name == "highs":
        known = highspy.Highs()
        known.setOptionValue("output_flag", False)
        unknown = [
            key for key in options.native if known.getOptionType(key)[0] != highspy.HighsStatus.kOk
        ]
    elif name == "scip":
        unknown = sorted(set(options.native) - set(pyscipopt.Model().getParams()))
    else:
        return
    if unknown:
        raise InputError(f"{name} has no option {unknown[0]!r}")


_NEW_STYLE = {"highs": "highs", "scip": "scip_direct", "gurobi": "gurobi_direct"}
_LEGACY = {"cbc": "cbc", "glpk": "glpk", "xpress": "xpress_direct", "cplex": "cplex_direct"}

#: Names that each solver gives the neutral options which Pyomo's interface does not carry.
_NATIVE_NAMES = {
    "highs": {"seed": "random_seed"},
    "scip": {"seed": "randomization/randomseedshift"},
    "gurobi": {"seed": "Seed"},
    "cbc": {
        "time_limit": "seconds",
        "rel_gap": "ratioGap",
        "threads": "threads",
        "seed": "randomCbcSeed",
    },
    "glpk": {"time_limit": "tmlim", "rel_gap": "mipgap", "seed": "seed"},
    "xpress": {
        "time_limit": "timelimit",
        "rel_gap": "miprelstop",
        "threads": "threads",
        "seed": "randomseed",
    },
    "cplex": {
        "time_limit": "timelimit",
        "rel_gap": "mip_tolerances_mipgap",
        "threads": "threads",
        "seed": "randomseed",
    },
}


#: HiGHS up to 1.15.1 (at least) can merge parallel columns of a mixed-integer program wrongly and
#: then call a worse solution optimal: 2 of 322 random small instances here. That one presolve
#: rule, number 13, stays off; tests/test_milp.py keeps an instance on which it fails.
#: SCIP moves a nonlinear objective into a constraint, whose tolerance then blurs the bound. The
#: others stop, or cut off, at absolute differences that a small objective falls under; for the
#: same reason HiGHS gets tighter tolerances.
_SAFE_DEFAULTS = {
    "highs": {
        "presolve_rule_off": 1 << 13,
        "mip_feasibility_tolerance": 1e-9,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    },
    "scip": {"numerics/feastol": 1e-9},
    "xpress": {"mipaddcutoff": 0.0, "mipabsstop": 0.0},
    "cplex": {"mip_tolerances_absmipgap": 0.0},
}


def _native(name: str, options: Options, neutral: tuple[str, ...]) -> dict:
    """Neutral options under the solver's own names, then the native ones as given."""
    names = _NATIVE_NAMES[name]
    chosen = dict(_SAFE_DEFAULTS.get(name, {}))
    for key in neutral:
        value = getattr(options, key)
        if value is None:
            continue
        if key not in names:
            raise InputError(f"{name} has no option for {key}")
        chosen[names[key]] = value
    return chosen | dict(options.native)


def _solve_new(name, model, options, problem_class):
    pyomo_name = _NEW_STYLE[name]
    if name == "gurobi" and problem_class not in ("LP", "MILP"):
        pyomo_name = "gurobi_direct_minlp"
    solver = NewSolverFactory(pyomo_name)
    results = solver.solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        tee=options.verbose,
        time_limit=options.time_limit,
        threads=options.threads,
        rel_gap=options.rel_gap,
        # The default absolute gap of some solvers is larger than a whole objective can be.
        abs_gap=0.0,
        solver_options=_native(name, options, ("seed",)),
    )
    has_solution = results.solution_status in (SolutionStatus.feasible, SolutionStatus.optimal)
    if has_solution:
        results.solution_loader.load_vars()
    condition = results.termination_condition
    status = _NEW_STATUS.get(condition, "error")
    if status == "error" and has_solution:
        status = "feasible"
    return status, has_solution, results.objective_bound, condition.name


_NEW_STATUS = {
    New.convergenceCriteriaSatisfied: "optimal",
    New.maxTimeLimit: "time_limit",
    New.iterationLimit: "time_limit",
    New.provenInfeasible: "infeasible",
    # The models built here are bounded: every variable lies in a box.
    New.infeasibleOrUnbounded: "infeasible",
    New.interrupted: "interrupted",
}


def _solve_legacy(name, model, options, problem_class):
    solver = pyo.SolverFactory(_LEGACY[name])
    neutral = ("time_limit", "threads", "seed")
    if problem_class != "LP":
        neutral += ("rel_gap",)
    settings = _native(name, options, neutral)
    if name == "glpk" and "tmlim" in settings:
        # glpsol takes whole seconds, and 0 would mean no limit at all.
        settings["tmlim"] = max(1, math.ceil(settings["tmlim"]))
    results = solver.solve(model, load_solutions=False, tee=options.verbose, options=settings)
    condition = results.solver.termination_condition
    has_solution = len(results.solution) > 0 and condition not in (Old.infeasible, Old.unbounded)
    if has_solution:
        model.solutions.load_from(results)
        has_solution = all(
            var.value is not None for var in model.component_data_objects(pyo.Var, active=True)
        )
    sense = next(model.component_data_objects(pyo.Objective, active=True)).sense
    problem = results.problem
    bound = problem.lower_bound if sense == pyo.minimize else problem.upper_bound
    status = _OLD_STATUS.get(condition, "error")
    if status == "error" and has_solution:
        status = "feasible"
    return status, has_solution, _number(bound), str(condition)


_OLD_STATUS = {
    Old.optimal: "optimal",
    Old.maxTimeLimit: "time_limit",
    Old.infeasible: "infeasible",
    Old.infeasibleOrUnbounded: "infeasible",
    Old.userInterrupt: "interrupted",
    Old.resourceInterrupt: "interrupted",
}


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


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
