"""Conic programs to the solvers: Clarabel and SCS directly, the others through CVXPY."""

from __future__ import annotations

import importlib
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

import numpy as np
from pyomo.common.tee import capture_output
from scipy import sparse

from radcluster.errors import InputError
from radcluster.schur import triangle_indices, unpack
from radcluster.solvers.conic_program import ConicProgram, triangle_scale
from radcluster.solvers.options import Options


@dataclass(frozen=True)
class ConicSolution:
    """What a conic solver returned.

    Attributes
    ----------
    status : str
        ``optimal``; ``almost`` (a point that misses the tolerance); ``infeasible`` or
        ``unbounded``; ``time_limit``, ``iteration_limit``; ``error``.
    x, z : array or None
        Primal point and dual multipliers; for ``infeasible``, z is the solver's dual ray, or None
        when it gives none.
    message : str
        The solver's own word.
    """

    status: str
    x: np.ndarray | None
    z: np.ndarray | None
    message: str


#: Objectives whose largest coefficient lies between these are handed over as they are.
_ORDINARY = (2.0**-4, 2.0**10)


def solve_program(
    program: ConicProgram,
    solver: str,
    options: Options = Options(),  # noqa: B008 - frozen
    tolerance: float | None = None,
) -> ConicSolution:
    """Hand a compiled program to the named solver.

    ``tolerance`` is on feasibility and gap, absolute and relative; None leaves the solver's own.
    """
    if not len(program.c):
        return _constant(program)
    backend = {"clarabel": _clarabel, "scs": _scs}.get(solver)
    scaled, unit = program.scaled()
    if _ORDINARY[0] <= unit <= _ORDINARY[1]:
        scaled, unit = program, 1.0
    if backend is None:
        solution = _cvxpy(scaled, solver, options, tolerance)
    else:
        solution = backend(scaled, options, tolerance)
    if solution.z is None or solution.status == "infeasible":
        return solution
    return replace(solution, z=solution.z * unit)


def _constant(program: ConicProgram) -> ConicSolution:
    """A program without variables is its constants: feasible or not, by inspection."""
    slack = program.b[: program.n_linear]
    blocks = [
        unpack(program.b[part] / triangle_scale(order))
        for part, order in zip(program.block_slices(), program.orders, strict=True)
    ]
    holds = (
        not slack[: program.n_zero].any()
        and (slack[program.n_zero :] >= 0.0).all()
        and all(np.linalg.eigvalsh(block)[0] >= 0.0 for block in blocks)
    )
    if not holds:
        return ConicSolution("infeasible", None, None, "its constants violate a constraint")
    return ConicSolution("optimal", np.empty(0), np.zeros_like(program.b), "no variables")


_CLARABEL_STATUS = {
    "Solved": "optimal",
    "AlmostSolved": "almost",
    "PrimalInfeasible": "infeasible",
    "DualInfeasible": "unbounded",
    "MaxTime": "time_limit",
    "MaxIterations": "iteration_limit",
}


def _clarabel(program, options, tolerance):
    clarabel = importlib.import_module("clarabel")
    settings = clarabel.DefaultSettings()
    settings.verbose = options.verbose
    if tolerance is not None:
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"):
            setattr(settings, name, tolerance)
    if options.time_limit is not None:
        settings.time_limit = options.time_limit
    if options.threads is not None:
        settings.max_threads = options.threads
    for name, number in options.native.items():
        if not hasattr(settings, name):
            raise InputError(f"clarabel has no option {name!r}")
        try:
            setattr(settings, name, number)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"clarabel refused {name} = {number!r}: {error}") from None
    cones = [
        clarabel.ZeroConeT(program.n_zero),
        clarabel.NonnegativeConeT(program.n_nonnegative),
        *(clarabel.PSDTriangleConeT(order) for order in program.orders),
    ]
    n = len(program.c)
    quadratic = sparse.csc_matrix((n, n))
    matrix = sparse.csc_matrix(program.A)
    try:
        solver = clarabel.DefaultSolver(quadratic, program.c, matrix, program.b, cones, settings)
    except Exception as error:  # of no type of its own, e.g. for a setting's value
        raise InputError(f"clarabel refused the program or its options: {error}") from None
    answer = solver.solve()
    message = str(answer.status)
    status = _CLARABEL_STATUS.get(message, "error")
    return ConicSolution(status, np.array(answer.x), np.array(answer.z), message)


