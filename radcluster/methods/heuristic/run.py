"""``method="heuristic"``: a good partition, with no more than the spectral bound."""

from __future__ import annotations

from collections.abc import Callable

from radcluster.clock import Clock
from radcluster.errors import SolverFailure
from radcluster.feasibility.min_clusters import LARGE, fewest_clusters
from radcluster.methods.heuristic.search import heuristic_partition
from radcluster.methods.step import analyse_within
from radcluster.problem.instance import Instance
from radcluster.relaxation.spectral import spectral_bound
from radcluster.result import Answer
from radcluster.settings import Settings
from radcluster.status import Status

#: Seconds for a proof that there is no partition.
PROOF_SECONDS = 30.0


def run(
    instance: Instance, settings: Settings, clock: Clock, progress: Callable | None = None
) -> Answer:
    """A verified partition, and the spectral bound where there are points."""
    labels = heuristic_partition(
        instance, clock=clock, seed=settings.seed or 0, initial=settings.initial
    )
    if labels is not None:
        return Answer(labels, lower_bound=_bound(instance, clock))
    if clock.expired:
        return Answer(None, stopped=Status.TIME_LIMIT)
    # Nothing found is no proof; the conflict graph may have one.
    certificate = _refuted(instance, settings, clock)
    if certificate is not None:
        return Answer.infeasible(certificate)
    if clock.expired:
        return Answer(None, stopped=Status.TIME_LIMIT)
    raise SolverFailure("the heuristic found no partition, which proves nothing: try 'exact'")


def _bound(instance: Instance, clock: Clock) -> float:
    """0 without points, along few axes, and when the time is up."""
    too_few = instance.points is None or instance.points.shape[1] < instance.n_clusters
    if too_few or clock.expired:
        return 0.0
    return spectral_bound(instance.points, instance.weights, instance.n_clusters)


def _refuted(instance: Instance, settings: Settings, clock: Clock) -> dict | None:
    """A proof that there is no partition, where one is found without much effort."""
    if instance.n_points <= LARGE or instance.points is None:
        return analyse_within(instance, settings, clock).certificate
    seconds = PROOF_SECONDS if clock.left is None else min(clock.left, PROOF_SECONDS)
    widest = instance.replace(radius=float(instance.radii.max()))
    fewest = fewest_clusters(widest, time_limit=seconds)
    too_many = fewest.lower_bound is None or fewest.lower_bound > instance.n_clusters
    return fewest.certificate if too_many else None
