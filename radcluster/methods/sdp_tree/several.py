"""Several radii: column generation and the MILP, and bounds of two relaxations.

With the largest radius for all clusters the instance is relaxed: the engine's bound of that holds.
It knows nothing of labels. The perspective form has a block for each cluster, with its own radius
and anchors, and is stronger where radii differ much. The better of the two is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from radcluster.clock import Clock
from radcluster.errors import SolverFailure
from radcluster.methods import milp
from radcluster.methods.heuristic.search import heuristic_partition
from radcluster.methods.radii import solve as several_radii
from radcluster.methods.sdp_tree import solve as sdp_tree
from radcluster.methods.step import analyse_within
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of, sq_diameters
from radcluster.problem.units import normalised
from radcluster.proof.verify import violations
from radcluster.relaxation.sdp import solve_sdp
from radcluster.result import Answer, relative_gap
from radcluster.settings import Settings
from radcluster.status import Status

#: The part of the time before the relaxations are asked; the MILP has the rest afterwards.
FIRST = 0.4
#: Seconds of the first turn when there is no limit.
FIRST_SECONDS = 30.0
#: Points times clusters above which the perspective form is too large.
PERSPECTIVE_PAIRS = 1500


def with_relaxation(
    instance: Instance, settings: Settings, clock: Clock, progress: Callable | None
) -> Answer:
    """The answer of these, or a relaxation's partition and bound where these are better."""
    limit = FIRST_SECONDS if clock.left is None else FIRST * clock.left
    answer = several_radii.run(instance, settings, Clock(limit), progress)
    if answer.stopped != Status.TIME_LIMIT:
        return answer
    for relaxation in (_widest, _perspective):
        found = relaxation(instance, settings, clock)
        answer = answer if found is None else _best(instance, answer, found)
    cost = None if answer.labels is None else objective_of(instance, answer.labels)
    done = cost is not None and relative_gap(cost, answer.lower_bound) <= settings.rel_gap
    if done or clock.expired:
        return answer
    again = milp.run(instance, replace(settings, initial=answer.labels), clock, progress)
    if again.stopped == Status.INFEASIBLE:
        return again
    return replace(_best(instance, answer, again), stopped=again.stopped)


def _best(instance: Instance, *answers: Answer) -> Answer:
    """The best partition, the best bound, and all steps."""
    found = [answer for answer in answers if answer.labels is not None]
    best = min(found, key=lambda answer: objective_of(instance, answer.labels), default=answers[0])
    return replace(
        best,
        lower_bound=max(answer.lower_bound for answer in answers),
        stopped=answers[0].stopped,
        steps=tuple(step for answer in answers for step in answer.steps),
    )


def _widest(instance: Instance, settings: Settings, clock: Clock) -> Answer | None:
    """The engine's bound with the largest radius for all clusters, and its partition if that fits.

    The widest cluster takes the largest radius, and so on; no other order could fit better.
    """
    limit = FIRST_SECONDS if clock.left is None else FIRST * clock.left
    wide = instance.replace(radius=float(instance.radii.max()))
    search = sdp_tree.prepare(wide, replace(settings, initial=None), Clock(limit))
    if isinstance(search, Answer):
        return None
    status = search.run()
    report = replace(search.report(status), note="with the largest radius for all clusters")
    widest = np.argsort(-sq_diameters(wide, search.labels), kind="stable")
    name = np.empty(instance.n_clusters, dtype=int)
    name[widest] = np.argsort(-instance.radii, kind="stable")
    labels = name[search.labels]
    if violations(instance, labels):
        labels = heuristic_partition(instance, clock=clock, seed=settings.seed or 0)
    return Answer(labels, search.lower_bound, status, (report,), solver=report.solver)


def _perspective(instance: Instance, settings: Settings, clock: Clock) -> Answer | None:
    """The bound of the perspective form with anchors, where it is small enough."""
    if instance.n_points * instance.n_clusters > PERSPECTIVE_PAIRS:
        return None
    labelling = analyse_within(instance, settings, clock).labelling
    unit_instance, scale = normalised(instance)
    limit = FIRST_SECONDS if clock.left is None else FIRST * clock.left
    try:
        relaxed = solve_sdp(unit_instance, labelling, options=settings.options(None, limit))
    except SolverFailure:
        return None
    bound = relaxed.lower_bound * scale
    report = replace(relaxed.report, bound=bound, objective=None)
    return Answer(None, bound, Status.FEASIBLE, (report,))
