"""Random solves against enumeration: every method and every solver; none may be wrong."""

from __future__ import annotations

import os

import numpy as np
import pytest
from cases import brute_force, random_instance

from radcluster import Instance, SolverFailure, solve
from radcluster.proof.verify import violations
from radcluster.solvers.registry import SOLVERS

#: 2,000 solves, or 20,000.
INSTANCES = 2500 if os.environ.get("RADCLUSTER_FULL") == "1" else 250
PER_TEST = 25

ROUTES = [
    ("exact", None),
    ("colgen", None),
    ("sdp_tree", None),
    ("heuristic", None),
    *(("milp", info.name) for info in SOLVERS.values() if "MILP" in info.classes),
]
#: Each instance is solved by this many of the routes, in turn.
ROUTES_PER_INSTANCE = 8


def drawn(seed: int) -> Instance:
    """A small instance: random, on a grid (ties, also at exactly 2r), of another scale, weighted,
    or known by distances that no points have."""
    instance = random_instance(seed, max_points=7)
    links = {"cannot_link": instance.cannot_link, "must_link": instance.must_link}
    rng = np.random.default_rng(10_000 + seed)
    kind = rng.integers(6)
    if kind == 1:
        points = rng.integers(0, 4, size=(instance.n_points, 2)).astype(float)
        return Instance(points, instance.n_clusters, float(rng.choice([0.5, 1.0, 2**0.5 / 2])))
    if kind == 2:
        unit = 10.0 ** rng.integers(-9, 10)
        points, radii = instance.points * unit, instance.radii * unit
        return Instance(points, instance.n_clusters, radii, **links)
    if kind == 3:
        return instance.replace(sample_weight=10.0 ** rng.uniform(-3, 3, size=instance.n_points))
    if kind == 4:
        distances = np.triu(rng.integers(0, 6, size=(instance.n_points,) * 2), 1).astype(float)
        distances[0, 1] += 1.0
        return Instance.from_distances(
            distances + distances.T, instance.n_clusters, instance.radii, **links
        )
    return instance


def wrong(instance: Instance, best: float, method: str, solver: str | None) -> str | None:
    """What is wrong with the answer; None when nothing is."""
    try:
        result = solve(instance, method, solver)
    except SolverFailure:
        # The heuristic may find nothing, and says that this proves nothing.
        return None if method == "heuristic" else "failed"
    if not np.isfinite(best):
        return None if result.status == "infeasible" else f"{result.status}, not infeasible"
    if result.labels is None:
        return f"{result.status} without a partition"
    if bad := violations(instance, result.labels):
        return bad[0]
    slack = 1e-9 * best + 1e-12 * float(instance.sq_distances.max())
    if result.objective < best - slack or result.lower_bound > best + slack:
        return f"objective {result.objective}, bound {result.lower_bound}, optimum {best}"
    if result.status == "optimal" and result.objective > best * (1 + 1e-6) + slack:
        return f"optimal at {result.objective}, but {best} is"
    return None


@pytest.mark.parametrize("first", range(0, INSTANCES, PER_TEST))
def test_random_solves(first):
    found = []
    for seed in range(first, first + PER_TEST):
        instance = drawn(seed)
        best = brute_force(instance)
        for turn in range(ROUTES_PER_INSTANCE):
            method, solver = ROUTES[(seed + turn) % len(ROUTES)]
            if method in ("colgen", "sdp_tree") and not instance.uniform_radius:
                method = "exact"
            if solver and SOLVERS[solver].obstacle and not os.environ.get("RADCLUSTER_ALL_SOLVERS"):
                solver = "highs"
            if reason := wrong(instance, best, method, solver):
                found.append(f"seed {seed}, {method}, {solver}: {reason}")
    assert not found
