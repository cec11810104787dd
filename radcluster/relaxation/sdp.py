"""Step 1 of Algorithm 1: the relaxed SDP, solved, its bound made safe, its memberships read off.

Memberships for Step 2, by form:

- ``perspective``: pi_i^k. Clusters that nothing tells apart are one block in the model; their
  memberships are then told apart as below, by representatives within that block's Z.
- ``paper``: b_i^k, and -1 where i may not join k.
- ``peng_wei``: Z has no labels. A representative point is chosen for each cluster: its anchor where
  the labelling has one, else greedily a point that the representatives so far cover least. The
  score of i for cluster k is Z_ir / Z_rr, r the representative of k: in an integral solution, 1
  when i and r share a cluster and 0 when they do not.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable

import numpy as np
import pyomo.environ as pyo

from radcluster.conic.backends import solve_program
from radcluster.conic.backends.memory import Memory
from radcluster.conic.bounds import program_bound, proves_infeasible
from radcluster.conic.compiling.compiler import Compiler
from radcluster.conic.plugin.factorise import solve_factorised
from radcluster.conic.program import ConicProgram, ConicSolution
from radcluster.conic.schur import schur_blocks
from radcluster.errors import InputError, SolverFailure
from radcluster.graph.conflicts import AdmissiblePairs
from radcluster.models import sdp
from radcluster.models.parts import cuts as sdp_cuts
from radcluster.models.parts import groups
from radcluster.problem.instance import Instance
from radcluster.relaxation.memberships import Memberships
from radcluster.relaxation.peng_wei import SOLVER, solve_peng_wei
from radcluster.relaxation.peng_wei_bound import peng_wei_bound
from radcluster.relaxation.scores import spread
from radcluster.result import StepReport
from radcluster.solvers import registry
from radcluster.solvers.mip import title_of
from radcluster.solvers.options import Options

#: Beyond this order, the work of an interior-point step makes a first-order method the default.
_LARGE_ORDER = 60

#: A first-order method gets an accuracy that it reaches in reasonable time. The value of the paper
#: form is a small difference of large numbers (on the paper's instance, 1.01 is left of 5153), and
#: a tolerance is relative to the large ones.
_SCS_TOLERANCE = {"perspective": 1e-5, "peng_wei": 1e-5, "paper": 1e-8}


class InfeasibleRelaxation(InputError):
    """The relaxed program has no solution, by a dual ray that was checked, but the instance may.

    It happens to the paper form only, whose cardinalities are part of the question.
    """


def solve_sdp(
    instance: Instance,
    labelling: AdmissiblePairs | None = None,
    *,
    form: str = "perspective",
    solver: str | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    tolerance: float | None = None,
    cuts: Iterable[str] = (),
    rounds: int = 5,
    rank: int | None = None,
    **build_options,
) -> Memberships:
    """Solve the relaxed SDP of an instance.

    Parameters
    ----------
    labelling : AdmissiblePairs, optional
        Admissible pairs; all of them when omitted, and then the forms with labels say nothing
        about them.
    form : {"perspective", "paper", "peng_wei"}
    solver : str, optional
        ``clarabel``, ``scs``, ``cvxopt``, ``sdpa``, ``mosek``, ``copt`` or ``cyipopt``; for
        ``peng_wei`` also ``admm``, the built-in engine. By default Clarabel, and SCS when a block
        is large.
    tolerance : float, optional
        Of the solver. The lower bound is valid at any; it is tight at small ones.
    cuts : iterable of {"pair", "triangle", "clique"}
        Cut families to separate, for the perspective and peng_wei forms.
    rounds : int
        At most this many rounds of cuts.
    rank : int, optional
        Columns of the factors of ``cyipopt``; see :mod:`radcluster.conic.plugin.factorise`.
    **build_options
        Further options of :func:`radcluster.models.sdp.build`; ``reduce`` is True by default.

    Returns
    -------
    Memberships
        ``lower_bound`` is safe. It is 0 for the paper form, whose value bounds only partitions
        with its cardinalities: that one is ``report.bound``. ``certificate`` is set, and the scores
        are zero, when the relaxation and so the instance is proven infeasible.

    Raises
    ------
    InfeasibleRelaxation
        When the paper form is proven infeasible.
    SolverFailure
        When the solver ends without a usable point, or calls the program infeasible without a
        proof that holds.
    """
    start = time.perf_counter()
    if solver is not None:
        registry.require(solver, "SDP", f"sdp:{form}")
    if solver == SOLVER:
        if rank is not None or build_options:
            raise InputError(f"{SOLVER} takes the options tolerance and rounds only")
        return solve_peng_wei(
            instance,
            labelling,
            options=options,
            tolerance=tolerance,
            cuts=cuts,
            rounds=rounds,
        )
    model = sdp.build(instance, labelling, form=form, **{"reduce": True} | build_options)
    return solve_model(
        model,
        instance,
        labelling,
        solver=solver,
        options=options,
        tolerance=tolerance,
        cuts=cuts,
        rounds=rounds,
        rank=rank,
        start=start,
    )


def solve_model(
    model: pyo.ConcreteModel,
    instance: Instance,
    labelling: AdmissiblePairs | None = None,
    *,
    solver: str | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    tolerance: float | None = None,
    cuts: Iterable[str] = (),
    rounds: int = 5,
    rank: int | None = None,
    start: float | None = None,
) -> Memberships:
    """Solve a model that :func:`radcluster.models.sdp.build` built, as it was or edited since.

    Parameters and return value are those of :func:`solve_sdp`. Constraints that were added make
    the bound one on the partitions that satisfy them (:func:`radcluster.relaxation.admits.admits`);
    the bound is 0 when the objective is not the sum of squares any more.
    """
    start = time.perf_counter() if start is None else start
    form = getattr(model, "form", None)
    if form not in sdp.FORMS:
        raise InputError(f"{title_of(model)!r} is no model of radcluster.models.sdp.build")
    cuts = tuple(cuts)
    if cuts and form == "paper":
        raise InputError("cuts are for the forms perspective and peng_wei")
    if rank is not None and solver != "cyipopt":
        raise InputError("rank is an option of solver='cyipopt'")
    solver = solver or _default_solver(model)
    if solver == "scs":
        tolerance = tolerance or _SCS_TOLERANCE[form]

    # Rounds of cuts compile what is new only, and start from the last solution.
    compiler, memory = Compiler(model, inline=solver == "cyipopt"), Memory()

    def solve_once():
        return _solve(compiler, memory, solver, options, tolerance, rank, start)

    program, solution = solve_once()
    bound = _bound(model, program, solution)
    failure = None
    for _ in range(rounds if cuts else 0):
        done = solution.status == "infeasible" or _out_of_time(options, start)
        if done or not sdp_cuts.separate(model, cuts):
            break
        try:
            program, solution = solve_once()
        except SolverFailure as error:
            # The rounds before this one keep their bound, and the model their values.
            failure = f"a round of cuts failed: {error}"
            break
        bound = max(bound, _bound(model, program, solution))
    report = _report(form, solver, options, program, solution, bound, start, failure)
    if solution.status == "infeasible":
        return _infeasible(instance, form, solver, report)
    data = groups.merge(instance, labelling)
    scores = _SCORES[form](model, data, labelling, instance)
    if form == "paper":
        return Memberships(scores=scores, report=report)
    if not _bounds_the_squares(model, program, data):
        note = "its objective was edited: no bound on the sum of squares"
        return Memberships(scores=scores, report=dataclasses.replace(report, note=note))
    return Memberships(scores=scores, report=report, lower_bound=max(bound, 0.0))


def _bounds_the_squares(model, program: ConicProgram, data: groups.Groups) -> bool:
    """Whether the program minimises 1/2 <D, Z>, which an edit may have changed."""
    if program.sign < 0 or program.P is not None:
        return False
    copies = [len(ks) for ks in model.stands_for.values()] if model.Z.is_indexed() else [1]
    expected, offset = {}, 0.0
    for count, block in zip(copies, model.Z.values(), strict=True):
        for x, coefficient in data.half_inner_terms(block):
            if x.fixed:
                offset += count * coefficient * x.value
            else:
                expected[id(x)] = count * coefficient
    found = dict(zip(map(id, program.columns), program.c.tolist(), strict=False))
    unit = 1e-9 * max(map(abs, expected.values()), default=0.0)
    return abs(program.offset - offset) <= unit and all(
        abs(found.get(key, 0.0) - expected.get(key, 0.0)) <= unit for key in {*found, *expected}
    )


def _default_solver(model) -> str:
    large = max((block.order for block in schur_blocks(model)), default=0) > _LARGE_ORDER
    return "scs" if large else registry.default("SDP").name


def _solve(
    compiler: Compiler, memory: Memory, solver, options, tolerance, rank, start
) -> tuple[ConicProgram, ConicSolution]:
    """Solve once and load the point."""
    model = compiler.model
    program = compiler.compile()
    if options.time_limit is not None:
        remaining = options.time_limit - (time.perf_counter() - start)
        options = dataclasses.replace(options, time_limit=max(remaining, 0.01))
    if solver == "cyipopt":
        solution = solve_factorised(model, options, tolerance, rank=rank)
    else:
        solution = solve_program(program, solver, options, tolerance, memory)
    if solution.status in ("infeasible", "unknown", "error", "unbounded"):
        # Whatever a solver calls it, a proof of infeasibility is one, and none is none.
        if proves_infeasible(program, solution.z):
            return program, dataclasses.replace(solution, status="infeasible")
        if solution.status == "infeasible":
            reason = "gives no proof" if solution.z is None else "its proof does not hold"
            raise SolverFailure(f"{solver} calls {title_of(model)} infeasible, but {reason}")
    if solution.x is None or solution.status in ("unknown", "error", "unbounded"):
        raise SolverFailure(f"{solver} failed on {title_of(model)}: {solution.message}")
    program.load(solution.x)
    return program, solution


def _out_of_time(options, start) -> bool:
    return options.time_limit is not None and time.perf_counter() - start >= options.time_limit


def _bound(model, program: ConicProgram, solution: ConicSolution) -> float:
    if solution.status == "infeasible":
        return -np.inf
    # What Peng and Wei's Z satisfies says nothing about a block that an edit put in its place.
    if model.form == "peng_wei":
        return peng_wei_bound(program, solution.z, model.Z)
    return float(program_bound(program, solution.z, solution.x))


def _report(form, solver, options, program, solution, bound, start, failure) -> StepReport:
    note = failure or (None if solution.status == "optimal" else solution.message)
    lacking = registry.get(solver).lacking(options)
    note = "; ".join(filter(None, (note, lacking))) or None
    if form == "paper":
        note = "the bound holds for partitions with the given cardinalities" + (
            f"; {note}" if note else ""
        )
    solved = solution.status != "infeasible"
    return StepReport(
        step="step1",
        model=f"sdp:{form}",
        solver=solver,
        version=registry.get(solver).version,
        n_variables=len(program.c),
        n_constraints=program.n_linear,
        seconds=time.perf_counter() - start,
        objective=program.objective(solution.x) if solved else None,
        bound=bound if np.isfinite(bound) else None,
        status=solution.status,
        note=note,
    )


def _infeasible(instance, form, solver, report) -> Memberships:
    if form == "paper":
        raise InfeasibleRelaxation(
            "sdp:paper is infeasible: no relaxed partition has the given cardinalities within the "
            "admissible pairs (proven by a dual ray). Give others (sdp option cardinalities), or "
            "leave the labels as printed (anchored=False, --no-anchors), or take "
            "sdp:perspective, in which they are free."
        )
    scores = np.zeros((instance.n_points, instance.n_clusters))
    certificate = {"kind": "search", "model": f"sdp:{form}", "solver": solver}
    return Memberships(scores=scores, report=report, certificate=certificate)


def _perspective_scores(model, data, labelling, instance) -> np.ndarray:
    scores = np.zeros((len(data.names), instance.n_clusters))
    for k, copies in model.stands_for.items():
        members = model.members[k]
        groups = data.positions(members)
        if len(copies) == 1:
            scores[groups, k] = [pyo.value(model.pi[i, k]) for i in members]
        else:
            n = len(groups)
            scores[np.ix_(groups, copies)] = spread(model.Z[k].matrix()[:n, :n], len(copies))
    return scores[data.group_of]


def _paper_scores(model, data, labelling, instance) -> np.ndarray:
    scores = np.full((len(data.names), instance.n_clusters), -1.0)
    for k, copies in model.stands_for.items():
        for i in model.members[k]:
            scores[data.position[i], list(copies)] = pyo.value(model.b[i, k])
    return scores[data.group_of]


def _peng_wei_scores(model, data, labelling, instance) -> np.ndarray:
    anchors = () if labelling is None else labelling.anchors
    given = [int(data.group_of[point]) for point in anchors]
    scores = spread(model.Z.matrix(), instance.n_clusters, given)
    return np.where(data.allowed, scores, 0.0)[data.group_of]


_SCORES = {
    "perspective": _perspective_scores,
    "paper": _paper_scores,
    "peng_wei": _peng_wei_scores,
}
