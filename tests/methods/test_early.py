"""What is decided before any work is done: large programs refused, nothing computed twice."""

import sys
import time
import tracemalloc

import numpy as np
import pytest
from cases import moons
from sklearn.datasets import load_iris

from radcluster import InputError, Instance, solve
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.graph.conflicts import analyse
from radcluster.methods.colgen import solve as colgen
from radcluster.methods.milp import _fewest_products
from radcluster.models import milp
from radcluster.proof.verify import violations

#: Points, clusters, radius, method, and the numbers that the refusal names.
LARGE = [
    (30_000, 5, 10.0, "milp", "at least 89,985,000 products of memberships, of at most 2,000,000"),
    (30_000, 300, 0.1, "milp", "30000 points take 7.2 GB, of at most 0.8"),
    (30_000, 300, 0.1, "pipeline", "30000 points take 7.2 GB, of at most 0.8"),
    (100_000, 5, 10.0, "milp", "at least 999,950,000 products"),
    (100_000, 5, 10.0, "minlp", "at least 999,950,000 products"),
    (100_000, 50_000, 0.001, "milp", "100000 points take 80.0 GB, of at most 0.8"),
]


@pytest.mark.parametrize(("n_points", "n_clusters", "radius", "method", "numbers"), LARGE)
def test_a_large_program_is_refused_at_once(n_points, n_clusters, radius, method, numbers):
    points = np.random.default_rng(0).random((n_points, 2))
    instance = Instance(points, n_clusters, radius)
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(InputError, match=numbers) as refusal:
        solve(instance, method)
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "Take method exact without a solver's name, or heuristic" in str(refusal.value)
    assert peak < 200e6, f"{peak / 1e6:.0f} MB"
    assert seconds < 5.0


@pytest.mark.parametrize("method", ["exact", "heuristic"])
def test_what_the_refusal_names_takes_the_instance(method):
    points = np.random.default_rng(0).random((30_000, 2))
    instance = Instance(points, 5, 10.0)
    result = solve(instance, method, time_limit=4)
    assert violations(instance, result.labels) == []


@pytest.mark.parametrize("seed", range(20))
def test_no_model_has_fewer_products_than_the_early_count(seed):
    """The count that refuses early is a lower bound, so nothing that fits is refused."""
    rng = np.random.default_rng(seed)
    widest = Instance(rng.random((40, 2)), 1, float(rng.uniform(0.1, 1)))
    feasible = fewest_clusters(widest).n_clusters + int(rng.integers(4))
    instance = widest.replace(n_clusters=feasible)
    products = milp.n_products(instance, analyse(instance).labelling)
    assert 0 < _fewest_products(instance) <= products, f"seed {seed}"


@pytest.mark.parametrize("method", ["exact", "colgen", "milp"])
def test_the_fewest_clusters_are_computed_once(method, monkeypatch):
    calls = []

    def counted(*arguments, **options):
        calls.append(arguments)
        return fewest_clusters(*arguments, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith("radcluster") and hasattr(module, "fewest_clusters"):
            monkeypatch.setattr(module, "fewest_clusters", counted)
    certificate = solve(moons(15), method).certificate
    assert certificate["fewest_clusters"] == 16
    assert len(calls) == 1


def test_column_generation_without_any_partition_ends(monkeypatch):
    """Where the time allows neither a partition nor a bound, there is an answer without both."""
    found = fewest_clusters(moons(16))
    unknown = type(found)("time_limit", None, None, None, {}, found.radius, 0.0)
    monkeypatch.setattr(colgen, "best_start", lambda *_, **__: None)
    monkeypatch.setattr(colgen, "fewest_clusters", lambda *_, **__: unknown)
    result = solve(moons(16), "colgen", time_limit=5)
    assert (result.status, result.labels) == ("time_limit", None)


def test_exact_keeps_its_limit_on_iris():
    instance = Instance(load_iris().data, 5, 1.072648591)
    solve(instance, "exact", time_limit=60)  # kernels compiled
    for limit in (0.5, 3.0):
        start = time.perf_counter()
        result = solve(instance, "exact", time_limit=limit)
        seconds = time.perf_counter() - start
        assert seconds <= limit + 1.0
        assert violations(instance, result.labels) == []
        assert 0.0 <= result.lower_bound <= result.objective * (1 + 1e-9)
        assert result.status == "optimal" or seconds >= 0.9 * limit


@pytest.mark.parametrize("name", ["HiGHS", "highs", "SCIP"])
def test_solver_names_in_any_case(name):
    line = Instance([[0.0], [1.0], [5.0], [6.0]], 2, 1.0)
    result = solve(line, "milp", name)
    assert (result.status, result.solver) == ("optimal", name.lower())
