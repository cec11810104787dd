"""A weight of w is w copies of the point: in the definition, in every model, in every search."""

import warnings

import numpy as np
import pytest
from cases import brute_force
from hypothesis import given, settings
from hypothesis import strategies as st

from radcluster import InputError, Instance, solve
from radcluster.conic.backends import solve_program
from radcluster.conic.compiling.compiler import compile_model
from radcluster.methods.colgen.columns import Columns
from radcluster.methods.colgen.primal import rounded
from radcluster.methods.colgen.problem import ProblemFactory
from radcluster.models import sdp
from radcluster.problem.partition import objective_of, sq_center_distances
from radcluster.relaxation.sdp import solve_sdp
from radcluster.solvers import mip
from radcluster.solvers.options import Options
from radcluster.solvers.registry import SOLVERS
from radcluster.status import Status

SEEDS = range(4)


def weighted_instance(seed, n=8, distances=False):
    """Random points, real weights, a radius that binds; feasible by construction."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2)) * [2.0, 1.0]
    weights = np.exp(rng.normal(scale=1.2, size=n)) * 10.0 ** rng.integers(-3, 4)
    radius = rng.uniform(0.3, 0.6)
    if not distances:
        return Instance(points, 4, radius, sample_weight=weights)
    d = np.abs(points[:, None] - points[None]).sum(axis=2) ** 1.5
    return Instance.from_distances(d, 4, radius, sample_weight=weights)


def copies(instance, weights):
    """Unweighted points, each as often as its weight says."""
    which = np.repeat(np.arange(instance.n_points), weights)
    return Instance(instance.points[which], instance.n_clusters, instance.radius), which


@pytest.mark.parametrize("distances", [False, True], ids=["points", "distances"])
@pytest.mark.parametrize("method", ["exact", "milp", "colgen", "sdp_tree", "pipeline", "heuristic"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_method_against_enumeration(seed, method, distances):
    instance = weighted_instance(seed, distances=distances)
    optimum = brute_force(instance)
    if not np.isfinite(optimum):
        assert solve(instance, method).status == "infeasible", f"seed {seed}"
        return
    result = solve(instance, method)
    assert result.objective >= optimum * (1 - 1e-9), f"seed {seed}"
    assert result.lower_bound <= optimum * (1 + 1e-7), f"seed {seed}"
    if method in ("exact", "milp", "colgen"):
        assert result.status == "optimal", f"seed {seed}"
        assert result.objective == pytest.approx(optimum, rel=1e-6), f"seed {seed}"


MILP = [info.name for info in SOLVERS.values() if "MILP" in info.classes]


def spread_weights(seed, factor):
    """Six points in one or two clusters, with weights that differ by up to this factor."""
    rng = np.random.default_rng(seed)
    weights = factor ** rng.uniform(size=6)
    return Instance(rng.normal(size=(6, 2)), 1 + seed % 2, sample_weight=weights)


@pytest.mark.parametrize("solver", MILP)
@pytest.mark.parametrize("factor", [1e3, 1e6, 1e10])
def test_weights_of_very_different_sizes(factor, solver):
    """Solvers called such instances infeasible, and wrong partitions optimal."""
    for seed in range(4):
        instance = spread_weights(seed, factor)
        best = brute_force(instance)
        result = solve(instance, "milp", solver)
        assert result.status in ("optimal", "feasible"), f"seed {seed}"
        assert result.lower_bound <= best * (1 + 1e-9), f"seed {seed}"
        assert result.objective >= best * (1 - 1e-9), f"seed {seed}"
        if result.status == "optimal":
            assert result.objective == pytest.approx(best, rel=1e-6), f"seed {seed}"


def test_a_claim_of_infeasibility_is_repeated_without_weights(monkeypatch):
    """Weights do not decide whether there is a partition."""
    honest, claims = mip._solve_new, []

    def errs_on_weights(info, model, options, problem_class):
        if len(set(model.weight.values())) > 1:
            claims.append(info.name)
            return Status.INFEASIBLE, False, None, "fake"
        return honest(info, model, options, problem_class)

    monkeypatch.setattr(mip, "_solve_new", errs_on_weights)
    instance = spread_weights(1, 10.0)
    result = solve(instance, "milp")
    assert claims and result.status == "feasible" and result.lower_bound == 0.0
    assert result.objective == pytest.approx(objective_of(instance, result.labels))
    assert "errs" in result.steps[0].note
    # The triangle of conflicts is only found by the search, without the clique of anchors.
    triangle = Instance([[0.0], [1.0], [2.0]], 2, 0.3, sample_weight=[1.0, 2.0, 3.0])
    assert solve(triangle, "milp", anchored=False).status == "infeasible"


@pytest.mark.parametrize("seed", SEEDS)
def test_eq8_as_printed_takes_weights(seed):
    instance = weighted_instance(seed, n=6)
    optimum = brute_force(instance)
    result = solve(instance, "minlp", "scip")
    if np.isfinite(optimum):
        assert result.objective == pytest.approx(optimum, rel=1e-5), f"seed {seed}"
    else:
        assert result.status == "infeasible", f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_many_dimensions(seed):
    """The pricing of many dimensions bounds by the final mass, which real weights make real."""
    rng = np.random.default_rng(seed)
    points = rng.random((9, 7))
    instance = Instance(points, 3, 0.65, sample_weight=rng.uniform(0.2, 3.0, 9))
    optimum = brute_force(instance)
    result = solve(instance, "colgen")
    if np.isfinite(optimum):
        assert result.status == "optimal", f"seed {seed}"
        assert result.objective == pytest.approx(optimum, rel=1e-6), f"seed {seed}"
    else:
        assert result.status == "infeasible", f"seed {seed}"


@given(
    points=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=3, max_size=7, unique=True
    ),
    weights=st.lists(st.integers(1, 4), min_size=7, max_size=7),
    n_clusters=st.integers(1, 3),
    radius=st.sampled_from([1.0, 1.5, 2.5, np.inf]),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_weight_equals_copies(points, weights, n_clusters, radius):
    weights = np.array(weights[: len(points)])
    light = Instance(np.array(points, float), n_clusters, radius, sample_weight=weights)
    heavy, _ = copies(light, weights)
    ours, theirs = solve(light), solve(heavy)
    assert ours.status == theirs.status
    if ours.status == "optimal":
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-6, abs=1e-9)
        assert ours.objective == pytest.approx(brute_force(light), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_and_centres_of_copies(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, 10)
    light = Instance(rng.random((10, 3)), 3, sample_weight=weights)
    heavy, which = copies(light, weights)
    labels = np.r_[0, 1, 2, rng.integers(0, 3, 7)]
    assert objective_of(light, labels) == pytest.approx(objective_of(heavy, labels[which]))
    assert np.allclose(
        sq_center_distances(light, labels)[which], sq_center_distances(heavy, labels[which])
    )
    by_distance = Instance.from_distances(light.sq_distances, 3, sample_weight=weights)
    assert objective_of(by_distance, labels) == pytest.approx(objective_of(light, labels))


@pytest.mark.parametrize("form", ["perspective", "peng_wei", "paper"])
@pytest.mark.parametrize("seed", SEEDS)
def test_relaxations_of_copies_are_the_same(seed, form):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 7)
    light = Instance(rng.random((7, 2)), 2, 0.6, sample_weight=weights)
    heavy, which = copies(light, weights)
    links = [(a, a + 1) for a in range(len(which) - 1) if which[a] == which[a + 1]]
    values = []
    for instance in (light, heavy.replace(must_link=links)):
        program = compile_model(sdp.build(instance, form=form))
        solution = solve_program(program, "clarabel", Options(), None)
        assert solution.status == "optimal", f"seed {seed}"
        values.append(program.objective(solution.x))
    assert values[0] == pytest.approx(values[1], rel=1e-5, abs=1e-6), f"seed {seed}"


@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_relaxation_bounds_the_weighted_optimum(seed, border):
    rng = np.random.default_rng(seed)
    instance = Instance(rng.random((8, 2)), 3, 0.5, sample_weight=rng.uniform(0.1, 5.0, 8))
    optimum = brute_force(instance)
    bound = solve_sdp(instance, form="perspective", border=border).lower_bound
    assert 0 < bound <= optimum * (1 + 1e-7), f"seed {seed}"


def test_weights_follow_an_instance():
    instance = Instance([[0.0], [1.0], [5.0]], 2, sample_weight=[1, 2, 3])
    assert instance.is_weighted and instance.weights.dtype == float
    for other in (instance.replace(n_clusters=1), instance.scaled(2.0)):
        assert other.weights.tolist() == [1.0, 2.0, 3.0]
    assert instance.replace(sample_weight=None).weights.tolist() == [1.0, 1.0, 1.0]
    assert not Instance([[0.0], [1.0]], 1).is_weighted
    assert "weighted" in repr(instance)
    with pytest.raises(ValueError, match="read-only"):
        instance.weights[0] = 2.0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0, 1], r"sample_weight\[1\] is 0.0: weights must be positive"),
        ([1, 1, -2], r"sample_weight\[2\] is -2.0"),
        ([np.nan, 1, 1], r"sample_weight\[0\] is nan"),
        ([1, np.inf, 1], r"sample_weight\[1\] is inf"),
        ([1, 1], r"shape \(3,\)"),
        ([[1], [1], [1]], r"shape \(3,\)"),
        (["a", "b", "c"], "array of numbers"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(InputError, match=message):
        Instance([[0.0], [1.0], [5.0]], 2, sample_weight=weights)


def test_weights_below_one_are_weights_in_the_rounding_of_a_cover():
    """A cluster begun from nothing had its mass cut to whole numbers, and 0 was divided by."""
    instance = Instance([[0.0], [1.0], [2.0]], 1, sample_weight=[0.3, 0.4, 0.5])
    problem = ProblemFactory(instance).build()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        groups = rounded(problem, Columns.of([np.arange(3)]), np.zeros(1))
    assert groups.tolist() == [0, 0, 0]
