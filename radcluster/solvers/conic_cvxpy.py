"""Conic programs to the solvers that CVXPY has interfaces to: CVXOPT, SDPA, COPT, MOSEK."""

from __future__ import annotations

import importlib
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
from pyomo.common.tee import capture_output
from scipy import sparse

from radcluster.errors import InputError
from radcluster.schur import triangle_indices
from radcluster.solvers.conic_program import ConicProgram, ConicSolution, triangle_scale
from radcluster.solvers.options import Options

_STATUS = {
    "optimal": "optimal",
    "optimal_inaccurate": "almost",
    "infeasible": "infeasible",
    "unbounded": "unbounded",
    "user_limit": "time_limit",
}

#: Each solver's own names for the neutral options, as CVXPY takes them.
_NAMES = {
    "cvxopt": {"tolerance": ("abstol", "reltol", "feastol")},
    "sdpa": {"tolerance": ("epsilonStar", "epsilonDash"), "threads": ("numThreads",)},
    "copt": {
        "tolerance": ("FeasTol", "DualTol", "RelGap"),
        "time_limit": ("TimeLimit",),
        "threads": ("Threads",),
    },
    "mosek": {
        "tolerance": (
            "MSK_DPAR_INTPNT_CO_TOL_PFEAS",
            "MSK_DPAR_INTPNT_CO_TOL_DFEAS",
            "MSK_DPAR_INTPNT_CO_TOL_REL_GAP",
        ),
        "time_limit": ("MSK_DPAR_OPTIMIZER_MAX_TIME",),
        "threads": ("MSK_IPAR_NUM_THREADS",),
    },
}


#: What COPT takes without a licence; CVXPY does not pass on that it says so.
_COPT_FREE = 2000


def _own(solver: str) -> tuple[type[Exception], ...]:
    """The errors of its own that a solver raises past CVXPY."""
    where = {"copt": ("coptpy", "CoptError"), "mosek": ("mosek", "Error")}
    if solver not in where:
        return ()
    module, name = where[solver]
    return (getattr(importlib.import_module(module), name),)


def solve_by_cvxpy(
    program: ConicProgram, solver: str, options: Options, tolerance: float | None
) -> ConicSolution:
    """Hand a compiled program to a solver that CVXPY has an interface to."""
    with _silence():
        # Importing it imports every solver that it knows and finds, with their remarks.
        cp = importlib.import_module("cvxpy")
    x = cp.Variable(len(program.c))
    matrix = program.A.tocsr()
    zero, linear = program.n_zero, program.n_linear
    constraints = []
    if zero:
        constraints.append(matrix[:zero] @ x == program.b[:zero])
    if linear > zero:
        constraints.append(matrix[zero:linear] @ x <= program.b[zero:linear])
    for block, part in zip(program.blocks, program.block_slices(), strict=True):
        triangle = program.b[part] - matrix[part] @ x
        if block.order == 1:  # some solvers know no such cone
            constraints.append(triangle >= 0)
            continue
        full = _unpacking(block.order) @ triangle
        constraints.append(cp.reshape(full, (block.order,) * 2, order="F") >> 0)
    problem = cp.Problem(cp.Minimize(program.c @ x), constraints)
    settings = _options(solver, options, tolerance)
    try:
        with nullcontext() if options.verbose else _silence():
            problem.solve(solver=solver.upper(), verbose=options.verbose, **settings)
    except (cp.SolverError, ArithmeticError, TypeError, ValueError, *_own(solver)) as error:
        message = str(error)
        if solver == "copt" and max(matrix.shape) > _COPT_FREE:
            message += f" Without a licence it takes {_COPT_FREE} variables and rows at most."
        return ConicSolution("error", None, None, message)
    status = _STATUS.get(problem.status, "error")
    if solver == "copt" and problem.status == "infeasible_inaccurate":
        # What CVXPY makes of any limit that COPT stops at.
        status = "time_limit"
    if x.value is None:
        return ConicSolution(status, None, None, problem.status)
    return ConicSolution(status, x.value, _dual(program, constraints), problem.status)


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
    chosen = {}
    for key, number in wanted.items():
        if number is None:
            continue
        if key not in _NAMES[solver]:
            raise InputError(f"{solver} has no option for {key}")
        chosen |= dict.fromkeys(_NAMES[solver][key], number)
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


def _dual(program, constraints) -> np.ndarray | None:
    parts = []
    for constraint in constraints:
        dual = constraint.dual_value
        if dual is None:
            return None
        if dual.ndim == 2:
            rows, columns = triangle_indices(len(dual))
            dual = ((dual + dual.T) / 2)[rows, columns] * triangle_scale(len(dual))
        parts.append(np.atleast_1d(dual))
    return np.concatenate(parts)


def _unpacking(order: int) -> sparse.csr_array:
    """Matrix from the scaled triangle to the whole matrix, stacked by columns."""
    rows, columns = triangle_indices(order)
    number = np.empty((order, order), dtype=int)
    number[rows, columns] = number[columns, rows] = np.arange(len(rows))
    entries = number.ravel(order="F")
    data = 1.0 / triangle_scale(order)[entries]
    return sparse.csr_array((data, (np.arange(order**2), entries)), shape=(order**2, len(rows)))
