"""A formulation of the user's own in the place of Eq. 8.

The model is built in the user's own units, and nobody changes what it states. If it minimises the
sum of squares, as built by :func:`radcluster.models.milp.build`, it is solved in normalised units
under a second, scaled objective. If it minimises something else, the value of that objective, its
bound and its gap are the result's, and the sum of squares stands beside them. It is solved in units
of its own size, a second time where the solver's tolerances left a gap. Either way a bound holds
for the partitions that the model admits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
from pyomo.common.modeling import unique_component_name
from pyomo.repn import generate_standard_repn

from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.graph.conflicts import AdmissiblePairs, Analysis
from radcluster.methods.step import (
    bound_margin,
    build_own,
    name_of,
    refuse_unbounded,
    safe_bound,
    search_certificate,
    solve_step,
)
from radcluster.models.parts import assignment
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.problem.units import normalised
from radcluster.proof.verify import violations
from radcluster.result import Answer, relative_gap
from radcluster.settings import Settings
from radcluster.solvers.mip import Outcome
from radcluster.status import Status


def solve(
    instance: Instance,
    analysis: Analysis,
    settings: Settings,
    solver: str,
    problem_class: str,
    clock: Clock,
) -> Answer:
    """Build the user's model and solve it."""
    labelling = analysis.labelling or AdmissiblePairs.full(instance)
    model = build_own(settings.formulation, "formulation", instance, labelling)
    soft = getattr(model, "soft_radius", False)
    if analysis.certificate and not soft:
        return Answer.infeasible(analysis.certificate)
    if settings.initial is not None:
        start = np.asarray(settings.initial)
        if not soft:
            start = assignment.in_order(instance, labelling, start)
        assignment.set_labels(model, start)
    squares = minimises_squares(model, instance)

    def ask(unit: float):
        with scaled_objective(model, unit, settings.formulation):
            return solve_step(
                settings.method, model, settings, solver, problem_class, clock, unit,
                start=settings.initial is not None,
            )  # fmt: skip

    scale = normalised(instance)[1] if squares else _typical_coefficient(model)
    report, outcome = ask(scale)
    if outcome.excluded:
        refuse_unbounded(outcome, settings.formulation)
        certificate = search_certificate(report, settings.formulation)
        return Answer.infeasible(certificate, (report,))
    labels = _labels(model, instance, soft, solver) if outcome.has_solution else None
    common = {"steps": (report,), "solver": report.solver, "soft_radius": soft}
    if squares and _agrees(instance, labels, outcome, scale):
        return Answer(labels, safe_bound(outcome) * scale, outcome.status, **common)
    value = outcome.objective * scale if outcome.has_solution else math.inf
    bound = _custom_bound(outcome) * scale
    answer = Answer(labels, bound, outcome.status, objective=value, **common)
    unit = _power_of_two(value)
    if not _left_by_tolerances(answer, settings.rel_gap) or unit >= scale or clock.expired:
        return answer
    report, outcome = ask(unit)
    answer = replace(
        answer,
        lower_bound=max(bound, _custom_bound(outcome) * unit),
        steps=(*answer.steps, report),
    )
    if not outcome.has_solution or outcome.objective * unit >= value:
        return answer
    labels = _labels(model, instance, soft, solver)
    return replace(answer, labels=labels, objective=outcome.objective * unit)


def minimises_squares(model: pyo.ConcreteModel, instance: Instance) -> bool:
    """Whether a model minimises what :func:`radcluster.models.milp.build` stated for the instance.

    >>> from radcluster.models import milp
    >>> line = Instance([[0.0], [1.0], [5.0]], n_clusters=2)
    >>> model = milp.build(line)
    >>> minimises_squares(model, line)
    True
    >>> model.within_cluster_scatter.expr = 2 * model.within_cluster_scatter.expr
    >>> minimises_squares(model, line)
    False
    """
    stated, of = getattr(model, "squares", (None, None))
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    return (
        objective.sense == pyo.minimize
        and objective.expr is stated
        and np.array_equal(of.weights, instance.weights)
        and np.array_equal(of.sq_distances, instance.sq_distances)
    )


@contextmanager
def scaled_objective(model: pyo.ConcreteModel, scale: float, formulation) -> Iterator[None]:
    """For the time of a solve, minimise the objective divided by ``scale``.

    The user's own objective is switched off meanwhile, never changed, and switched on again
    whatever happens.
    """
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    if objective.sense != pyo.minimize:
        raise InputError(
            f"formulation {name_of(formulation)} maximises: minimise the negative instead"
        )
    if scale == 1.0:
        yield
        return
    objective.deactivate()
    name = unique_component_name(model, "scaled_objective")
    model.add_component(name, pyo.Objective(expr=objective.expr / scale))
    try:
        yield
    finally:
        model.del_component(name)
        objective.activate()


def _typical_coefficient(model: pyo.ConcreteModel) -> float:
    """About the size of the objective's coefficients, as a power of two: the unit to solve it in.

    Solvers have absolute tolerances, so an objective in small units would be solved wrongly. The
    median is not moved by a few large penalties.
    """
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    terms = generate_standard_repn(objective.expr, compute_values=True, quadratic=False)
    sizes = np.abs(np.array(terms.linear_coefs, dtype=float))
    sizes = sizes[sizes > 0]
    return _power_of_two(float(np.median(sizes))) if len(sizes) else 1.0


def _power_of_two(size: float) -> float:
    return 2.0 ** round(math.log2(abs(size))) if size and math.isfinite(size) else 1.0


def _left_by_tolerances(answer: Answer, rel_gap: float) -> bool:
    """Whether the solver has proven its solution optimal, but its tolerances left a gap."""
    proven = answer.labels is not None and answer.stopped == Status.OPTIMAL
    return proven and relative_gap(answer.objective, answer.lower_bound) > rel_gap


def _labels(model, instance: Instance, soft: bool, solver: str) -> np.ndarray:
    labels = assignment.labels_of(model)
    kept = instance.replace(radius=math.inf) if soft else instance
    if wrong := violations(kept, labels):
        raise SolverFailure(f"{solver} returned an invalid partition: {wrong[0]}")
    return labels


def _agrees(instance: Instance, labels, outcome: Outcome, scale: float) -> bool:
    """Whether the model's value at its solution is what the partition costs."""
    if labels is None:
        return True
    cost = objective_of(instance, labels) / scale
    return math.isclose(outcome.objective, cost, rel_tol=1e-5, abs_tol=1e-6)


def _custom_bound(outcome: Outcome) -> float:
    """The solver's bound on an objective of any sign, less what tolerances may have added."""
    if math.isnan(outcome.bound):
        return -math.inf
    return outcome.bound - bound_margin(outcome)
