"""Conic programs to the solvers that CVXPY has interfaces to: CVXOPT, SDPA, COPT, MOSEK."""

from __future__ import annotations

import importlib
import time
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
from pyomo.common.tee import capture_output
from scipy import sparse

from radcluster.conic.program import ConicProgram, ConicSolution, ConicStatus
from radcluster.conic.triangle import triangle_indices, triangle_scale
from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.options import Options

_STATUS = {
    "optimal": ConicStatus.OPTIMAL,
    "optimal_inaccurate": ConicStatus.ALMOST,
    "infeasible": ConicStatus.INFEASIBLE,
    "unbounded": ConicStatus.UNBOUNDED,
    "user_limit": ConicStatus.TIME_LIMIT,
}

#: What COPT takes without a licence; CVXPY does not pass on that it says so.
_COPT_FREE = 2000


def _own(solver: str) -> tuple[type[Exception], ...]:
    """The errors of its own that a solver raises past CVXPY."""
    named = [name.split(":") for name in registry.get(solver).errors]
    return tuple(getattr(importlib.import_module(module), name) for module, name in named)


def solve(
    program: ConicProgram, solver: str, options: Options, tolerance: float | None, memory=None
) -> ConicSolution:
    """Hand a compiled program to a solver that CVXPY has an interface to."""
    with _silence():
        # Importing it imports every solver that it knows and finds, with their remarks.
        cp = importlib.import_module("cvxpy")
    x = cp.Variable(len(program.c))
    constraints = _constraints(cp, program, x)
    problem = cp.Problem(cp.Minimize(program.c @ x), constraints)
    settings = _options(solver, options, tolerance)
    start = time.perf_counter()
    try:
        with nullcontext() if options.verbose else _silence():
            problem.solve(solver=solver.upper(), verbose=options.verbose, **settings)
    except (cp.SolverError, ArithmeticError, TypeError, ValueError, *_own(solver)) as error:
        message = str(error)
        if solver == "copt" and max(program.A.shape) > _COPT_FREE:
            message += f" Without a licence it takes {_COPT_FREE} variables and rows at most."
        return ConicSolution(ConicStatus.ERROR, None, None, message)
    status = _STATUS.get(problem.status, ConicStatus.ERROR)
    if solver == "copt" and problem.status == "infeasible_inaccurate":
        # What CVXPY makes of any limit that COPT stops at.
        status = ConicStatus.TIME_LIMIT
    stats = problem.solver_stats
    return ConicSolution(
        status,
        x.value,
        None if x.value is None else _dual(constraints),
        problem.status,
        iterations=getattr(stats, "num_iters", None),
        seconds=getattr(stats, "solve_time", None) or time.perf_counter() - start,
    )


def _constraints(cp, program: ConicProgram, x) -> list:
    """The rows of the program, in their order."""
    matrix = program.A.tocsr()
    zero, linear = program.n_zero, program.n_linear
    constraints = []
    if zero:
        constraints.append(matrix[:zero] @ x == program.b[:zero])
    if linear > zero:
        constraints.append(matrix[zero:linear] @ x <= program.b[zero:linear])
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        slack = program.b[part] - matrix[part] @ x
        if cone.size == 1:  # some solvers know no such cone
            constraints.append(slack >= 0)
        elif cone.kind == "semidefinite":
            full = cp.reshape(_unpacking(cone.order) @ slack, (cone.order,) * 2, order="F")
            constraints.append(full >> 0)
        elif cone.kind == "second-order":
            constraints.append(cp.SOC(slack[0], slack[1:]))
        elif cone.kind == "exponential":
            constraints.append(cp.ExpCone(slack[0], slack[1], slack[2]))
        else:
            constraints.append(cp.PowCone3D(slack[0], slack[1], slack[2], cone.alpha))
    return constraints


@contextmanager
def _silence():
    """Keep licence notices and remarks on accuracy, which the status carries, off the terminal."""
    with warnings.catch_warnings(), capture_output(capture_fd=True):
        warnings.simplefilter("ignore")
        yield


def _options(solver, options, tolerance) -> dict:
    threads = options.threads
    if solver == "sdpa" and threads is None:
        # With several threads its answers vary from run to run, and some of them fail.
        threads = 1
    wanted = {"tolerance": tolerance, "time_limit": options.time_limit, "threads": threads}
    chosen: dict = {}
    names = registry.get(solver).conic.option_names
    for key, number in wanted.items():
        # What the solver lacks, the report of the step says.
        if number is None or key not in names:
            continue
        chosen |= dict.fromkeys(names[key], number)
    if unknown := set(options.native) - _known_options(solver):
        raise InputError(f"{solver} has no option {min(unknown)!r}")
    chosen |= options.native
    return {"mosek_params": chosen} if solver == "mosek" else chosen


def _known_options(solver) -> set[str]:
    """Names of a solver's own options, of its own listing; some solvers ignore all others."""
    if solver == "cvxopt":
        tolerances = {"abstol", "reltol", "feastol"}
        return tolerances | {"maxiters", "refinement", "kktsolver", "kktreg", "use_correction"}
    if solver == "sdpa":
        return set(importlib.import_module("sdpap").param())
    if solver == "copt":
        return set(dir(importlib.import_module("coptpy").COPT.Param))
    mosek = importlib.import_module("mosek")
    kinds = {"D": mosek.dparam, "I": mosek.iparam, "S": mosek.sparam}
    return {f"MSK_{k}PAR_{name.upper()}" for k, names in kinds.items() for name in dir(names)}


def _dual(constraints) -> np.ndarray | None:
    parts = []
    for constraint in constraints:
        dual = constraint.dual_value
        if dual is None or (isinstance(dual, list) and any(part is None for part in dual)):
            return None
        if isinstance(dual, list):  # the pieces of a second-order, exponential or power cone
            dual = np.concatenate([np.ravel(part) for part in dual])
        elif np.ndim(dual) == 2 and constraint.__class__.__name__ == "PSD":
            rows, columns = triangle_indices(len(dual))
            dual = ((dual + dual.T) / 2)[rows, columns] * triangle_scale(len(dual))
        parts.append(np.ravel(dual))
    return np.concatenate(parts)


def _unpacking(order: int) -> sparse.csr_array:
    """Matrix from the scaled triangle to the whole matrix, stacked by columns."""
    rows, columns = triangle_indices(order)
    number = np.empty((order, order), dtype=int)
    number[rows, columns] = number[columns, rows] = np.arange(len(rows))
    entries = number.ravel(order="F")
    data = 1.0 / triangle_scale(order)[entries]
    return sparse.csr_array((data, (np.arange(order**2), entries)), shape=(order**2, len(rows)))
