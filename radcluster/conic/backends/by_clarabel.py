"""Clarabel, an interior-point method for all four kinds of cones and quadratic objectives."""

from __future__ import annotations

import importlib

import numpy as np
from scipy import sparse

from radcluster.conic.backends.memory import Memory
from radcluster.conic.program import ConeRows, ConicProgram, ConicSolution, ConicStatus
from radcluster.errors import InputError
from radcluster.solvers.options import Options

_STATUS = {
    "Solved": ConicStatus.OPTIMAL,
    "AlmostSolved": ConicStatus.ALMOST,
    "PrimalInfeasible": ConicStatus.INFEASIBLE,
    "DualInfeasible": ConicStatus.UNBOUNDED,
    # Whether its ray will do is checked later.
    "AlmostPrimalInfeasible": ConicStatus.INFEASIBLE,
    "AlmostDualInfeasible": ConicStatus.UNBOUNDED,
    "MaxTime": ConicStatus.TIME_LIMIT,
    "MaxIterations": ConicStatus.ITERATION_LIMIT,
}


def solve(
    program: ConicProgram, solver: str, options: Options, tolerance: float | None, memory: Memory
) -> ConicSolution:
    """Solve by Clarabel; a solver held from a program of the same structure is updated in place."""
    clarabel = importlib.import_module("clarabel")
    settings = _settings(clarabel, options, tolerance)
    n = len(program.c)
    quadratic = sparse.csc_matrix((n, n))
    if program.P is not None:
        quadratic = sparse.csc_matrix(sparse.triu(program.P, format="csc"))
    matrix = sparse.csc_matrix(program.A)
    quadratic.sort_indices()
    matrix.sort_indices()
    held = _updated(memory, program, quadratic, matrix, settings, options)
    if held is None:
        cones = [
            clarabel.ZeroConeT(program.n_zero),
            clarabel.NonnegativeConeT(program.n_nonnegative),
            *(_cone(clarabel, cone) for cone in program.cones),
        ]
        arrays = (quadratic, program.c, matrix, program.b)
        held = _made(clarabel, arrays, cones, settings, options)
        memory.held = (_structure(program, quadratic, matrix, options), held)
    answer = held.solve()
    message = str(answer.status)
    return ConicSolution(
        _STATUS.get(message, ConicStatus.ERROR),
        np.array(answer.x),
        np.array(answer.z),
        message,
        iterations=answer.iterations,
        seconds=answer.solve_time,
    )


def _settings(clarabel, options: Options, tolerance):
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
    return settings


def _cone(clarabel, cone: ConeRows):
    if cone.kind == "semidefinite":
        return clarabel.PSDTriangleConeT(cone.order)
    if cone.kind == "second-order":
        return clarabel.SecondOrderConeT(cone.size)
    if cone.kind == "exponential":
        return clarabel.ExponentialConeT()
    return clarabel.PowerConeT(cone.alpha)


def _made(clarabel, arrays, cones, settings, options):
    try:
        return clarabel.DefaultSolver(*arrays, cones, settings)
    except Exception as error:  # it has no type of its own for a setting's bad value
        if not options.native:
            raise
        raise InputError(f"clarabel refused its options: {error}") from None


def _structure(program, quadratic, matrix, options) -> tuple:
    """What has to be the same for an update in place."""
    cones = [(cone.kind, cone.size, cone.alpha) for cone in program.cones]
    patterns = (quadratic.indptr, quadratic.indices, matrix.indptr, matrix.indices)
    return (program.n_zero, program.n_nonnegative, cones, options.native, *patterns)


def _same(a: tuple, b: tuple) -> bool:
    return all(
        np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right
        for left, right in zip(a, b, strict=True)
    )


def _updated(memory: Memory, program, quadratic, matrix, settings, options):
    """The solver that is held, with the numbers of this program; None when it does not fit."""
    memory.reused = False
    if memory.held is None or not isinstance(memory.held, tuple):
        return None
    structure, held = memory.held
    fits = _same(structure, _structure(program, quadratic, matrix, options))
    if not fits or not held.is_data_update_allowed():
        return None
    held.update(q=program.c, b=program.b, A=matrix, P=quadratic, settings=settings)
    memory.reused = True
    return held
