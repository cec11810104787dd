"""Conic programs to the solvers: Clarabel and SCS directly, the others through CVXPY."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
from scipy import sparse

from radcluster.errors import InputError
from radcluster.schur import triangle_indices, unpack
from radcluster.solvers.conic_cvxpy import solve_by_cvxpy
from radcluster.solvers.conic_program import ConicProgram, ConicSolution, triangle_scale
from radcluster.solvers.options import Options

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
        solution = solve_by_cvxpy(scaled, solver, options, tolerance)
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
        and all(_is_psd(block) for block in blocks)
    )
    if not holds:
        return ConicSolution("infeasible", None, None, "its constants violate a constraint")
    return ConicSolution("optimal", np.empty(0), np.zeros_like(program.b), "no variables")


def _is_psd(matrix: np.ndarray) -> bool:
    """Up to the rounding of its eigenvalues."""
    error = 8 * len(matrix) * np.finfo(float).eps * np.linalg.norm(matrix)
    return bool(np.linalg.eigvalsh(matrix)[0] >= -error)


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
    except Exception as error:  # it has no type of its own for a setting's bad value
        if not options.native:
            raise
        raise InputError(f"clarabel refused its options: {error}") from None
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
