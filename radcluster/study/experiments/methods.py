"""Every method of the comparison by one name and one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from radcluster.api import solve
from radcluster.errors import SolverFailure
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.result import relative_gap
from radcluster.study.baselines import CardinalityKMeans, CompleteLinkage, GreedyKCenter, KMedoids
from radcluster.study.tkmeans import TKMeans

#: Methods that depend on a seed, with the settings that reproduce the paper's rows.
SEEDED: dict[str, Callable[[int, int], BaseEstimator]] = {
    "K-means": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "K-medoids": lambda k, seed: KMedoids(k, random_state=seed),
    "K-center": lambda k, seed: GreedyKCenter(k, random_state=seed),
    "card. K-means": lambda k, seed: CardinalityKMeans(k, n_init=10, random_state=seed),
    "tk-means": lambda k, seed: TKMeans(k, random_state=seed),
    "tk-means (full)": lambda k, seed: TKMeans(k, variant="full", random_state=seed),
}
LINKAGE = "complete linkage"
#: Methods that keep the radius, with their settings for :func:`radcluster.solve`.
OURS: dict[str, dict] = {
    "pipeline, k-center": {"method": "pipeline", "step1": "kcenter"},
    "pipeline, SDP": {"method": "pipeline", "step1": "sdp:perspective"},
    "radius, heuristic": {"method": "heuristic"},
    "optimum": {"method": "exact"},
}


@dataclass(frozen=True)
class Found:
    """A partition, its centres, the seconds it took, and what is proven about it."""

    labels: np.ndarray
    centers: np.ndarray
    seconds: float
    status: str = ""
    lower_bound: float | None = None
    gap: float | None = None


def find(
    method: str, points, n_clusters: int, radius: float = np.inf, seed: int = 0, **settings
) -> Found:
    """Partition ``points`` by a method of this module.

    Baselines know nothing of the radius; ``settings`` go to :func:`radcluster.solve`.
    """
    start = time.perf_counter()
    if method in OURS:
        return _solve(method, Instance(points, n_clusters, radius), settings)
    if method == LINKAGE:
        model = CompleteLinkage(n_clusters)
    else:
        model = SEEDED[method](n_clusters, seed)
    model.fit(points)
    return Found(model.labels_, model.cluster_centers_, time.perf_counter() - start)


def _solve(method, instance, settings):
    result = solve(instance, **(OURS[method] | settings))
    if not result.solved:
        raise SolverFailure(f"{method} ended {result.status} on {instance}")
    return Found(
        labels=result.labels,
        centers=result.centers,
        seconds=result.seconds,
        status=result.status,
        lower_bound=result.lower_bound,
        gap=relative_gap(objective_of(instance, result.labels), result.lower_bound),
    )