_SCS_STATUS = {1: "optimal", 2: "almost", -2: "infeasible", -1: "unbounded"}


def _scs(program, options, tolerance):
    scs = importlib.import_module("scs")
    settings = {"verbose": options.verbose}
    if tolerance is not None:
        settings |= {"eps_abs": tolerance, "eps_rel": tolerance}
    if options.time_limit is not None:
        settings["time_limit_secs"] = options.time_limit
    order = _lower_triangle_order(program)
    data = {
        "A": sparse.csc_matrix(program.A.tocsr()[order]),
        "b": program.b[order],
        "c": program.c,
    }
    cone = {"z": program.n_zero, "l": program.n_nonnegative, "s": program.orders}
    try:
        answer = scs.SCS(data, cone, **settings | dict(options.native)).solve()
    except (TypeError, ValueError) as error:
        raise InputError(f"scs refused its options: {error}") from None
    info = answer["info"]
    status = _SCS_STATUS.get(info["status_val"], "error")
    if status == "almost" and "time_limit" in info["status"]:
        status = "time_limit"
    if status == "almost" and "max_iters" in info["status"]:
        status = "iteration_limit"
    z = np.empty_like(program.b)
    z[order] = answer["y"]
    return ConicSolution(status, answer["x"], z, info["status"])


def _lower_triangle_order(program) -> np.ndarray:
    """Rows in SCS's order: of each block the lower triangle, column by column."""
    parts = [np.arange(program.n_linear)]
    for block, part in zip(program.blocks, program.block_slices(), strict=True):
        rows, columns = triangle_indices(block.order)
        parts.append(part.start + np.lexsort((columns, rows)))
    return np.concatenate(parts)


_CVXPY_STATUS = {
    "optimal": "optimal",
    "optimal_inaccurate": "almost",
    "infeasible": "infeasible",
    "unbounded": "unbounded",
    "user_limit": "time_limit",
}

#: Each solver's own names for the neutral options, as CVXPY takes them.
_CVXPY_NAMES = {
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


def _cvxpy(program, solver, options, tolerance):
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
    settings = _cvxpy_options(solver, options, tolerance)
    try:
        with nullcontext() if options.verbose else _silence():
            problem.solve(solver=solver.upper(), verbose=options.verbose, **settings)
    except (cp.SolverError, ArithmeticError, TypeError, ValueError, *_own(solver)) as error:
        message = str(error)
        if solver == "copt" and max(matrix.shape) > _COPT_FREE:
            message += f" Without a licence it takes {_COPT_FREE} variables and rows at most."
        return ConicSolution("error", None, None, message)
    status = _CVXPY_STATUS.get(problem.status, "error")
    if solver == "copt" and problem.status == "infeasible_inaccurate":
        # What CVXPY makes of any limit that COPT stops at.
        status = "time_limit"
    if x.value is None:
        return ConicSolution(status, None, None, problem.status)
    return ConicSolution(status, x.value, _cvxpy_dual(program, constraints), problem.status)


@contextmanager
def _silence():
    """Keep licence notices and remarks on accuracy, which the status carries, off the terminal."""
    with warnings.catch_warnings(), capture_output(capture_fd=True):
        warnings.simplefilter("ignore")
        yield


def _cvxpy_options(solver, options, tolerance) -> dict:
    threads = options.threads
    if solver == "sdpa" and threads is None:
        # With several threads its answers vary from run to run, and some of them fail.
        threads = 1
    wanted = {"tolerance": tolerance, "time_limit": options.time_limit, "threads": threads}
    chosen = {}
    for key, number in wanted.items():
        if number is None:
            continue
        if key not in _CVXPY_NAMES[solver]:
            raise InputError(f"{solver} has no option for {key}")
        chosen |= dict.fromkeys(_CVXPY_NAMES[solver][key], number)
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


def _cvxpy_dual(program, constraints) -> np.ndarray | None:
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
