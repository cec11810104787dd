"""Data whose parts differ by orders of magnitude: what is claimed must still be true."""

import numpy as np
import pytest
from cases import brute_force

from radcluster import Instance, solve


def mixed_scales(seed):
    """Points at distances from 1 down to 1e-6 of each other."""
    rng = np.random.default_rng(seed)
    n, k, dim = int(rng.integers(5, 9)), int(rng.integers(2, 5)), int(rng.integers(1, 3))
    smallest = [2, 3, 4, 6][seed % 4]
    points = rng.normal(size=(n, dim)) * 10.0 ** (-rng.integers(0, smallest + 1, size=(n, 1)))
    return Instance(points, k, np.inf if rng.random() < 0.5 else float(rng.uniform(0.5, 2)))


@pytest.mark.parametrize("method", ["exact", "milp", "pipeline", "heuristic"])
@pytest.mark.parametrize("chunk", [*range(0, 80, 20), 160, 1040])
def test_no_bound_is_above_the_optimum(method, chunk):
    step1 = {"step1": "kcenter"} if method == "pipeline" else {}
    for seed in range(chunk, chunk + 20):
        instance = mixed_scales(seed)
        optimum = brute_force(instance)
        if optimum == np.inf:
            continue
        result = solve(instance, method, time_limit=20, **step1)
        assert result.lower_bound <= optimum * (1 + 1e-9)
        assert result.objective >= optimum * (1 - 1e-9)
        if method in ("exact", "milp"):
            assert result.status == "optimal"
            assert result.objective == pytest.approx(optimum, rel=2e-6, abs=1e-300)


@pytest.mark.parametrize("method", ["heuristic", "pipeline"])
def test_a_far_point_proves_nothing(method):
    points = np.vstack([np.random.default_rng(2).normal(size=(7, 2)), [[2e8, 0]]])
    instance = Instance(points, 4, 1.2)
    step1 = {"step1": "kcenter", "repeat": False} if method == "pipeline" else {}
    result = solve(instance, method, **step1)
    assert result.lower_bound == 0
    assert result.status == "feasible"


def test_five_points_end():
    points = [
        [1.2879252612892487, 0.1939744191326132],
        [0.0920230899639857, 0.05771037912572513],
        [-6.364636463709805e-06, 5.419522204102933e-06],
        [-3.165954511658161e-06, -3.223891161589601e-06],
        [0.00971673186704572, -0.15259304065189516],
    ]
    instance = Instance(points, 4, 1.4449103068845213)
    result = solve(instance, "colgen")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(brute_force(instance))
