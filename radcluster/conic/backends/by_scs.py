"""SCS, a first-order method for all four kinds of cones and quadratic objectives."""

from __future__ import annotations

import importlib

import numpy as np
from scipy import sparse

from radcluster.conic.backends.memory import Memory
from radcluster.conic.program import ConicProgram, ConicSolution, ConicStatus
from radcluster.conic.triangle import triangle_indices
from radcluster.errors import InputError
from radcluster.solvers.options import Options

_STATUS = {
    1: ConicStatus.OPTIMAL,
    2: ConicStatus.ALMOST,
    -2: ConicStatus.INFEASIBLE,
    -1: ConicStatus.UNBOUNDED,
}
_INTERRUPTED = -5


def solve(
    program: ConicProgram, solver: str, options: Options, tolerance: float | None, memory: Memory
) -> ConicSolution:
    """Solve by SCS, from the last solution if there is one.

    A solver held from a program that differs in b and c only is updated in place, and keeps its
    factorisation.
    """
    settings = {"verbose": options.verbose}
    if tolerance is not None:
        settings |= {"eps_abs": tolerance, "eps_rel": tolerance}
    if options.time_limit is not None:
        settings["time_limit_secs"] = options.time_limit
    settings |= dict(options.native)
    order = _lower_triangle_order(program)
    matrix = sparse.csc_matrix(program.A.tocsr()[order])
    held = _held(memory, program, matrix, order, settings)
    answer = held.solve(**_start(memory, program, order))
    info = answer["info"]
    if info["status_val"] == _INTERRUPTED:
        # SCS catches the signal itself.
        raise KeyboardInterrupt
    status = _STATUS.get(info["status_val"], ConicStatus.ERROR)
    if status == ConicStatus.ALMOST and "time_limit" in info["status"]:
        status = ConicStatus.TIME_LIMIT
    if status == ConicStatus.ALMOST and "max_iters" in info["status"]:
        status = ConicStatus.ITERATION_LIMIT
    z = np.empty_like(program.b)
    z[order] = answer["y"]
    seconds = (info["setup_time"] + info["solve_time"]) / 1000.0
    return ConicSolution(status, answer["x"], z, info["status"], info["iter"], seconds)


def _held(memory: Memory, program, matrix, order, settings):
    """A solver for the program: the one that is held, updated, or a new one."""
    memory.reused = False
    b, c = program.b[order], program.c
    if isinstance(memory.held, list):
        known_matrix, known_P, known_cones, known_settings, held = memory.held
        fits = (
            known_cones == _cones(program)
            and known_settings == settings
            and _equal(known_matrix, matrix)
            and _equal(known_P, program.P)
        )
        if fits:
            held.update(b=b, c=c)
            memory.reused = True
            return held
    data = {"A": matrix, "b": b, "c": c}
    if program.P is not None:
        data["P"] = sparse.csc_matrix(sparse.triu(program.P, format="csc"))
    scs = importlib.import_module("scs")
    try:
        held = scs.SCS(data, _cones(program), **settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"scs refused its options: {error}") from None
    memory.held = [matrix, program.P, _cones(program), settings, held]
    return held


def _cones(program: ConicProgram) -> dict:
    kinds = [cone.kind for cone in program.cones]
    return {
        "z": program.n_zero,
        "l": program.n_nonnegative,
        "q": [cone.size for cone in program.cones if cone.kind == "second-order"],
        "s": program.orders,
        "ep": kinds.count("exponential"),
        "p": [cone.alpha for cone in program.cones if cone.kind == "power"],
    }


def _equal(a, b) -> bool:
    """Whether two sparse matrices hold the same numbers in the same places."""
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data")
    )


def _start(memory: Memory, program: ConicProgram, order: np.ndarray) -> dict:
    """The last solution in the rows of this program."""
    found = memory.start(program)
    if found is None:
        return {"warm_start": False}
    x, z = found
    slack = program.b - program.A @ x
    return {"warm_start": True, "x": x, "y": z[order], "s": slack[order]}


def _lower_triangle_order(program: ConicProgram) -> np.ndarray:
    """Rows in SCS's order: of each matrix the lower triangle, column by column."""
    parts = [np.arange(program.n_linear)]
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        rows = np.arange(part.start, part.stop)
        if cone.kind == "semidefinite":
            p, q = triangle_indices(cone.order)
            rows = part.start + np.lexsort((q, p))
        parts.append(rows)
    return np.concatenate(parts)
