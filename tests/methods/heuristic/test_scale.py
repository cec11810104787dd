"""The heuristic beyond small instances: valid, within its time, within its memory, and good."""

import time

import numpy as np
import pytest
from cases import brute_force, random_instance
from threadpoolctl import threadpool_limits

from radcluster import Instance, min_clusters, min_radius, solve
from radcluster.clock import Clock
from radcluster.datasets import two_moons
from radcluster.methods.heuristic import balls as many_dimensions
from radcluster.methods.heuristic.search import fewest_partition, heuristic_partition
from radcluster.problem import grouping
from radcluster.problem.instance import diameter_limit
from radcluster.problem.partition import objective_of
from radcluster.proof.certificates import check
from radcluster.proof.verify import violations

#: What a limit may be exceeded by: a tenth of it, and a second.
GRACE = 1.0


def valid_free(points, radius, labels, **links):
    return violations(Instance(points, int(labels.max()) + 1, radius, **links), labels) == []


@pytest.mark.parametrize("seed", range(40))
def test_small_instances_against_enumeration(seed):
    instance = random_instance(seed, per_cluster_radii=False)
    best = brute_force(instance)
    labels = heuristic_partition(instance, seed=seed)
    if labels is None:
        return
    assert violations(instance, labels) == [], f"seed={seed}"
    cost = objective_of(instance, labels)
    assert best * (1 - 1e-9) <= cost <= best * 1.05 + 1e-12, f"seed={seed}"


def test_enumeration_finds_something_wherever_the_heuristic_must():
    feasible = [s for s in range(40) if brute_force(_instance(s)) < np.inf]
    found = [s for s in feasible if heuristic_partition(_instance(s)) is not None]
    assert len(found) >= 0.95 * len(feasible), set(feasible) - set(found)


def _instance(seed):
    return random_instance(seed, per_cluster_radii=False)


@pytest.mark.parametrize("seed", range(4))
def test_within_five_percent_of_what_is_proven(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((70, 2))
    radius = 0.12
    fewest = min_clusters(points, radius)
    for extra in (0, 3):
        instance = Instance(points, fewest.n_clusters + extra, radius)
        proven = solve(instance, time_limit=60)
        assert proven.status == "optimal"
        labels = heuristic_partition(instance, seed=seed)
        assert labels is not None, f"seed={seed}: K is feasible"
        assert objective_of(instance, labels) <= 1.05 * proven.objective, f"seed={seed}"


def test_weights_count_as_copies():
    rng = np.random.default_rng(5)
    points = rng.random((30, 2))
    weights = rng.integers(1, 4, 30)
    weighted = Instance(points, 6, 0.4, sample_weight=weights)
    labels = heuristic_partition(weighted)
    copies = np.repeat(np.arange(30), weights)
    copied = Instance(points[copies], 6, 0.4)
    assert objective_of(copied, labels[copies]) == pytest.approx(objective_of(weighted, labels))
    other = heuristic_partition(copied)
    assert objective_of(weighted, labels) <= 1.05 * objective_of(copied, other)


def test_dense_points_are_grouped_and_still_exact(monkeypatch):
    monkeypatch.setattr(grouping, "MOST_ENTRIES", 1_000_000)
    points = np.random.default_rng(0).random((8000, 2))
    labels = fewest_partition(points, 0.1)
    assert valid_free(points, 0.1, labels)
    # The square needs 32 sets of the area of a disc at least.
    assert 32 <= labels.max() + 1 <= 60


def test_links_hold_among_many_points():
    rng = np.random.default_rng(1)
    points = rng.random((4000, 2))
    links = {"cannot_link": [(0, 1), (5, 9)]}
    near = np.argsort(np.square(points - points[7]).sum(axis=1))[1]
    links["must_link"] = [(7, int(near))]
    instance = Instance(points, 1, 0.05, **links)
    labels = fewest_partition(instance)
    assert valid_free(points, 0.05, labels, **links)


def test_k_means_is_the_answer_where_it_keeps_the_radius():
    from sklearn.cluster import KMeans

    points = np.random.default_rng(0).normal(size=(5000, 12))
    labels = heuristic_partition(Instance(points, 8, 10.0))
    plain = KMeans(8, n_init=1, random_state=0).fit(points)
    assert objective_of(Instance(points, 8), labels) <= plain.inertia_ * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_many_dimensions_without_lists(seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, 8)) * 8
    points = centres[rng.integers(0, 6, 3000)] + rng.normal(size=(3000, 8))
    limit = float(diameter_limit(3.4))
    ball = many_dimensions.Balls(points, limit, Clock(None))
    nothing = np.full(len(points), -1)
    labels = many_dimensions.repaired(ball, nothing, np.empty((0, 8)), ())
    assert valid_free(points, 3.4, labels), f"seed={seed}"
    fewer = many_dimensions.merged(ball, labels, 1)
    assert valid_free(points, 3.4, fewer) and fewer.max() <= labels.max()
    instance = Instance(points, int(fewer.max()) + 1, 3.4)
    better = many_dimensions.lloyd(ball, fewer, instance.weights, 10)
    assert violations(instance, better) == []
    assert objective_of(instance, better) <= objective_of(instance, fewer) * (1 + 1e-9)


