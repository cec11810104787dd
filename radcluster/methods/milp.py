"""``method="milp"`` and ``method="minlp"``: Eq. 8 by one mixed-integer solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from radcluster.clock import Clock
from radcluster.errors import InputError
from radcluster.graph.conflicts import AdmissiblePairs
from radcluster.methods import custom
from radcluster.methods.refute import improved
from radcluster.methods.rescale import closed
from radcluster.methods.step import (
    TAKE_INSTEAD,
    analyse_within,
    choose_solver,
    partition_of,
    refuse_unused_native,
    safe_bound,
    search_certificate,
    solve_step,
)
from radcluster.models import milp
from radcluster.models.parts import assignment
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.problem.units import normalised
from radcluster.result import Answer, StepReport
from radcluster.settings import Settings
from radcluster.status import Status

#: Pyomo's time for one product z_ijk and its rows, and the part of it that goes into handing the
#: model to a solver.
SECONDS_PER_PRODUCT = 2e-4
HAND_OVER = 0.8
#: Weights that differ by a larger factor are beyond the tolerances of solvers: at two thousand
#: CPLEX called a wrong partition optimal, at a million SCIP and Gurobi did, and others called
#: feasible instances infeasible. The model then gets no weights, and its partition has no bound.
MOST_SPREAD = 1e3
TOO_SPREAD = f"solved without weights, which differ by more than {MOST_SPREAD:g}: no bound"
#: More products than this take several gigabytes.
MAX_PRODUCTS = 2_000_000


def run(
    instance: Instance, settings: Settings, clock: Clock, progress: Callable | None = None
) -> Answer:
    """Eq. 8 linearised (``milp``) or as printed (``minlp``), built in or the user's own."""
    answer = _solve(instance, settings, clock)
    if settings.formulation is not None or not _weights_within_reach(instance):
        return answer
    return closed(
        instance, answer, settings.rel_gap, lambda narrow: _solve(narrow, settings, clock)
    )


def _solve(instance: Instance, settings: Settings, clock: Clock) -> Answer:
    """Eq. 8 over the admissible pairs."""
    form = "verbatim" if settings.method == "minlp" else "linear"
    problem_class = milp.PROBLEM_CLASS[form]
    solver = choose_solver(settings, problem_class, f"milp:{form}")
    refuse_unused_native(settings, {solver})
    if settings.formulation is None:
        _refuse_products(instance, _fewest_products(instance), "at least ")
    analysis = analyse_within(instance, settings, clock)
    if settings.formulation is not None:
        return custom.solve(instance, analysis, settings, solver, problem_class, clock)
    if analysis.certificate:
        return Answer.infeasible(analysis.certificate)
    labelling = analysis.labelling
    seconds = _seconds_to_build(instance, labelling)
    if clock.left is not None and seconds > clock.left:
        note = f"no time to build the model: it would take about {seconds:.0f} s"
        report = StepReport(settings.method, f"milp:{form}", solver, note=note)
        return Answer(None, 0.0, Status.TIME_LIMIT, (report,), solver=solver)
    within_reach = _weights_within_reach(instance)
    modelled = instance if within_reach else instance.replace(sample_weight=None)
    unit_instance, scale = normalised(modelled)
    model = milp.build(unit_instance, labelling, form=form, constraints=settings.constraints)
    if settings.initial is not None:
        assignment.set_labels(model, assignment.in_order(instance, labelling, settings.initial))
    report, outcome = solve_step(
        settings.method, model, settings, solver, problem_class, clock, scale,
        start=settings.initial is not None, reserve=HAND_OVER * seconds,
    )  # fmt: skip
    if outcome.excluded and modelled.is_weighted:
        return _without_weights(instance, settings, clock, report)
    if outcome.excluded:
        return Answer.infeasible(search_certificate(report), (report,))
    labels = partition_of(model, instance, solver) if outcome.has_solution else None
    lower_bound = safe_bound(outcome, 1 / unit_instance.weights.min()) * scale
    if not within_reach:
        lower_bound = 0.0
        report = replace(report, bound=None, objective=None, note=TOO_SPREAD)
    if labels is not None:
        labels = improved(instance, labels)
        if objective_of(instance, labels) < lower_bound:
            lower_bound = 0.0
            report = replace(report, note=f"{solver}'s bound is wrong: a partition costs less")
    return Answer(labels, lower_bound, outcome.status, (report,), solver=report.solver)


def _weights_within_reach(instance: Instance) -> bool:
    return bool(instance.weights.max() <= MOST_SPREAD * instance.weights.min())


def _without_weights(
    instance: Instance, settings: Settings, clock: Clock, report: StepReport
) -> Answer:
    """The answer where a solver calls the instance with its weights infeasible.

    Whether there is a partition does not depend on weights, and solvers err less without them.
    """
    answer = _solve(instance.replace(sample_weight=None), settings, clock)
    if answer.stopped != Status.INFEASIBLE:
        report = replace(report, note=f"{report.solver} errs: there is a partition")
        answer = replace(answer, lower_bound=0.0)
    if answer.labels is not None:
        answer = replace(answer, labels=improved(instance, answer.labels))
    return replace(answer, steps=(report, *answer.steps))


def _seconds_to_build(instance: Instance, labelling: AdmissiblePairs) -> float:
    """Seconds to build the model and hand it to a solver; refuses what does not fit in memory."""
    products = milp.n_products(instance, labelling)
    _refuse_products(instance, products)
    return products * SECONDS_PER_PRODUCT


def _fewest_products(instance: Instance) -> int:
    """No partition has fewer pairs inside its clusters, and each such pair has its product.

    It takes no matrix of distances, so that a large instance is refused at once.
    """
    size, larger = divmod(instance.n_points, instance.n_clusters)
    return instance.n_clusters * size * (size - 1) // 2 + larger * size


def _refuse_products(instance: Instance, products: int, least: str = "") -> None:
    if products > MAX_PRODUCTS:
        raise InputError(
            f"the MILP of {instance.n_points} points and {instance.n_clusters} clusters has "
            f"{least}{products:,} products of memberships, of at most {MAX_PRODUCTS:,}. "
            + TAKE_INSTEAD
        )
