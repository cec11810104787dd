"""From a partition and a bound to a result, whose status neither a solver nor a search decides."""

from __future__ import annotations

import math

import numpy as np

from radcluster.errors import SolverFailure
from radcluster.instance import Instance
from radcluster.result import Result, StepReport, relative_gap
from radcluster.verify import cluster_centers, objective_of, sq_diameters, violations


def infeasible(
    instance: Instance, method: str, certificate: dict, steps: tuple[StepReport, ...] = ()
) -> Result:
    """The result of an instance that was proven to have no partition."""
    return Result(
        status="infeasible",
        n_clusters=instance.n_clusters,
        radius=instance.radius,
        method=method,
        lower_bound=math.inf,
        certificate=certificate,
        steps=steps,
    )


def certified(
    instance: Instance,
    method: str,
    *,
    labels: np.ndarray | None,
    lower_bound: float,
    rel_gap: float,
    stopped: str,
    solver: str | None,
    steps: tuple[StepReport, ...],
) -> Result:
    """A result with a verified partition, its objective recomputed, its status from the gap.

    ``stopped`` says why the search ended: ``time_limit`` and ``interrupted`` are kept unless the
    gap is closed all the same.
    """
    common = {
        "n_clusters": instance.n_clusters,
        "radius": instance.radius,
        "method": method,
        "solver": solver,
        "steps": steps,
    }
    lower_bound = max(lower_bound, 0.0)
    if labels is None:
        if stopped not in ("time_limit", "interrupted"):
            raise SolverFailure(f"{solver} ended without a partition ({stopped})")
        return Result(status=stopped, lower_bound=lower_bound, **common)
    if wrong := violations(instance, labels):
        raise SolverFailure(f"the partition found is invalid: {wrong[0]}")
    objective = objective_of(instance, labels)
    if lower_bound > objective * (1 + 1e-6):
        lower_bound = 0.0  # a bound above what a verified partition costs is none
    if relative_gap(objective, lower_bound) <= rel_gap:
        stopped = "optimal"
    elif stopped == "optimal":
        stopped = "feasible"
    points = instance.points
    return Result(
        status=stopped,
        labels=labels,
        objective=objective,
        lower_bound=float(min(lower_bound, objective)),
        max_radius=float(np.sqrt(sq_diameters(instance, labels).max()) / 2),
        centers=None if points is None else cluster_centers(points, labels, instance.n_clusters),
        **common,
    )
