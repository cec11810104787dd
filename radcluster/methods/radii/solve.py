"""Clusters of several radii: a verified partition, column generation from it, then the MILP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from radcluster.clock import Clock
from radcluster.methods import milp
from radcluster.methods.heuristic.search import heuristic_partition
from radcluster.methods.radii.classes import Bounded, column_generation
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.result import Answer, StepReport, relative_gap
from radcluster.settings import Settings
from radcluster.solvers import registry
from radcluster.status import Status


def run(
    instance: Instance, settings: Settings, clock: Clock, progress: Callable | None = None
) -> Answer:
    """Column generation from a verified partition; the MILP closes a gap that it leaves."""
    start = _start(instance, settings, clock)
    found = None
    if start is not None:
        found = column_generation(instance, start, clock, settings.rel_gap)
        start = start if found is None else found.labels
    steps: tuple[StepReport, ...] = ()
    bound = 0.0
    if found is not None:
        steps, bound = (_report(instance, found, clock),), found.lower_bound
        cost = objective_of(instance, start)
        if found.stopped != Status.FEASIBLE or relative_gap(cost, bound) <= settings.rel_gap:
            return Answer(start, bound, found.stopped, steps, solver="highs")
    rest = milp.run(instance, replace(settings, initial=start), clock, progress)
    if start is None or rest.stopped == Status.INFEASIBLE:
        return rest
    labels = [start] if rest.labels is None else [start, rest.labels]
    return replace(
        rest,
        labels=min(labels, key=lambda labels: objective_of(instance, labels)),
        lower_bound=max(bound, rest.lower_bound),
        steps=steps + rest.steps,
    )


def _start(instance: Instance, settings: Settings, clock: Clock) -> np.ndarray | None:
    """A valid partition: the user's, or one that keeps the smallest radius in every cluster."""
    found = heuristic_partition(instance, clock=clock, seed=settings.seed or 0)
    given = None if settings.initial is None else np.asarray(settings.initial)
    known = [labels for labels in (found, given) if labels is not None]
    return min(known, key=lambda labels: objective_of(instance, labels), default=None)


def _report(instance: Instance, found: Bounded, clock: Clock) -> StepReport:
    return StepReport(
        step="colgen",
        model="set_partition:radii",
        solver="highs",
        version=registry.get("highs").version,
        n_variables=found.n_columns,
        n_constraints=found.n_rows,
        seconds=clock.seconds,
        objective=objective_of(instance, found.labels),
        bound=found.lower_bound,
        status=found.stopped,
        note=f"{found.iterations} iterations",
    )
