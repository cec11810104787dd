"""The tree on the relaxation, against enumeration and against column generation."""

import time

import numpy as np
import pytest
from cases import brute_force, random_instance

from radcluster import Instance, solve
from radcluster.clock import Clock
from radcluster.proof.verify import violations
from radcluster.relaxation.engine.admm import Engine
from radcluster.relaxation.engine.fixing import apart, propagated
from radcluster.relaxation.engine.program import build_program

CHUNKS = 5


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_against_enumeration(chunk):
    for seed in range(chunk, 80, CHUNKS):
        instance = random_instance(seed, per_cluster_radii=False)
        optimum = brute_force(instance)
        result = solve(instance, "sdp_tree")
        if not np.isfinite(optimum):
            assert result.status == "infeasible", f"seed {seed}"
            continue
        assert result.status == "optimal", f"seed {seed}"
        assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-12), f"seed {seed}"
        assert result.lower_bound <= optimum * (1 + 1e-12) + 1e-15, f"seed {seed}"


@pytest.mark.parametrize(
    ("seed", "n", "n_clusters", "radius"),
    [(0, 40, 6, 0.35), (1, 60, 8, 0.3), (2, 60, 5, 0.45), (3, 50, 4, np.inf)],
)
def test_against_column_generation_in_the_plane(seed, n, n_clusters, radius):
    points = np.random.default_rng(seed).random((n, 2))
    instance = Instance(points, n_clusters, radius)
    tree, price = solve(instance, "sdp_tree"), solve(instance, "colgen")
    assert tree.status == price.status, f"seed {seed}"
    if price.solved:
        assert price.status == "optimal"
        assert tree.objective == pytest.approx(price.objective, rel=1e-6), f"seed {seed}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_fixing_keeps_every_optimal_partition(chunk):
    """No pair of an optimal partition is separated, given that its cost is known."""
    fixed = 0
    for seed in range(chunk, 100, CHUNKS):
        instance = random_instance(seed, max_points=8, per_cluster_radii=False)
        program = build_program(instance)
        if program is None or program.n_clusters in (1, program.n_groups):
            continue
        labels, cost = all_partitions(program)
        if not len(labels):
            continue
        best = labels[cost <= cost.min() * (1 + 1e-12)]
        engine = Engine(program)
        for _ in range(8):
            engine.iterate(25, Clock(None))
            pairs = apart(program, engine.evaluate(), float(cost.min()) * (1 + 1e-12))
            narrowed = propagated(program.with_conflicts(pairs))
            assert narrowed is not None, f"seed {seed}"
            fixed += len(pairs)
            for label in best:
                same = label[:, None] == label
                assert not (same & program.with_conflicts(pairs).conflicts).any(), f"seed {seed}"
                first = np.unique(program.group_of, return_index=True)[1]
                merged = narrowed.group_of[first]
                together = merged[:, None] == merged
                assert not (together & ~same).any(), f"seed {seed}"
            engine.refresh_cuts(1e-4)
    assert fixed > 20


def all_partitions(program):
    """Every partition of the groups into exactly K compatible clusters, with its cost."""
    rows = [()]
    for _ in range(program.n_groups):
        rows = [
            (*row, c)
            for row in rows
            for c in range(min(program.n_clusters, max(row, default=-1) + 2))
        ]
    labels = np.array([row for row in rows if max(row) + 1 == program.n_clusters])
    ok = [not ((r[:, None] == r) & program.conflicts).any() for r in labels]
    labels = labels[ok] if len(labels) else labels
    return labels, np.array([program.cost_of(row) for row in labels])


@pytest.mark.parametrize("seed", range(3))
def test_distances_that_no_points_have(seed):
    rng = np.random.default_rng(seed)
    d = np.abs(rng.normal(size=(8, 8)))
    d = d + d.T
    np.fill_diagonal(d, 0.0)
    instance = Instance.from_distances(d, 3, 0.9)
    optimum = brute_force(instance)
    result = solve(instance, "sdp_tree")
    if np.isfinite(optimum):
        assert result.status == "optimal", f"seed {seed}"
        assert result.objective == pytest.approx(optimum, rel=1e-6), f"seed {seed}"
    else:
        assert result.status == "infeasible", f"seed {seed}"


def hard_instance():
    return Instance(np.random.default_rng(5).normal(size=(150, 10)), 12, 3.4)


@pytest.mark.parametrize("time_limit", [0.0, 0.3, 2.0])
def test_a_time_limit_leaves_a_partition_and_a_bound(time_limit):
    solve(Instance(np.random.default_rng(5).normal(size=(12, 3)), 3, 3.0), "sdp_tree")
    instance = hard_instance()
    start = time.perf_counter()
    result = solve(instance, "sdp_tree", time_limit=time_limit)
    assert time.perf_counter() - start <= 1.1 * time_limit + 1.0
    assert violations(instance, result.labels) == []
    assert result.lower_bound <= result.objective
    assert result.status == "time_limit"


def test_an_interrupt_keeps_the_incumbent_and_the_bound():
    def interrupt(report):
        if report.iteration >= 150:
            raise KeyboardInterrupt

    instance = hard_instance()
    result = solve(instance, "sdp_tree", progress=interrupt)
    assert result.status == "interrupted"
    assert violations(instance, result.labels) == []
    assert 0.5 * result.objective < result.lower_bound <= result.objective
