"""From an answer to a result, whose status neither a solver nor a search decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from radcluster.errors import SolverFailure
from radcluster.problem.instance import Instance
from radcluster.problem.partition import cluster_centers, objective_of
from radcluster.progress import Progress
from radcluster.proof.certificates import certificate_of
from radcluster.proof.refuted import refuse_refuted
from radcluster.proof.verify import examined
from radcluster.result import Answer, Result, relative_gap
from radcluster.status import Status

#: A bound may exceed what a verified partition costs by this part of it: rounding, no error.
ROUNDING = 1e-6


def certify(
    instance: Instance,
    answer: Answer,
    *,
    method: str,
    rel_gap: float,
    seconds: float,
    history: tuple[Progress, ...] = (),
) -> Result:
    """A result with a verified partition, its objective recomputed, its status from the gap.

    ``time_limit`` and ``interrupted`` are kept unless the gap is closed all the same.
    """
    common: dict[str, Any] = {
        "n_clusters": instance.n_clusters,
        "radius": instance.radius,
        "method": method,
        "solver": answer.solver,
        "seconds": seconds,
        "steps": answer.steps,
        "instance": instance,
        "history": history,
    }
    if answer.stopped == Status.INFEASIBLE:
        return Result(
            Status.INFEASIBLE,
            lower_bound=math.inf,
            certificate=certificate_of(answer.certificate).about(instance),
            **common,
        )
    if answer.labels is None:
        if answer.stopped not in (Status.TIME_LIMIT, Status.INTERRUPTED):
            raise SolverFailure(f"{answer.solver} ended without a partition ({answer.stopped})")
        return Result(Status(answer.stopped), lower_bound=_floor(answer), **common)
    labels = np.asarray(answer.labels)
    kept = instance.replace(radius=math.inf) if answer.soft_radius else instance
    wrong, widest = examined(kept, labels)
    if wrong:
        raise SolverFailure(f"the partition found is invalid: {wrong[0]}")
    squares = objective_of(instance, labels)
    refuse_refuted(instance, answer, squares)
    objective = squares if answer.objective is None else answer.objective
    lower_bound = _floor(answer)
    if lower_bound > objective + ROUNDING * abs(objective):
        lower_bound = _nothing(answer)  # a bound above what a verified partition costs is none
    points = instance.points
    return Result(
        status=_status(answer.stopped, relative_gap(objective, lower_bound) <= rel_gap),
        labels=labels,
        objective=objective,
        lower_bound=float(min(lower_bound, objective)),
        max_radius=float(np.sqrt(widest.max()) / 2),
        centers=None
        if points is None
        else cluster_centers(points, labels, instance.n_clusters, instance.weights),
        sum_of_squares=None if answer.objective is None else squares,
        **common,
    )


def _status(stopped: str, closed: bool) -> Status:
    if closed:
        return Status.OPTIMAL
    return Status.FEASIBLE if stopped == Status.OPTIMAL else Status(stopped)


def _nothing(answer: Answer) -> float:
    """The bound that is always valid. A sum of squares is not negative, a custom value may be."""
    return 0.0 if answer.objective is None else -math.inf


def _floor(answer: Answer) -> float:
    return max(answer.lower_bound, _nothing(answer))
