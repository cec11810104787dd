"""A radius for each cluster: the classes of radii, their bound, and where the MILP takes over."""

from __future__ import annotations

import numpy as np
import pytest
from cases import brute_force, moons, random_instance

from radcluster import Instance, solve
from radcluster.clock import Clock
from radcluster.methods.heuristic.search import heuristic_partition
from radcluster.methods.radii.classes import column_generation
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations


def test_one_wide_cluster_among_narrow_ones_on_the_moons():
    """The optimum with one narrow radius is feasible here, and a wide cluster saves 13 %."""
    instance = Instance(moons().points, 16, [0.189] * 15 + [0.3])
    result = solve(instance, time_limit=60)
    assert violations(instance, result.labels) == []
    assert result.gap <= 0.05
    assert result.objective <= 1.1609


@pytest.mark.parametrize("seed", range(30))
def test_exact_with_several_radii_agrees_with_enumeration(seed):
    instance = random_instance(seed)
    optimum = brute_force(instance)
    result = solve(instance)
    if np.isinf(optimum):
        assert result.status == "infeasible"
    else:
        assert result.status == "optimal", f"seed {seed}"
        assert result.objective == pytest.approx(optimum), f"seed {seed}"


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_of_the_classes_is_one(seed):
    """Whatever the columns at hand, also when the search stops at once."""
    instance = random_instance(seed, per_cluster_radii=True)
    labels = heuristic_partition(instance)
    if labels is None:
        return
    optimum = brute_force(instance)
    for limit in (None, 0.01):
        found = column_generation(instance, labels, Clock(limit), 1e-6)
        if found is None:
            continue
        assert found.lower_bound <= optimum * (1 + 1e-9), f"seed {seed}"
        assert violations(instance, found.labels) == []
        assert objective_of(instance, found.labels) <= objective_of(instance, labels) * (1 + 1e-12)


def test_a_start_is_used():
    instance = Instance(moons().points, 16, [0.189] * 15 + [0.3])
    best = solve(instance)
    again = solve(instance, initial=best.labels, time_limit=20)
    assert again.objective <= best.objective * (1 + 1e-9)
