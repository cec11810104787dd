"""Step 1 by the built-in engine: ``solver="admm"`` for the form ``peng_wei``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from threadpoolctl import threadpool_limits

from radcluster.clock import Clock
from radcluster.errors import InputError
from radcluster.graph.conflicts import AdmissiblePairs, analyse
from radcluster.problem.instance import Instance
from radcluster.relaxation.engine.admm import CHECK, Engine
from radcluster.relaxation.engine.program import Program, build_program
from radcluster.relaxation.memberships import Memberships
from radcluster.relaxation.scores import spread
from radcluster.result import StepReport
from radcluster.solvers import registry
from radcluster.solvers.options import Options

SOLVER = "admm"
#: Residuals at which the method ends, unless another tolerance is asked for.
TOLERANCE = 1e-5
#: Violations of cuts that count, as a part of Z_ii.
VIOLATION = 1e-4
#: Iterations after which a round ends, whatever the residuals.
MOST = 20_000


def solve_peng_wei(
    instance: Instance,
    labelling: AdmissiblePairs | None = None,
    *,
    options: Options = Options(),  # noqa: B008 - frozen
    tolerance: float | None = None,
    cuts: Iterable[str] = (),
    rounds: int = 5,
) -> Memberships:
    """The Peng-Wei relaxation by the engine; parameters as for the other solvers."""
    if options.native:
        raise InputError(f"{SOLVER} has no option {min(options.native)!r}")
    clock = Clock(options.time_limit)
    program = build_program(instance)
    if program is None or program.n_groups < instance.n_clusters:
        certificate = analyse(instance).certificate
        report = StepReport("step1", "sdp:peng_wei", SOLVER, status="infeasible")
        scores = np.zeros((instance.n_points, instance.n_clusters))
        return Memberships(scores, report, certificate=certificate)
    with threadpool_limits(1, user_api="blas"):
        z, bound, status, note = _solved(
            program, clock, tolerance or TOLERANCE, tuple(cuts), rounds
        )
    n = program.n_groups
    report = StepReport(
        step="step1",
        model="sdp:peng_wei",
        solver=SOLVER,
        version=registry.get(SOLVER).version,
        n_variables=n * (n + 1) // 2,
        seconds=clock.seconds,
        objective=float((program.half * z).sum()),
        bound=bound,
        status=status,
        note=note,
    )
    anchors = () if labelling is None else labelling.anchors
    given = [int(program.group_of[point]) for point in anchors]
    scores = spread(z, instance.n_clusters, given)[program.group_of]
    if labelling is not None:
        scores = np.where(labelling.allowed, scores, 0.0)
    return Memberships(scores, report, lower_bound=max(bound, 0.0))


def _solved(program: Program, clock: Clock, tolerance: float, kinds, rounds: int):
    """Z, a safe bound, how it ended, and a note."""
    if program.n_clusters == 1 or program.n_groups == program.n_clusters:
        w = program.weights
        z = np.full((len(w), len(w)), 1 / w.sum()) if program.n_clusters == 1 else np.diag(1 / w)
        return z, float((program.half * z).sum()) * (1 - 4 * program.error), "optimal", None
    engine = Engine(program, kinds=kinds)
    status = "optimal"
    for _ in range((rounds if kinds else 0) + 1):
        end = engine.iterations + MOST
        while engine.residual > tolerance and engine.iterations < end and not clock.expired:
            engine.iterate(CHECK, clock)
        engine.evaluate()
        status = "optimal" if engine.residual <= tolerance else "almost"
        if clock.expired:
            status = "time_limit"
            break
        if not kinds or not engine.refresh_cuts(VIOLATION):
            break
        engine.residual = np.inf
    note = f"{engine.iterations} iterations" + (f", {len(engine.mu)} cuts" if kinds else "")
    return engine.z(), engine.bound, status, note
