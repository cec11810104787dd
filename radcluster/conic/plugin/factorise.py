"""Schur blocks as a nonlinear program: P = L L' in place of P psd (Burer and Monteiro 2003).

The transformation ``radcluster.factorise`` gives each block of order n a lower-trapezoidal factor L
with ``rank`` columns (n when omitted: then nothing is lost) and the equations P = L L'. What
results is smooth, but not convex: a solver finds a stationary point. It is the optimum of the
semidefinite program when the multipliers S of these equations form a positive semidefinite matrix:
stationarity in L says S L = 0, hence <S, P> = 0, so that S completes a dual solution.
:func:`solve_factorised` solves with Ipopt and checks that; the safe bound of
:mod:`radcluster.conic.bounds` from the same multipliers holds either way.
"""

from __future__ import annotations

import math
import time

import numpy as np
import pyomo.environ as pyo
from pyomo.common.config import ConfigDict, ConfigValue, PositiveInt
from pyomo.core.base.transformation import Transformation, TransformationFactory
from pyomo.opt import TerminationCondition

from radcluster.conic.backends.solve import require_cones, solve_program
from radcluster.conic.bounds import dual_violation, primal_violation
from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.program import ConicProgram, ConicSolution
from radcluster.conic.psd import MatrixConeData
from radcluster.conic.schur import schur_blocks
from radcluster.conic.triangle import triangle_indices, triangle_scale, unpack
from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.options import Options

#: Infeasibility, primal and dual, and gap up to which a stationary point counts as verified, the
#: objective in units of its largest coefficient.
VERIFIED = 1e-5

#: Ipopt's last barrier parameter, in units of the largest objective coefficient; tried in turn
#: until a point is verified. A little of the barrier is kept because the multipliers of a point
#: inside the cone are unique, while at its boundary Ipopt's become arbitrary.
_MU_TARGETS = (1e-8, 1e-7, 1e-9)
_SETTINGS = {"mu_strategy": "adaptive", "max_iter": 500, "sb": "yes"}


class Factorise(Transformation):
    """``TransformationFactory("radcluster.factorise").apply_to(model, rank=3)``.

    Pyomo knows it by that name once radcluster is imported.
    """

    CONFIG = ConfigDict("radcluster.factorise")
    CONFIG.declare(
        "rank",
        ConfigValue(
            default=None,
            domain=PositiveInt,
            description="Columns of each factor L; the order of the block when omitted.",
        ),
    )

    def _apply_to(self, model, **kwds):
        config = self.CONFIG(kwds)
        blocks = schur_blocks(model)
        if not blocks:
            raise InputError(
                f"{model.name} has no positive semidefinite blocks, or they are factorised already"
            )
        for block in blocks:
            _factorise(block, min(config.rank or block.order, block.order))


