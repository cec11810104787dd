"""Properties that hold for every instance, searched for counterexamples by Hypothesis.

What was ever found to be wrong is kept in ``tests/found/examples.json`` and tried first. Hypothesis
has a database of its own, too, but it forgets an example once it passes, or the test was edited.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
from cases import brute_force
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from radcluster import Instance, Result, min_clusters, min_radius, solve
from radcluster.proof.certificates import check
from radcluster.proof.verify import violations

KEPT = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
FOUND = json.loads((Path(__file__).parent / "found" / "examples.json").read_text())


def found_before(test):
    """The test, with the arguments on which it was wrong once as its first examples."""
    for one in FOUND:
        if one["test"] == test.__name__:
            test = example(*one["arguments"])(test)
    return test


NUMBERS = st.integers(-40, 40).map(lambda n: n / 8)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=8)
RADII = st.sampled_from([0.25, 0.5, 1.0, 2**0.5 / 2, 2.5, math.inf])
CLUSTERS = st.integers(1, 3)
PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=3)
EXPONENTS = st.lists(st.sampled_from([-5, -2, -1, 0, 0, 0, 1, 5]), min_size=8, max_size=8)
UNITS = st.sampled_from([1e-9, 1e-3, 1.0, 1e3, 1e9])


def optimum(points, k, radius, **more) -> float:
    """The proven optimum; inf when infeasible."""
    result = solve(Instance(np.array(points, dtype=float), k, radius, **more), "milp")
    if result.status == "infeasible":
        return math.inf
    assert result.status == "optimal"
    return result.objective


def same(a: float, b: float, size: float) -> bool:
    return a == b or abs(a - b) <= 2e-6 * max(abs(a), abs(b)) + 1e-12 * size


@KEPT
@given(POINTS, st.integers(1, 4), RADII, PAIRS, EXPONENTS)
@found_before
def test_every_method_is_right(points, k, radius, pairs, exponents):
    """Against enumeration, with links, and weights that differ by up to ten orders of magnitude."""
    n = len(points)
    instance = Instance(
        np.array(points),
        min(k, n),
        math.inf if radius is None else radius,
        cannot_link=[(i, j) for i, j in pairs if i < n and j < n and i != j],
        sample_weight=[10.0**e for e in exponents[:n]],
    )
    best = brute_force(instance)
    slack = 1e-9 * best + 1e-12
    for method in ("exact", "milp", "colgen", "sdp_tree"):
        result = solve(instance, method)
        assert (result.status == "infeasible") == math.isinf(best), method
        if math.isfinite(best):
            assert violations(instance, result.labels) == [], method
            assert result.lower_bound <= best + slack and result.objective >= best - slack, method
            if result.status == "optimal":
                assert result.objective <= best * (1 + 1e-6) + slack, method


def test_each_of_what_was_found_has_its_test():
    assert all(one["test"] in globals() and one["wrong"] for one in FOUND)


@KEPT
@given(POINTS, CLUSTERS, RADII, UNITS, st.randoms(use_true_random=False))
def test_moved_turned_permuted_and_scaled(points, k, radius, unit, rng):
    points = np.array(points)
    best = optimum(points, k, radius)
    order = list(range(len(points)))
    rng.shuffle(order)
    turned = points[order] @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 16.0
    other = optimum(turned * unit, k, radius * unit)
    assert same(other, best * unit**2, float(np.ptp(points) ** 2) * unit**2)


@KEPT
@given(POINTS, CLUSTERS, RADII, RADII)
def test_a_larger_radius_or_more_clusters_never_cost_more(points, k, one, two):
    small, large = sorted((one, two))
    best = optimum(points, k, small)
    assert optimum(points, k, large) <= best * (1 + 2e-6) + 1e-9
    if k < len(points):
        assert optimum(points, k + 1, small) <= best * (1 + 2e-6) + 1e-9


@KEPT
@given(POINTS, CLUSTERS, RADII)
def test_a_cannot_link_never_lowers_the_optimum(points, k, radius):
    linked = optimum(points, k, radius, cannot_link=[(0, 1)])
    assert linked >= optimum(points, k, radius) * (1 - 2e-6) - 1e-9


@KEPT
@given(POINTS, CLUSTERS, st.lists(st.integers(1, 2), min_size=8, max_size=8))
def test_a_weight_is_so_many_copies(points, k, weights):
    weights = weights[: len(points)]
    copies = [point for point, w in zip(points, weights, strict=True) for _ in range(w)]
    first = np.cumsum([0, *weights[:-1]])
    linked = [(int(a), int(a) + 1) for a, w in zip(first, weights, strict=True) if w == 2]
    weighted = optimum(points, k, math.inf, sample_weight=weights)
    assert same(weighted, optimum(copies, k, math.inf, must_link=linked), 100.0)


@KEPT
@given(POINTS, RADII, RADII)
def test_fewest_clusters_and_smallest_radius_are_monotone(points, one, two):
    points = np.array(points)
    small, large = sorted((one, two))
    fewest = min_clusters(points, small)
    assert min_clusters(points, large).n_clusters <= fewest.n_clusters
    k = fewest.n_clusters
    needed = min_radius(points, k).radius
    assert needed <= small * (1 + 1e-9)
    instance = Instance(points, k, small)
    assert violations(instance, fewest.labels) == []
    if fewest.lower_bound > 1:
        assert check(fewest.certificate, instance.replace(n_clusters=fewest.lower_bound - 1))


@KEPT
@given(POINTS)
def test_the_smallest_radius_falls_with_more_clusters(points):
    radii = [min_radius(np.array(points), k).radius for k in range(1, len(points) + 1)]
    assert all(later <= earlier for earlier, later in itertools.pairwise(radii))
    assert radii[-1] == 0.0


@KEPT
@given(POINTS, CLUSTERS)
@found_before
def test_without_a_radius_it_is_k_means(points, k):
    """The radius of the whole set forbids nothing; enumeration knows no radius at all."""
    best = brute_force(Instance(np.array(points), k))
    extent = 2 * float(np.ptp(points, axis=0).max()) + 1.0
    for radius in (math.inf, extent):
        assert same(optimum(points, k, radius), best, 100.0)


@KEPT
@given(POINTS, CLUSTERS, st.floats(0.0, 6.28))
def test_turned_by_any_angle(points, k, angle):
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    assert same(optimum(np.array(points) @ turn, k, math.inf), optimum(points, k, math.inf), 100.0)


@KEPT
@given(POINTS, CLUSTERS, RADII)
def test_json_and_back_and_certificates(points, k, radius):
    instance = Instance(np.array(points), k, radius)
    result = solve(instance, "milp")
    assert Result.from_json(result.to_json()) == result
    if result.status == "infeasible" and result.certificate["kind"] != "search":
        assert check(result.certificate, instance)


@KEPT
@given(
    st.sampled_from([1, 10, 2000]),
    st.sampled_from([0.5, 0.5 * (1 + 1e-13), 0.5 * (1 - 1e-9)]),
)
def test_duplicates_and_pairs_at_exactly_2r(copies, radius):
    """d_ij <= 4 r^2 (1 + 1e-12) is the stated rule: 1 apart fits r = 1/2, not 1e-9 less."""
    points = np.array([[0.0], [1.0]] + [[0.0]] * copies)
    fits = radius > 0.5 * (1 - 1e-10)
    assert (solve(Instance(points, 1, radius), "exact").status == "optimal") == fits
