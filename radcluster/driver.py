"""From an instance to a certified answer: choose the route, run it, verify, report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo

from radcluster.certificates import with_remedies
from radcluster.certify import certified, infeasible
from radcluster.colgen import kernels
from radcluster.colgen.solve import solve_colgen
from radcluster.config import Settings
from radcluster.conflicts import Analysis, analyse
from radcluster.errors import InputError, SolverFailure
from radcluster.heuristics import heuristic_partition
from radcluster.instance import Instance
from radcluster.models import milp
from radcluster.pipeline import Pipeline
from radcluster.refute import improved
from radcluster.result import Result
from radcluster.steps import (
    Clock,
    build_own,
    choose_solver,
    normalised,
    partition_of,
    refuse_unbounded,
    refuse_unused_native,
    safe_bound,
    search_certificate,
    solve_step,
)
from radcluster.verify import objective_of

#: Seconds for the largest clique, and for the remedies that an infeasible answer names.
CLIQUE_SECONDS = 2.0
REMEDY_SECONDS = 5.0

#: Before its kernels are compiled, ``exact`` takes the MILP instead of column generation up to this
#: many points and admissible pairs a point.
MILP_POINTS = 200
MILP_PAIRS = 1.5


def solve(
    instance: Instance,
    method: str = "exact",
    solver=None,
    *,
    progress: Callable | None = None,
    **settings,
) -> Result:
    """Solve radius-constrained k-means.

    Parameters
    ----------
    instance : Instance
    method : {"exact", "milp", "minlp", "pipeline", "colgen", "heuristic"}
        ``exact`` proves optimality by the route that suits the instance; ``milp`` is Eq. 8
        linearised, ``minlp`` Eq. 8 as printed, ``pipeline`` the paper's Algorithm 1, ``colgen``
        branch and price, ``heuristic`` a good partition without a bound.
    solver : str, list of str, or dict of step to str, optional
        Solvers by name.
    progress : callable, optional
        Called with each progress report of a long run.
    **settings
        The keys of :class:`radcluster.config.Settings`: ``time_limit``, ``rel_gap``, ``threads``,
        ``seed``, ``verbose``, ``native``, ``anchored``, ``constraints``, ``formulation``,
        ``cuts``, ``sdp``, ``step1``, ``step2``, ``step4``, ``repeat``.

    Returns
    -------
    Result
        Its partition, if any, has passed the independent check; its objective is recomputed.

    Examples
    --------
    >>> result = solve(Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1))
    >>> result.status, result.objective, result.labels.tolist()
    ('optimal', 1.0, [0, 0, 1, 1])
    """
    config = Settings.from_mapping({"method": method, "solver": solver} | settings)
    return run(instance, config, progress)


def run(instance: Instance, settings: Settings, progress: Callable | None = None) -> Result:
    """:func:`solve` with ready-made settings."""
    if not isinstance(instance, Instance):
        raise InputError(f"solve needs an Instance(points, n_clusters, ...), got {instance!r:.60}")
    clock = Clock(settings.time_limit)
    result = _ROUTES[settings.method](instance, settings, clock, progress)
    # What a model of one's own forbids, other numbers for K and r may not cure.
    if result.status == "infeasible" and "own" not in result.certificate:
        budget = REMEDY_SECONDS if clock.left is None else min(REMEDY_SECONDS, clock.left)
        certificate = with_remedies(result.certificate, instance, time_limit=budget)
        result = replace(result, certificate=certificate)
    return replace(result, method=settings.method, seconds=clock.seconds)


def _solve_exact(instance, settings, clock, progress) -> Result:
    """The route that suits the instance: the anchored MILP, or column generation.

    - Column generation needs one radius for all clusters; with several it is the MILP.
    - A solver named by the user, other than column generation's own HiGHS, is asked to do the
      whole work, as a MILP; and so it is with options for a solver, or a choice of constraints.
    - Else column generation wins: six times as fast on the paper's instance, by orders of
      magnitude as the clusters grow. But its kernels take some twenty seconds to compile on their
      first use on a machine; until then, where propagation leaves most points one cluster only,
      so that the MILP has nearly nothing to decide, the MILP is the quicker way to the optimum.
    """
    if not instance.uniform_radius or settings.formulation is not None:
        return _solve_milp(instance, settings, clock, progress)
    if settings.solver not in (None, "highs", ["highs"]):
        return _solve_milp(instance, settings, clock, progress)
    if settings.native or settings.constraints:
        return _solve_milp(instance, settings, clock, progress)
    if instance.n_points <= MILP_POINTS and not kernels.compiled():
        labelling = _analyse(instance, settings, clock).labelling
        if labelling is None or labelling.n_pairs <= MILP_PAIRS * instance.n_points:
            return _solve_milp(instance, settings, clock, progress)
    return _solve_colgen(instance, settings, clock, progress)


def _solve_colgen(instance, settings, clock, progress) -> Result:
    """Set partitioning by column generation and branch and price."""
    solver = choose_solver(settings, "LP", "colgen")
    if not kernels.compiled():
        # Once on a machine, and no part of the run: neither its limit nor its report counts it.
        solve_colgen(Instance([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 3.0]], 2, 1.0))
        clock.restart()

    def solve_once(problem):
        return solve_colgen(
            problem,
            solver=solver,
            time_limit=clock.left,
            rel_gap=settings.rel_gap,
            seed=settings.seed or 0,
            progress=progress,
        )

    return _closed(instance, settings, solve_once(instance), solve_once)


def _solve_heuristic(instance, settings, clock, progress) -> Result:
    """A good partition, without a bound."""
    if settings.solver is not None:
        raise InputError("method 'heuristic' calls no solver")
    if not instance.uniform_radius:
        raise InputError("method 'heuristic' needs one radius for all clusters: use 'pipeline'")
    labels = heuristic_partition(instance, seed=settings.seed or 0)
    if labels is None:
        # Nothing found is no proof; the conflict graph may have one.
        analysis = _analyse(instance, settings, clock)
        if analysis.certificate:
            return infeasible(instance, settings.method, analysis.certificate)
        raise SolverFailure("the heuristic found no partition, which proves nothing: try 'exact'")
    return certified(
        instance,
        settings.method,
        rel_gap=settings.rel_gap,
        labels=labels,
        lower_bound=0.0,
        stopped="feasible",
        solver=None,
        steps=(),
    )


def _solve_milp(instance, settings, clock, progress) -> Result:
    """Eq. 8 by one mixed-integer solver."""
    result = _solve_milp_once(instance, settings, clock)
    if settings.formulation is not None:
        return result
    return _closed(
        instance, settings, result, lambda narrow: _solve_milp_once(narrow, settings, clock)
    )


def _closed(instance, settings, result, solve_again) -> Result:
    """The result, solved again at the scale of its objective where tolerances left a gap.

    A cluster that holds i and j costs at least d_ij / 2 (d_ij / N for distances that no points
    have). So once a partition of cost U is known, pairs with d_ij > 2 U are in conflict in every
    better one: a smaller radius says so, and the largest distance left, on which the solvers'
    tolerances depend, is of the size of the objective.
    """
    if result.status != "feasible":
        return result
    part = 2.0 if instance.points is not None else float(instance.n_points)
    enough = np.sqrt(part * result.objective) / 2 * (1 + 1e-9)
    if enough >= instance.radii.max():
        return result
    again = solve_again(instance.replace(radius=np.minimum(instance.radii, enough)))
    if not again.solved:
        return result
    return certified(
        instance,
        settings.method,
        rel_gap=settings.rel_gap,
        labels=min(result, again, key=lambda found: found.objective).labels,
        lower_bound=max(result.lower_bound, again.lower_bound),
        stopped=again.status,
        solver=result.solver,
        steps=result.steps + again.steps,
    )


def _solve_milp_once(instance, settings, clock) -> Result:
    """Eq. 8 over the admissible pairs."""
    form = "verbatim" if settings.method == "minlp" else "linear"
    solver = choose_solver(settings, milp.PROBLEM_CLASS[form], f"milp:{form}")
    refuse_unused_native(settings, {solver})
    analysis = _analyse(instance, settings, clock)
    if analysis.certificate:
        return infeasible(instance, settings.method, analysis.certificate)
    if settings.formulation is not None:
        return _solve_own(instance, analysis.labelling, settings, solver, clock)
    unit_instance, scale = normalised(instance)
    model = milp.build(
        unit_instance, analysis.labelling, form=form, constraints=settings.constraints
    )
    report, outcome = solve_step(
        settings.method, model, settings, solver, milp.PROBLEM_CLASS[form], clock, scale
    )
    if outcome.status == "infeasible":
        return infeasible(instance, settings.method, search_certificate(report), steps=(report,))
    labels = partition_of(model, instance, solver) if outcome.has_solution else None
    lower_bound = safe_bound(outcome) * scale
    if labels is not None:
        labels = improved(instance, labels)
        if objective_of(instance, labels) < lower_bound:
            lower_bound = 0.0
            report = replace(report, note=f"{solver}'s bound is wrong: a partition costs less")
    return _certified(instance, settings, labels, lower_bound, outcome.status, report)


def _solve_own(instance, labelling, settings, solver, clock) -> Result:
    """A formulation of the user's own, built in the user's own units.

    Its bound holds for the partitions that it admits, and only if what it minimises is the sum of
    squares: the objective of :func:`radcluster.models.milp.build`, with the value that the
    partition found has. That objective is then solved in normalised units.
    """
    form = "verbatim" if settings.method == "minlp" else "linear"
    model = build_own(settings.formulation, "formulation", instance, labelling)
    squares = _minimises_squares(model, milp.build(instance, labelling, form=form))
    scale = normalised(instance)[1] if squares else 1.0
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    stated = objective.expr
    objective.set_value(stated / scale)
    problem_class = milp.PROBLEM_CLASS[form]
    report, outcome = solve_step(
        settings.method, model, settings, solver, problem_class, clock, scale
    )
    objective.set_value(stated)
    if outcome.status == "infeasible":
        refuse_unbounded(outcome, settings.formulation)
        certificate = search_certificate(report, settings.formulation)
        return infeasible(instance, settings.method, certificate, steps=(report,))
    labels = partition_of(model, instance, solver) if outcome.has_solution else None
    if labels is not None:
        cost = objective_of(instance, labels) / scale
        squares = squares and math.isclose(outcome.objective, cost, rel_tol=1e-5, abs_tol=1e-6)
    if not squares:
        note = "its objective is not that of models/milp.py: no bound on the sum of squares"
        report = replace(report, note=note)
    lower_bound = safe_bound(outcome) * scale if squares else 0.0
    return _certified(instance, settings, labels, lower_bound, outcome.status, report)


def _minimises_squares(model, reference) -> bool:
    """Whether a model minimises what the reference minimises, term by term."""
    ours, theirs = (
        next(m.component_data_objects(pyo.Objective, active=True)) for m in (model, reference)
    )
    return ours.sense == pyo.minimize and str(ours.expr) == str(theirs.expr)


def _certified(instance, settings, labels, lower_bound, stopped, report) -> Result:
    """What one mixed-integer program gave."""
    return certified(
        instance,
        settings.method,
        rel_gap=settings.rel_gap,
        labels=labels,
        lower_bound=lower_bound,
        stopped=stopped,
        solver=report.solver,
        steps=(report,),
    )


def _solve_pipeline(instance, settings, clock, progress) -> Result:
    """The paper's Algorithm 1."""
    analysis = _analyse(instance, settings, clock)
    if analysis.certificate:
        return infeasible(instance, settings.method, analysis.certificate)
    pipeline = Pipeline(instance, analysis.labelling, settings, clock)
    pipeline.run()
    steps = tuple(pipeline.steps)
    if pipeline.status == "infeasible":
        return infeasible(instance, settings.method, pipeline.certificate, steps=steps)
    return certified(
        instance,
        settings.method,
        rel_gap=settings.rel_gap,
        labels=pipeline.labels,
        lower_bound=pipeline.lower_bound * pipeline.scale,
        stopped=pipeline.status,
        solver=", ".join(dict.fromkeys(step.solver for step in steps if step.solver)),
        steps=steps,
    )


_ROUTES = {
    "exact": _solve_exact,
    "colgen": _solve_colgen,
    "heuristic": _solve_heuristic,
    "milp": _solve_milp,
    "minlp": _solve_milp,
    "pipeline": _solve_pipeline,
}


def _analyse(instance: Instance, settings: Settings, clock: Clock) -> Analysis:
    budget = CLIQUE_SECONDS if clock.left is None else min(CLIQUE_SECONDS, clock.left)
    return analyse(instance, anchored=settings.anchored, clique_budget=budget)
