"""Conic programs to the solvers: Clarabel and SCS directly, the others through CVXPY."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from radcluster.conic.backends import by_clarabel, by_scs, child, through_cvxpy
from radcluster.conic.backends.check import checked, cone_violation
from radcluster.conic.backends.memory import Memory
from radcluster.conic.compiling.objective import with_epigraph, without_epigraph
from radcluster.conic.program import ConicProgram, ConicSolution, ConicStatus
from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.options import Options

#: Objectives whose largest coefficient lies between these are handed over as they are.
_ORDINARY = (2.0**-4, 2.0**10)


def solve_program(
    program: ConicProgram,
    solver: str,
    options: Options = Options(),  # noqa: B008 - frozen
    tolerance: float | None = None,
    memory: Memory | None = None,
) -> ConicSolution:
    """Hand a compiled program to the named solver, and check what it says.

    Parameters
    ----------
    tolerance : float, optional
        On feasibility and gap, absolute and relative; None leaves the solver's own.
    memory : Memory, optional
        Of earlier solves of programs like this one: the solver is updated in place or started
        from the last solution.

    Raises
    ------
    InputError
        When the solver cannot take one of the cones; the message names those that can.
    """
    require_cones(program, solver)
    if not len(program.c):
        return _constant(program)
    handed, unit = program.scaled()
    if _ORDINARY[0] <= unit <= _ORDINARY[1]:
        handed, unit = program, 1.0
    curved = program.P is not None and not registry.get(solver).conic.quadratic
    if curved:
        handed = with_epigraph(handed)
    memory = Memory() if memory is None or curved else memory
    memory.unit = unit
    solution = _backend(solver, options)(handed, solver, options, tolerance, memory)
    solution = _with_ray(handed, solution, solver, options)
    # Checked as the solver had it: an epigraph's point is less accurate than its value.
    accuracy = tolerance or registry.get(solver).conic.tolerance
    solution = checked(handed, solution, solver, accuracy)
    if curved:
        solution = replace(
            solution,
            x=without_epigraph(handed, solution.x, "x"),
            z=without_epigraph(handed, solution.z, "z"),
        )
    if solution.z is not None and solution.status != ConicStatus.INFEASIBLE:
        solution = replace(solution, z=solution.z * unit)
    memory.remember(program, solution)
    return solution


def require_cones(program: ConicProgram, solver: str) -> None:
    """Refuse a program with a cone that the solver lacks, and name the solvers that have it."""
    taken = registry.get(solver).conic.cones
    lacking = [kind for kind in sorted(program.kinds) if kind not in taken]
    if lacking:
        able = solvers_for(program.kinds)
        source = next((cone.source for cone in program.cones if cone.kind == lacking[0]), None)
        where = "" if source is None else f" ({source.name})"
        raise InputError(
            f"{solver} has no {lacking[0]} cone{where}. "
            f"Installed solvers that can solve this model: {', '.join(able) or 'none'}."
        )


def solvers_for(kinds) -> list[str]:
    """Names of the installed solvers that take these kinds of cones."""
    return [info.name for info in registry.usable("SDP") if set(kinds) <= set(info.conic.cones)]


def _backend(solver: str, options: Options):
    direct = {"clarabel": by_clarabel.solve, "scs": by_scs.solve}
    if solver in direct:
        return direct[solver]
    conic = registry.get(solver).conic
    # A solver without a time limit of its own is ended from outside.
    endless = options.time_limit is not None and "time_limit" not in conic.option_names
    return child.solve if conic.crashes or endless else through_cvxpy.solve


def _with_ray(program, solution: ConicSolution, solver: str, options) -> ConicSolution:
    """A solver's word of infeasible or unbounded, with the ray that Clarabel finds if it has none.

    CVXPY passes on no rays.
    """
    claims = {ConicStatus.INFEASIBLE: "z", ConicStatus.UNBOUNDED: "x"}
    if solver in ("clarabel", "scs") or solution.status not in claims:
        return solution
    quiet = Options(time_limit=options.time_limit)
    witness = by_clarabel.solve(program, "clarabel", quiet, None, Memory())
    if witness.status != solution.status:
        return replace(solution, x=None, z=None)
    message = f"{solution.message}; the ray is Clarabel's"
    return replace(solution, x=witness.x, z=witness.z, message=message)


def _constant(program: ConicProgram) -> ConicSolution:
    """A program without variables is its constants: feasible or not, by inspection."""
    slack = program.b[: program.n_linear]
    holds = not slack[: program.n_zero].any() and (slack[program.n_zero :] >= 0.0).all()
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        rows = program.b[part]
        # Up to the rounding of eigenvalues and norms.
        error = 8 * max(cone.order, 4) * np.finfo(float).eps * np.linalg.norm(rows)
        holds = holds and cone_violation(cone, rows) <= error
    if not holds:
        message = "its constants violate a constraint"
        return ConicSolution(ConicStatus.INFEASIBLE, None, None, message)
    message = "no variables"
    return ConicSolution(ConicStatus.OPTIMAL, np.empty(0), np.zeros_like(program.b), message)
