"""Exact pricing: the two searches, the mixed-integer program and enumeration agree."""

from itertools import combinations

import numpy as np
import pytest
from cases import random_instance

from radcluster import Instance
from radcluster.methods.colgen.bounds import lagrangian_bound
from radcluster.methods.colgen.columns import Columns, costs
from radcluster.methods.colgen.pricing.pricer import Pricer
from radcluster.methods.colgen.problem import Problem, ProblemFactory
from radcluster.models import set_partition
from radcluster.solvers.mip import solve_model

TOLERANCE = 1e-9


def compatible_sets(problem: Problem) -> Columns:
    """Every compatible set, straight from the neighbour lists."""
    n = problem.n_groups
    near = [set(problem.compatible_with(a).tolist()) for a in range(n)]
    return Columns.of(
        s
        for size in range(1, n + 1)
        for s in combinations(range(n), size)
        if all(b in near[a] for a, b in combinations(s, 2))
    )


def random_prices(problem: Problem, rng) -> tuple[np.ndarray, float]:
    scale = np.square(problem.centers - problem.centers.mean(axis=0)).sum(axis=1).mean()
    return rng.exponential(scale, problem.n_groups), float(rng.uniform(0, 2 * scale))


@pytest.mark.parametrize("search", ["location", "membership"])
def test_exact_pricing_finds_the_least_reduced_cost(search, monkeypatch):
    limit = 99 if search == "location" else 0
    monkeypatch.setattr("radcluster.methods.colgen.pricing.pricer.MAX_LOCATION_DIMENSION", limit)
    compared = 0
    for seed in range(80):
        problem = ProblemFactory(random_instance(seed, per_cluster_radii=False)).build()
        if problem is None:
            continue
        prices, sigma = random_prices(problem, np.random.default_rng(seed))
        every = compatible_sets(problem)
        reduced = costs(every, problem) - every.sums(prices) + sigma
        priced = Pricer(problem).exact(prices, sigma, TOLERANCE)
        least = min(reduced.min(), -TOLERANCE)
        assert priced.floor.min() == pytest.approx(least, abs=1e-9 * prices.sum())
        own = costs(priced.columns, problem)
        own = own - priced.columns.sums(prices) + sigma if len(own) else own
        assert np.all(own < 0)
        assert len(own) == 0 or own.min() == pytest.approx(least, abs=1e-9 * prices.sum())
        compared += reduced.min() < -TOLERANCE
    assert compared > 30


@pytest.mark.parametrize("search", ["location", "membership"])
@pytest.mark.parametrize("budget", [1, 7, 100])
def test_a_search_cut_short_still_bounds_every_head(search, budget, monkeypatch):
    limit = 99 if search == "location" else 0
    monkeypatch.setattr("radcluster.methods.colgen.pricing.pricer.MAX_LOCATION_DIMENSION", limit)
    monkeypatch.setattr("radcluster.methods.colgen.pricing.boxes.CELL_BUDGET", budget)
    monkeypatch.setattr("radcluster.methods.colgen.pricing.members.HEAD_BUDGET", budget)
    for seed in range(40):
        problem = ProblemFactory(random_instance(seed, per_cluster_radii=False)).build()
        if problem is None:
            continue
        prices, sigma = random_prices(problem, np.random.default_rng(seed))
        every = compatible_sets(problem)
        reduced = costs(every, problem) - every.sums(prices) + sigma
        floor = Pricer(problem).exact(prices, sigma, TOLERANCE).floor
        # A set is charged to one of its members, so the lowest of their floors bounds it.
        lowest = np.array([floor[every[t]].min() for t in range(len(every))])
        assert np.all(reduced >= lowest - 1e-9 * prices.sum())


def test_quick_pricing_returns_compatible_columns_with_their_reduced_costs():
    rng = np.random.default_rng(3)
    problem = ProblemFactory(Instance(rng.random((60, 2)), 8, 0.2)).build()
    prices, sigma = random_prices(problem, rng)
    columns, reduced = Pricer(problem).quick(prices, sigma, TOLERANCE)
    assert len(columns) > 10
    again = costs(columns, problem) - columns.sums(prices) + sigma
    assert reduced == pytest.approx(again, abs=1e-12)
    for t in range(len(columns)):
        for a, b in combinations(columns[t], 2):
            assert b in problem.compatible_with(a)


def test_pricing_program_agrees_with_the_search():
    rng = np.random.default_rng(5)
    for _ in range(5):
        instance = Instance(rng.random((10, 2)), 3, 0.3, cannot_link=[(0, 1)])
        problem = ProblemFactory(instance).build()
        prices, sigma = random_prices(problem, rng)
        model = set_partition.build_pricing(instance, prices, sigma)
        outcome = solve_model(model, "highs")
        floor = Pricer(problem).exact(prices, sigma, TOLERANCE).floor.min()
        assert min(outcome.objective, -TOLERANCE) == pytest.approx(floor, abs=1e-6)


def test_a_coarse_tolerance_is_paid_for_in_the_floor():
    rng = np.random.default_rng(7)
    problem = ProblemFactory(Instance(rng.random((80, 2)), 9, 0.2)).build()
    prices, sigma = random_prices(problem, rng)
    fine = Pricer(problem).exact(prices, sigma, TOLERANCE)
    coarse = Pricer(problem).exact(prices, sigma, 0.05)
    assert np.all(coarse.floor <= -0.05)
    assert coarse.nodes < fine.nodes
    bounds = [lagrangian_bound(prices, sigma, p.floor, 9) for p in (coarse, fine)]
    assert bounds[0] <= bounds[1]


@pytest.mark.parametrize("search", ["location", "membership"])
def test_pricing_in_slices_gives_what_one_run_gives(search, monkeypatch):
    """The kernels return to Python after every bit of work and go on where they stopped."""
    limit = 99 if search == "location" else 0
    monkeypatch.setattr("radcluster.methods.colgen.pricing.pricer.MAX_LOCATION_DIMENSION", limit)
    problem = ProblemFactory(random_instance(11, per_cluster_radii=False)).build()
    prices, sigma = random_prices(problem, np.random.default_rng(11))
    looks = []
    pricer = Pricer(problem, check=lambda: looks.append(1))
    whole = pricer.exact(prices, sigma, TOLERANCE), pricer.quick(prices, sigma, TOLERANCE)
    seldom = len(looks)
    for module in ("boxes", "members", "greedy"):
        monkeypatch.setattr(f"radcluster.methods.colgen.pricing.{module}.WORK_AT_ONCE", 1)
    sliced = pricer.exact(prices, sigma, TOLERANCE), pricer.quick(prices, sigma, TOLERANCE)
    assert len(looks) - seldom > max(seldom, problem.n_groups)
    assert np.array_equal(whole[0].floor, sliced[0].floor)
    assert whole[0].nodes == sliced[0].nodes
    assert np.array_equal(whole[1][1], sliced[1][1])
