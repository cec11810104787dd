"""From an instance without a number of clusters, or without a radius, to a certified result."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from radcluster import api
from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.feasibility.min_radius import smallest_radius
from radcluster.methods.exact import COLGEN_SIZE
from radcluster.methods.heuristic.search import fewest_partition
from radcluster.methods.register import METHODS
from radcluster.problem.instance import Instance
from radcluster.proof.certify import certify
from radcluster.result import Answer, Result
from radcluster.settings import Settings
from radcluster.status import Status

#: Clusters where neither a number nor a radius is given, as in scikit-learn's KMeans.
DEFAULT_CLUSTERS = 8
#: Up to this many points ``auto`` solves to the end, and up to this many it looks for a bound.
EXACT_POINTS = 25
PROOF_POINTS = 300
#: Up to this many points the fewest clusters are sought with a proof.
FEWEST_POINTS = 1000
#: Seconds for the bound, and for the fewest clusters, where no time limit is given.
PROOF_SECONDS = 0.2
FEWEST_SECONDS = 2.0
#: Seconds for the smallest radius where no time limit is given.
RADIUS_SECONDS = 60.0


@dataclass(frozen=True)
class Request:
    """What the parameters of an estimator ask of one instance."""

    method: str
    solver: str | None
    rel_gap: float
    n_init: int
    seed: int
    n_jobs: int | None
    verbose: bool
    clock: Clock

    def seconds(self, most: float) -> float:
        """What may be spent on a part of the work that has a limit of its own."""
        return most if self.clock.left is None else min(self.clock.left, max(most, 0.5 * self.left))

    @property
    def left(self) -> float:
        return math.inf if self.clock.left is None else self.clock.left

    def progress(self, report) -> None:
        print(f"  {report}", flush=True)


@dataclass(frozen=True)
class Start:
    """An instance with a number of clusters and a radius, and a partition if one is known.

    ``settled`` says that the partition is the answer: among many points, one with as few clusters
    is not found twice.
    """

    instance: Instance
    labels: np.ndarray | None = None
    certificate: dict | None = None
    infeasible: bool = False
    settled: bool = False


def with_fewest_clusters(instance: Instance, request: Request) -> Start:
    """The instance with as few clusters as its radius allows, by proof where that is quick."""
    if instance.n_points > FEWEST_POINTS:
        labels = fewest_partition(instance, clock=request.clock, seed=request.seed, cheaper=True)
        if labels is not None:
            return Start(instance.replace(n_clusters=int(labels.max()) + 1), labels, settled=True)
    found = fewest_clusters(instance, time_limit=request.seconds(FEWEST_SECONDS))
    if found.status == Status.INFEASIBLE:
        return Start(instance, certificate=found.certificate, infeasible=True)
    if found.labels is None:
        raise SolverFailure("the time limit passed before a valid partition was found")
    labels = found.labels
    return Start(instance.replace(n_clusters=int(labels.max()) + 1), labels, found.certificate)


def with_smallest_radius(instance: Instance, request: Request) -> Start:
    """The instance with a radius as small as its number of clusters allows."""
    found = smallest_radius(instance, time_limit=request.seconds(RADIUS_SECONDS))
    if found.labels is None:
        if found.status == Status.INFEASIBLE:
            return Start(instance, certificate=found.certificate, infeasible=True)
        raise SolverFailure("no partition was found within the time limit")
    return Start(instance.replace(radius=found.radius), found.labels, found.certificate)


def solve_request(start: Start, request: Request) -> Result:
    """Solve an instance by the method asked for, ``auto`` included.

    Without a time limit, ``auto`` finds the same labels however fast the machine is: those of
    ``exact`` for a handful of points, else those of ``heuristic``. Only the bound depends on the
    time that it was given. With a time limit, all the time left goes to ``exact``, for few points
    and for large clusters.
    """
    if request.method != "auto" and request.method not in METHODS:
        raise InputError(f"unknown method {request.method!r}. Valid: auto, {', '.join(METHODS)}.")
    if request.method not in ("auto", "heuristic"):
        return _run(start, request, request.method, request.clock.left, request.seed)
    if start.settled:
        return _certified(start, request)
    several = not start.instance.uniform_radius
    if request.method == "auto" and (several or start.instance.n_points <= EXACT_POINTS):
        return _run(start, request, "exact", request.clock.left, request.seed)
    small = start.instance.n_points <= PROOF_POINTS
    bounded = small or _is_bounded_soon(start.instance, request)
    result = _best_heuristic(start, request, required=request.method == "heuristic" or not small)
    if request.method == "heuristic" or not bounded:
        return result
    if result is None:
        return _run(start, request, "exact", request.clock.left, request.seed)
    if result.status == Status.INFEASIBLE or request.clock.expired:
        return result
    return _with_proof(replace(start, labels=result.labels), request, result)


def _is_bounded_soon(instance: Instance, request: Request) -> bool:
    """Whether time was given, and ``exact`` has a bound for so many points: large clusters."""
    return (
        request.clock.left is not None
        and instance.points is not None
        and instance.n_points > COLGEN_SIZE * instance.n_clusters
    )


def _with_proof(start: Start, request: Request, result: Result) -> Result:
    """A result with the bound that ``exact`` gives it, and its better labels if time was given."""
    if request.clock.left is not None:
        exact = _run(start, request, "exact", request.clock.left, request.seed)
        if exact.labels is not None and exact.objective <= result.objective:
            return exact
    else:
        exact = _run(start, request, "exact", PROOF_SECONDS, request.seed)
    return replace(result, lower_bound=max(result.lower_bound, exact.lower_bound))


def _best_heuristic(start: Start, request: Request, required: bool) -> Result | None:
    """The best of several starts; None when none found a partition and that is no failure."""
    seeds = [(request.seed + i) % 2**31 for i in range(request.n_init)]
    runs = (delayed(_heuristic)(start, request, seed) for seed in seeds)
    found = [result for result in Parallel(n_jobs=request.n_jobs)(runs) if result is not None]
    if not found and required:
        raise SolverFailure(
            "the heuristic found no partition, which proves nothing: try method='exact'"
        )
    return min(found, key=lambda result: result.objective) if found else None


def _heuristic(start: Start, request: Request, seed: int) -> Result | None:
    try:
        return _run(start, request, "heuristic", request.clock.left, seed)
    except SolverFailure:
        return None if start.labels is None else _certified(start, request)


def _certified(start: Start, request: Request) -> Result:
    """The partition at hand as a result."""
    return certify(
        start.instance,
        Answer(start.labels),
        method="heuristic",
        rel_gap=request.rel_gap,
        seconds=request.clock.seconds,
    )


def _run(start: Start, request: Request, method: str, seconds: float | None, seed: int) -> Result:
    settings = Settings(
        method=method,
        solver=request.solver if method != "heuristic" else None,
        n_jobs=request.n_jobs if method == "exact" else None,
        time_limit=seconds,
        rel_gap=request.rel_gap,
        seed=seed,
        initial=start.labels,
    )
    return api.run(start.instance, settings, request.progress if request.verbose else None)