def _factorise(block: MatrixConeData, rank: int) -> None:
    n = block.order
    start = _start(block, rank)
    cells = [(p, c) for p in range(n) for c in range(min(p + 1, rank))]
    block.L = pyo.Var(cells, initialize={cell: float(start[cell]) for cell in cells})
    for c in range(rank):
        # No loss: a column may change its sign. An interior-point solver's barrier on the
        # diagonal is then log det P, which keeps P inside the cone until the end.
        block.L[c, c].setlb(0.0)
    rows, columns = triangle_indices(n)

    def product(b, p, q):
        # Row p of L, with p <= q, ends at the diagonal or at the last column.
        inner = pyo.quicksum(b.L[p, c] * b.L[q, c] for c in range(min(p + 1, rank)))
        return inner - b.triangle[q * (q + 1) // 2 + p] == 0

    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    block.cone.deactivate()
    block.factor = pyo.Constraint(pairs, rule=product, doc="P = L L'")


def _start(block: MatrixConeData, rank: int) -> np.ndarray:
    """Factor of the current values when they are set; else a fixed, unsymmetric matrix."""
    values = [pyo.value(entry, exception=False) for entry in block.triangle]
    n = block.order
    if None in values:
        # L = 0 is stationary, and so may be a row of zeros: a start has to avoid both.
        start = np.eye(n, rank)
        start[rank:] = np.random.default_rng(0).uniform(0.0, 1.0, (n - rank, rank))
        return start * _start_scale(block)
    eigenvalues, vectors = np.linalg.eigh(unpack(values))
    root = vectors[:, ::-1] * np.sqrt(np.maximum(eigenvalues[::-1], 1e-4))
    # Rotate the leading columns into lower-trapezoidal form.
    factor = np.linalg.qr(root[:, :rank].T)[1].T
    return factor * np.where(np.diag(factor) < 0, -1.0, 1.0)


def _start_scale(block: MatrixConeData) -> float:
    """Such that the start has the trace that the block declares, or 1."""
    if block.trace is None:
        return 1.0 / np.sqrt(block.order)
    weights, limit = block.trace
    labels = [*block.labels, None] if block.bordered else block.labels
    return float(np.sqrt(limit / sum(weights[label] for label in labels)))


def solve_factorised(
    model: pyo.Block,
    options: Options = Options(),  # noqa: B008 - frozen
    tolerance: float | None = None,
    *,
    rank: int | None = None,
) -> ConicSolution:
    """Solve a model with Schur blocks by Ipopt on its factorised form.

    The model itself is not changed. The values it holds are the starting point. Ipopt looks at a
    time limit between its iterations, and for a block of order 100 at full rank one iteration takes
    half a minute.

    Returns
    -------
    ConicSolution
        In the order of ``compile_model(model)``. ``optimal`` when the stationary point was
        verified to solve the semidefinite program, ``almost`` when that could not be shown;
        ``message`` says which.
    """
    registry.require("cyipopt", "NLP", model.local_name)
    start = time.perf_counter()
    program = compile_model(model, inline=True)
    require_cones(program, "cyipopt")
    if program.P is not None:
        raise InputError("the factorised form takes linear objectives only")
    if not len(program.c):
        return solve_program(program, "cyipopt")
    best, until = None, math.inf
    for mu_target in _MU_TARGETS:
        settings = _SETTINGS | {"mu_target": mu_target, "tol": tolerance or 1e-8}
        if options.time_limit is not None:
            left = options.time_limit - (time.perf_counter() - start)
            if best is not None and left <= 0.0:
                break
            until = time.perf_counter() + left
        settings |= dict(options.native)
        error, solution = _attempt(model, settings, options.verbose, rank, until)
        if best is None or error < best[0]:
            best = error, solution
        if solution.status == "optimal":
            break
    return best[1]


def _attempt(model, settings, verbose, rank, until) -> tuple[float, ConicSolution]:
    """One run of Ipopt: how far its point is from a solution of the program, and the point."""

    # Ipopt's own limit counts the seconds of the processor: too many with several threads, too few
    # on a busy machine. Pyomo counts the parameters, so each has to be written.
    def goes_on(nlp, mode, iteration, objective, primal, dual, mu, step, reg, a_du, a_pr, trials):
        return time.perf_counter() < until

    clone = model.clone()
    program, unit = compile_model(clone, inline=True).scaled()
    _prepare(clone, program, rank, unit)
    ipopt = pyo.SolverFactory("cyipopt")
    ipopt.config.options.set_value(settings)
    ipopt.config.intermediate_callback = goes_on
    try:
        results = ipopt.solve(clone, tee=verbose)
    except TypeError as error:
        raise InputError(f"cyipopt refused its options {settings}: {error}") from None
    x = np.array([var.value for var in program.columns])
    z = _multipliers(program, clone)
    violation = max(dual_violation(program, z), primal_violation(program, x))
    value = float(program.c @ x + program.offset)
    # Neither a large constant nor large terms that cancel may hide a gap.
    unit_of_gap = 1.0 + min(abs(value), abs(float(program.c @ x)))
    gap = abs(value - (program.offset - program.b @ z)) / unit_of_gap
    error = max(violation, gap)
    said = results.solver.message
    said = said.decode() if isinstance(said, bytes) else said
    accuracy = f"infeasibility {violation:.1e}, gap {gap:.1e}; Ipopt: {said}"
    if error <= VERIFIED and results.solver.termination_condition in _FEASIBLE:
        message = f"stationary point verified to be the optimum: {accuracy}"
        return error, ConicSolution("optimal", x, unit * z, message)
    status = _UNVERIFIED.get(results.solver.termination_condition, "error")
    message = f"stationary point, not verified to be the optimum: {accuracy}"
    return error, ConicSolution(status, x, unit * z, message)


_FEASIBLE = (TerminationCondition.optimal, TerminationCondition.feasible)

#: What an unverified point is, by how Ipopt ended.
_UNVERIFIED = {
    TerminationCondition.optimal: "almost",
    TerminationCondition.feasible: "almost",
    TerminationCondition.maxTimeLimit: "time_limit",
    TerminationCondition.userInterrupt: "time_limit",
    TerminationCondition.maxIterations: "iteration_limit",
}


def _prepare(model, program: ConicProgram, rank, unit: float) -> None:
    """Minimise in this unit, ask for multipliers, factorise, and give every variable a value."""
    for objective in model.component_data_objects(pyo.Objective, active=True):
        objective.set_value(program.sign / unit * objective.expr)
        objective.sense = pyo.minimize
    for name in ("dual", "ipopt_zL_out", "ipopt_zU_out"):
        if model.component(name) is not None:
            model.del_component(name)
        model.add_component(name, pyo.Suffix(direction=pyo.Suffix.IMPORT))
    TransformationFactory("radcluster.factorise").apply_to(model, rank=rank)
    for block in program.blocks:
        factor = np.zeros((block.order, block.order))
        for cell, var in block.L.items():
            factor[cell] = var.value
        rows, columns = triangle_indices(block.order)
        for entry, number in zip(block.triangle, (factor @ factor.T)[rows, columns], strict=True):
            if getattr(entry, "value", 0.0) is None:
                entry.set_value(number, skip_validation=True)
    for var in program.columns:
        if var.value is None:
            var.set_value(0.0, skip_validation=True)


def _multipliers(program: ConicProgram, model) -> np.ndarray:
    """Ipopt's multipliers (of f + lambda'g) as those of the rows of the program."""
    z = np.zeros_like(program.b)
    for r, (source, direction) in enumerate(program.rows):
        if not isinstance(source, int):
            z[r] = (direction or 1) * model.dual.get(source, 0.0)
            continue
        var = program.columns[source]
        lower, upper = model.ipopt_zL_out.get(var, 0.0), model.ipopt_zU_out.get(var, 0.0)
        z[r] = {-1: abs(lower), 1: abs(upper), 0: abs(upper) - abs(lower)}[direction]
    for block, part in zip(program.blocks, program.block_slices(), strict=True):
        multiplier = np.array([model.dual[row] for row in block.factor.values()])
        z[part] = multiplier / triangle_scale(block.order)
    # A range is two rows and has one multiplier, which belongs to the side that it pushes from.
    inequalities = slice(program.n_zero, program.n_linear)
    z[inequalities] = np.maximum(z[inequalities], 0.0)
    return z
