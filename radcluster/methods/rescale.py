"""A second run at the scale of the objective, where solvers' tolerances left a gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.result import Answer, relative_gap
from radcluster.status import Status


def closed(
    instance: Instance, answer: Answer, rel_gap: float, solve_again: Callable[[Instance], Answer]
) -> Answer:
    """The answer, improved by a second run where the first ended with a gap.

    A cluster that holds i and j costs at least d_ij / 2 (d_ij / N for distances that no points
    have); with weights w of total W, at least d_ij min w / 2 (d_ij (min w)^2 / W). So once a
    partition of cost U is known, pairs with d_ij > 2 U are in conflict in every better one: a
    smaller radius says so, and the largest distance left, on which the solvers' tolerances
    depend, is of the size of the objective.
    """
    if answer.labels is None or answer.stopped not in (Status.OPTIMAL, Status.FEASIBLE):
        return answer
    cost = objective_of(instance, answer.labels)
    if relative_gap(cost, answer.lower_bound) <= rel_gap:
        return answer
    least = float(instance.weights.min())
    part = 2.0 / least
    if instance.points is None:
        part = float(instance.weights.sum()) / least**2
    enough = np.sqrt(part * cost) / 2 * (1 + 1e-9)
    if enough >= instance.radii.max():
        return answer
    try:
        again = solve_again(instance.replace(radius=np.minimum(instance.radii, enough)))
    except KeyboardInterrupt:
        return replace(answer, stopped=Status.INTERRUPTED)
    if again.labels is None:
        return answer
    return replace(
        again,
        labels=min(answer.labels, again.labels, key=lambda labels: objective_of(instance, labels)),
        lower_bound=max(answer.lower_bound, again.lower_bound),
        solver=answer.solver,
        steps=answer.steps + again.steps,
    )
