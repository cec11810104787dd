"""The engine's bound never exceeds the enumerated optimum, wherever it is stopped."""

import os

import numpy as np
import pytest
from cases import brute_force, random_instance

from radcluster import Instance
from radcluster.clock import Clock
from radcluster.relaxation.engine.admm import Engine
from radcluster.relaxation.engine.bound import safe_bound
from radcluster.relaxation.engine.program import build_program

CASES = 300 if not os.environ.get("RADCLUSTER_FULL") else 2000
CHUNKS = 10


def attacked(seed: int) -> Instance:
    """A random instance at a random scale, with weights, duplicates, links, far from the origin."""
    rng = np.random.default_rng([seed, 1])
    plain = random_instance(seed, max_points=8, per_cluster_radii=False)
    scale = 10.0 ** rng.integers(-9, 10)
    shift = rng.choice([0.0, 0.0, 1e3]) * rng.normal(size=plain.points.shape[1])
    weights = None
    if rng.random() < 0.4:
        weights = np.exp(rng.normal(scale=1.5, size=plain.n_points)) * 10.0 ** rng.integers(-3, 4)
    return Instance(
        (plain.points + shift) * scale,
        plain.n_clusters,
        plain.radii[0] * scale,
        cannot_link=plain.cannot_link,
        must_link=plain.must_link,
        sample_weight=weights,
    )


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_never_above_the_optimum(chunk):
    tight = tried = 0
    for seed in range(chunk, CASES, CHUNKS):
        instance = attacked(seed)
        optimum = brute_force(instance)
        program = build_program(instance)
        if program is None or program.n_groups <= instance.n_clusters or instance.n_clusters == 1:
            continue
        rng = np.random.default_rng([seed, 2])
        engine = Engine(program)
        for _ in range(int(rng.integers(1, 12))):
            engine.iterate(int(rng.integers(1, 30)), Clock(None))
            value = engine.evaluate().value
            assert value <= optimum, f"seed {seed}, {engine.iterations} iterations"
            # Multipliers that no iteration would give.
            noise = engine.state.dual + rng.normal(size=engine.y.shape) * rng.choice(
                [1e-6, 0.1, 10]
            )
            mu = engine.mu * rng.uniform(0, 3, len(engine.mu))
            wild = safe_bound(program, engine.rows, mu, noise + noise.T).value
            assert wild <= optimum, f"seed {seed}, arbitrary multipliers"
            if rng.random() < 0.6:
                engine.refresh_cuts(10.0 ** rng.integers(-6, -1))
        tried += np.isfinite(optimum)
        tight += np.isfinite(optimum) and engine.bound >= 0.9 * optimum
    assert tried >= 10
    assert tight >= 0.5 * tried, "the bounds are valid, but say little"
