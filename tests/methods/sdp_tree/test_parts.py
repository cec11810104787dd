"""Bounds of parts add up to a bound of the whole, with a radius and with links."""

import time

import numpy as np
import pytest
from cases import brute_force, random_instance

from radcluster import InputError, Instance, solve
from radcluster.clock import Clock
from radcluster.methods.sdp_tree.deal import deal
from radcluster.methods.sdp_tree.parts import PartsSearch, part_bound, restricted
from radcluster.relaxation.spectral import spectral_bound
from radcluster.settings import Settings


@pytest.mark.parametrize("chunk", range(4))
def test_never_above_the_optimum(chunk):
    tried = 0
    for seed in range(chunk, 60, 4):
        instance = random_instance(seed, per_cluster_radii=False)
        optimum = brute_force(instance)
        if not np.isfinite(optimum):
            continue
        rng = np.random.default_rng(seed)
        part = rng.integers(2, size=instance.n_points)
        labels = solve(instance, "colgen").labels
        total = 0.0
        for p in np.unique(part):
            points = np.flatnonzero(part == p)
            inner = np.unique(labels[points], return_inverse=True)[1]
            piece = restricted(instance, points)
            total += part_bound(piece, inner, 1e-6, Clock(None))
        assert total <= optimum * (1 + 1e-12) + 1e-15, f"seed {seed}"
        tried += 1
    assert tried > 5


def test_dealing_spreads_every_cluster_evenly():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(600, 5)), rng.integers(4, size=600)
    part = deal(points, np.ones(600), labels, 6)
    counts = np.array([[np.sum((part == p) & (labels == k)) for k in range(4)] for p in range(6)])
    assert (np.ptp(counts, axis=0) <= 1).all()
    random = rng.permutation(part)
    assert loss(points, labels, part) < 0.1 * loss(points, labels, random)


def loss(points, labels, part):
    total = 0.0
    for k in np.unique(labels):
        mean = points[labels == k].mean(axis=0)
        for p in np.unique(part):
            inside = points[(labels == k) & (part == p)]
            total += len(inside) * np.square(inside.mean(axis=0) - mean).sum()
    return total


def blobs(n, n_clusters=4, seed=0):
    rng = np.random.default_rng(seed)
    centers = 3.0 * rng.normal(size=(n_clusters, 6))
    return centers[rng.integers(n_clusters, size=n)] + rng.normal(size=(n, 6))


def test_many_points():
    instance = Instance(blobs(1500), 4)
    result = solve(instance, "sdp_tree", n_jobs=2, time_limit=60, rel_gap=1e-2)
    assert result.status == "optimal"
    assert "parts" in result.steps[0].note


def test_time_limit():
    instance = Instance(blobs(4000), 4)
    start = time.perf_counter()
    result = solve(instance, "sdp_tree", n_jobs=2, time_limit=2.0)
    assert time.perf_counter() - start <= 1.1 * 2.0 + 1.0
    assert 0.0 <= result.lower_bound <= result.objective


def test_distances_alone_are_refused():
    d = np.ones((5, 5)) - np.eye(5)
    with pytest.raises(InputError, match="needs points"):
        PartsSearch(Instance.from_distances(d, 2), np.array([0, 0, 1, 1, 1]), Settings(), Clock(1))


@pytest.mark.parametrize("far", [0.0, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_spectral_bound_is_below_the_optimum(weighted, far):
    """Also where the points lie far from the origin, so that their means are rounded."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        points = far + rng.normal(size=(8, rng.integers(1, 5)))
        weights = rng.uniform(0.1, 5.0, 8) if weighted else np.ones(8)
        k = int(rng.integers(1, 4))
        instance = Instance(points, k, sample_weight=weights)
        bound = spectral_bound(instance.points, instance.weights, k)
        assert 0.0 <= bound <= brute_force(instance), f"seed {seed}"
    # One cluster costs all there is.
    assert spectral_bound(points, weights, 1) > 0.99 * brute_force(instance.replace(n_clusters=1))


def test_there_is_a_bound_when_the_time_ends_at_once():
    instance = Instance(blobs(4000), 4)
    result = solve(instance, "sdp_tree", time_limit=0.5)
    assert 0.01 * result.objective < result.lower_bound <= result.objective
