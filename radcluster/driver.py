"""From an instance to a certified answer: choose the route, run it, verify, report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from radcluster.config import Settings
from radcluster.conflicts import Analysis, analyse
from radcluster.errors import SolverFailure
from radcluster.instance import Instance
from radcluster.models import milp
from radcluster.pipeline import Pipeline
from radcluster.result import Result, StepReport, relative_gap
from radcluster.steps import (
    Clock,
    choose_solver,
    load_callable,
    normalised,
    partition_of,
    safe_bound,
    solve_step,
)
from radcluster.verify import cluster_centers, objective_of, sq_diameters, violations

#: Seconds for the largest clique, and for the remedies that an infeasible answer names.
CLIQUE_SECONDS = 2.0
REMEDY_SECONDS = 5.0


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
        ``step1``, ``step2``, ``step4``, ``repeat``.

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
    clock = Clock(settings.time_limit)
    result = _ROUTES[settings.method](instance, settings, clock, progress)
    if result.status == "infeasible":
        from radcluster.certificates import with_remedies

        budget = REMEDY_SECONDS if clock.left is None else min(REMEDY_SECONDS, clock.left)
        certificate = with_remedies(result.certificate, instance, time_limit=budget)
        result = replace(result, certificate=certificate)
    return replace(result, method=settings.method, seconds=clock.seconds)


def _solve_exact(instance, settings, clock, progress) -> Result:
    return _solve_milp(instance, settings, clock, progress)


def _solve_milp(instance, settings, clock, progress) -> Result:
    """Eq. 8 over the admissible pairs, by one mixed-integer solver."""
    form = "verbatim" if settings.method == "minlp" else "linear"
    solver = choose_solver(settings, milp.PROBLEM_CLASS[form], f"milp:{form}")
    analysis = _analyse(instance, settings, clock)
    if analysis.certificate:
        return _infeasible(instance, settings, analysis.certificate)
    unit_instance, scale = normalised(instance)
    if settings.formulation is None:
        model = milp.build(
            unit_instance, analysis.labelling, form=form, constraints=settings.constraints
        )
    else:
        model = load_callable(settings.formulation, "formulation")(
            unit_instance, analysis.labelling
        )
    report, outcome = solve_step(
        settings.method, model, settings, solver, milp.PROBLEM_CLASS[form], clock, scale
    )
    if outcome.status == "infeasible":
        certificate = {"kind": "search", "model": report.model, "solver": solver}
        return _infeasible(instance, settings, certificate, steps=(report,))
    return certified(
        instance,
        settings,
        labels=partition_of(model, instance, solver) if outcome.has_solution else None,
        lower_bound=safe_bound(outcome) * scale,
        stopped=outcome.status,
        solver=solver,
        steps=(report,),
    )


def _solve_pipeline(instance, settings, clock, progress) -> Result:
    """The paper's Algorithm 1."""
    analysis = _analyse(instance, settings, clock)
    if analysis.certificate:
        return _infeasible(instance, settings, analysis.certificate)
    unit_instance, scale = normalised(instance)
    pipeline = Pipeline(unit_instance, analysis.labelling, settings, clock, scale)
    try:
        pipeline.run()
    except KeyboardInterrupt:
        pipeline.status = "interrupted"
    steps = tuple(pipeline.steps)
    if pipeline.status == "infeasible":
        return _infeasible(instance, settings, pipeline.certificate, steps=steps)
    return certified(
        instance,
        settings,
        labels=pipeline.labels,
        lower_bound=pipeline.lower_bound * scale,
        stopped=pipeline.status,
        solver=", ".join(dict.fromkeys(step.solver for step in steps if step.solver)),
        steps=steps,
    )


_ROUTES = {
    "exact": _solve_exact,
    "milp": _solve_milp,
    "minlp": _solve_milp,
    "pipeline": _solve_pipeline,
}


def _analyse(instance: Instance, settings: Settings, clock: Clock) -> Analysis:
    budget = CLIQUE_SECONDS if clock.left is None else min(CLIQUE_SECONDS, clock.left)
    return analyse(instance, anchored=settings.anchored, clique_budget=budget)


def _infeasible(instance, settings, certificate, steps=()) -> Result:
    return Result(
        status="infeasible",
        n_clusters=instance.n_clusters,
        radius=instance.radius,
        method=settings.method,
        lower_bound=math.inf,
        certificate=certificate,
        steps=steps,
    )


def certified(
    instance: Instance,
    settings: Settings,
    *,
    labels: np.ndarray | None,
    lower_bound: float,
    stopped: str,
    solver: str | None,
    steps: tuple[StepReport, ...],
) -> Result:
    """A result whose status is derived from the partition and the bound, not from a solver.

    ``stopped`` says why the search ended: ``time_limit`` and ``interrupted`` are kept unless the
    gap is closed all the same.
    """
    common = {
        "n_clusters": instance.n_clusters,
        "radius": instance.radius,
        "method": settings.method,
        "solver": solver,
        "steps": steps,
    }
    if labels is None:
        if stopped not in ("time_limit", "interrupted"):
            raise SolverFailure(f"{solver} ended without a partition ({stopped})")
        return Result(status=stopped, lower_bound=lower_bound, **common)
    if wrong := violations(instance, labels):
        raise SolverFailure(f"the partition found is invalid: {wrong[0]}")
    objective = objective_of(instance, labels)
    if objective - lower_bound <= _rounding_error(instance):
        lower_bound = objective
    if relative_gap(objective, lower_bound) <= settings.rel_gap:
        stopped = "optimal"
    elif stopped == "optimal":
        stopped = "feasible"
    points = instance.points
    return Result(
        status=stopped,
        labels=labels,
        objective=objective,
        lower_bound=min(lower_bound, objective),
        max_radius=float(np.sqrt(sq_diameters(instance, labels).max()) / 2),
        centers=None if points is None else cluster_centers(points, labels, instance.n_clusters),
        **common,
    )


def _rounding_error(instance: Instance) -> float:
    """What floating point alone may add to an objective: matters only when it is about zero."""
    if instance.points is None:
        return 1e-15 * float(instance.sq_distances.max())
    return 1e-15 * float(np.square(instance.points - instance.points.mean(axis=0)).sum())