@pytest.fixture(scope="module")
def compiled():
    """Kernels that are compiled, or read from their cache."""
    points = np.random.default_rng(0).random((4500, 2))
    fewest_partition(points, 0.03)
    heuristic_partition(Instance(points, 900, 0.03), clock=Clock(5.0))
    min_clusters(points, 0.03, time_limit=2.0)


@pytest.mark.parametrize("limit", [0.1, 1.0])
@pytest.mark.parametrize("name", ["moons", "space", "features"])
def test_limits_are_kept(limit, name, compiled):
    rng = np.random.default_rng(0)
    points, radius = {
        "moons": (two_moons(n=(17_000, 3000))[0], 0.05),
        "space": (rng.random((30_000, 3)), 0.1),
        "features": (rng.normal(size=(20_000, 20)), 4.0),
    }[name]
    searches = {
        "fewest": lambda x, limit: fewest_partition(x, radius, clock=Clock(limit)),
        "given": lambda x, limit: heuristic_partition(Instance(x, 400, radius), clock=Clock(limit)),
        "min_clusters": lambda x, limit: min_clusters(x, radius, time_limit=limit),
    }
    for what, search in searches.items():
        # The processor's time of one thread: other processes may be running.
        with threadpool_limits(1):
            start = time.process_time()
            search(points, limit)
            seconds = time.process_time() - start
        assert seconds <= 1.1 * limit + GRACE, f"{what}: {seconds:.1f} s"


def test_initial_labels_are_improved_and_never_made_worse():
    points = np.random.default_rng(2).random((200, 2))
    instance = Instance(points, 60, 0.1)
    first = heuristic_partition(instance, seed=1)
    again = heuristic_partition(instance, seed=2, initial=first)
    assert objective_of(instance, again) <= objective_of(instance, first) * (1 + 1e-9)


def test_min_clusters_of_many_points_is_bounded_from_both_sides():
    points = np.random.default_rng(0).random((5000, 2)) * 8
    found = min_clusters(points, 0.05, time_limit=10)
    assert valid_free(points, 0.05, found.labels)
    assert found.lower_bound <= found.n_clusters <= 1.05 * found.lower_bound


def test_min_radius_of_many_points_lies_between_its_bounds():
    points = np.random.default_rng(0).random((5000, 2))
    found = min_radius(points, 60, time_limit=3)
    assert violations(Instance(points, 60, found.radius), found.labels) == []
    assert found.lower_bound <= found.radius <= 2 * found.lower_bound
    assert check(found.certificate, Instance(points, 60, found.certificate["radius"]))
