"""Branch and price: proven optima, bounds that never cross them, honest stops."""

import csv
import math
from functools import partial
from importlib.resources import files

import numpy as np
import pytest
from cases import MOONS_OPTIMA, brute_force, moons, random_instance
from sklearn.datasets import load_iris

from radcluster import InputError, Instance
from radcluster.api import solve
from radcluster.clock import Clock
from radcluster.datasets import ruspini, two_moons
from radcluster.graph.conflicts import analyse
from radcluster.methods.colgen.branching import Decisions, trimmed
from radcluster.methods.colgen.columns import Columns
from radcluster.methods.colgen.problem import ProblemFactory
from radcluster.methods.colgen.search import Search
from radcluster.methods.heuristic.search import best_start
from radcluster.models import milp
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model
from radcluster.solvers.options import Options

solve_colgen = partial(solve, method="colgen")

#: Optimum of 200 moon points, K=32, r=.12: the relaxation is fractional, so it takes branching.
BRANCHING_OPTIMUM = 0.8417891965656283


def assert_proven(instance, optimum, **options):
    """Solve, and hold every bound that was ever reported against the optimum."""
    reports = []
    result = solve_colgen(instance, progress=reports.append, **options)
    if optimum == math.inf:
        assert result.status == "infeasible"
        assert result.labels is None
        assert result.certificate["kind"]
        return result
    slack = 1e-9 * optimum + 1e-12
    assert result.status == "optimal"
    assert violations(instance, result.labels) == []
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-12)
    assert result.objective == objective_of(instance, result.labels)
    assert all(report.bound <= optimum + slack for report in reports)
    assert all(report.incumbent >= optimum - slack for report in reports)
    assert result.lower_bound <= optimum + slack
    return result


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_random_instances_agree_with_enumeration(first):
    for seed in range(first, first + 25):
        instance = random_instance(seed, per_cluster_radii=False)
        assert_proven(instance, brute_force(instance))


def test_distances_alone_euclidean_or_not():
    rng = np.random.default_rng(1)
    for trial in range(30):
        n = int(rng.integers(4, 9))
        d = 4 * rng.random((n, n))
        d = np.triu(d, 1) + np.triu(d, 1).T
        if trial % 3 == 0:
            d = random_instance(trial).sq_distances
            n = len(d)
        must = [(0, 1)] if trial % 4 == 0 else []
        instance = Instance.from_distances(
            d, int(rng.integers(1, 4)), rng.choice([0.7, 0.9, np.inf]), must_link=must
        )
        assert_proven(instance, brute_force(instance))


def test_agrees_with_the_anchored_milp_with_links():
    rng = np.random.default_rng(2)
    for _ in range(6):
        points = rng.random((18, 2))
        pairs = [tuple(rng.choice(18, 2, replace=False).tolist()) for _ in range(3)]
        instance = Instance(points, 6, 0.3, cannot_link=pairs[:2], must_link=pairs[2:])
        analysis = analyse(instance)
        optimum = math.inf
        if analysis.certificate is None:
            model = milp.build(instance, analysis.labelling)
            outcome = solve_model(model, "highs", Options(time_limit=60, rel_gap=1e-9))
            assert outcome.status in ("optimal", "infeasible")
            if outcome.status == "optimal":
                optimum = outcome.objective
        assert_proven(instance, optimum)


@pytest.mark.parametrize(("n_clusters", "radius"), MOONS_OPTIMA)
def test_the_papers_instance(n_clusters, radius):
    assert_proven(moons(n_clusters, radius), MOONS_OPTIMA[n_clusters, radius])


def known_optima(dataset):
    with files("radcluster").joinpath("data/known_optima.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == dataset]
    assert rows
    return [
        (int(row["n_clusters"]), float(row["two_r"]) / 2, float(row["optimal_wcss"]))
        for row in rows
    ]


@pytest.mark.parametrize(("n_clusters", "radius", "optimum"), known_optima("ruspini"))
def test_plain_k_means_on_ruspini(n_clusters, radius, optimum):
    assert_proven(Instance(ruspini()[0], n_clusters, radius), optimum)


@pytest.mark.parametrize(
    ("n_clusters", "two_r", "optimum"),
    [(6, 36.62, 8677.511455), (6, 38.0, 8677.511455), (4, 47.64, 12881.051236)],
)
def test_ruspini_within_a_diameter(n_clusters, two_r, optimum):
    assert_proven(Instance(ruspini()[0], n_clusters, two_r / 2), optimum)


@pytest.mark.parametrize(("n_clusters", "radius", "optimum"), known_optima("iris"))
def test_plain_k_means_on_iris(n_clusters, radius, optimum):
    """Four dimensions, 25 points a cluster."""
    assert_proven(Instance(load_iris().data, n_clusters, radius), optimum)


def test_many_dimensions():
    """Points near a plane in seven dimensions are priced by location, others by membership."""
    rng = np.random.default_rng(6)
    flat = rng.random((8, 2)) @ rng.random((2, 7)) + 0.01 * rng.random((8, 7))
    for points in (flat, rng.random((8, 7))):
        for radius in (0.5, np.inf):
            instance = Instance(points, 3, radius)
            assert_proven(instance, brute_force(instance))


def test_a_fractional_relaxation_is_branched_on():
    instance = Instance(two_moons(n=(170, 30))[0], 32, 0.12)
    result = assert_proven(instance, BRANCHING_OPTIMUM)
    assert "1 nodes" not in result.steps[0].note


@pytest.mark.parametrize("solver", [n for n in ("scip", "glpk") if registry.get(n).installed])
def test_any_lp_solver_gives_the_same_optimum(solver):
    instance = moons(16, 0.18)
    result = assert_proven(instance, MOONS_OPTIMA[16, 0.18], solver=solver)
    assert result.solver == solver


def test_too_few_clusters_are_refused_with_a_proof():
    result = solve_colgen(moons(15, 0.189))
    assert result.status == "infeasible"
    points = result.certificate["points"]
    assert len(points) == 16
    apart = moons().sq_distances[np.ix_(points, points)][~np.eye(16, dtype=bool)]
    assert apart.min() > 4 * 0.189**2


def test_a_fractional_refusal_has_weights_that_hold():
    """A 5-cycle of compatible pairs: no three points conflict mutually, yet two clusters fail."""
    angle = 2 * np.pi * np.arange(5) / 5
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    instance = Instance(points, 2, 0.6)
    result = solve_colgen(instance)
    assert result.status == "infeasible"
    weights = dict(zip(result.certificate["points"], result.certificate["weights"], strict=True))
    # Only neighbours on the circle are compatible, so no admissible cluster outweighs a pair.
    heaviest = max(weights.get(i, 0) + weights.get((i + 1) % 5, 0) for i in range(5))
    assert heaviest <= result.certificate["capacity"]
    assert sum(weights.values()) > 2 * result.certificate["capacity"]


def test_contradicting_links_are_refused():
    instance = Instance([[0.0], [1.0], [9.0]], 2, must_link=[(0, 1)], cannot_link=[(0, 1)])
    certificate = solve_colgen(instance).certificate
    assert (certificate["kind"], certificate["pair"]) == ("must_link", [0, 1])


def test_one_radius_per_cluster_is_refused_by_name():
    with pytest.raises(InputError, match="method='milp'"):
        solve_colgen(Instance([[0.0], [1.0], [9.0]], 2, [1.0, 2.0]))


@pytest.mark.parametrize("time_limit", [0.0, 0.05, 0.3])
def test_a_short_time_limit_leaves_a_valid_bound(time_limit):
    instance = Instance(two_moons(n=(340, 60))[0], 20, 0.2)
    optimum = 3.4049484723200147
    result = solve_colgen(instance, time_limit=time_limit)
    assert 0 <= result.lower_bound <= optimum
    assert violations(instance, result.labels) == []
    assert result.objective >= optimum * (1 - 1e-9)
    assert result.status == ("optimal" if result.gap <= 1e-6 else "time_limit")


def test_an_interrupt_keeps_the_incumbent_and_the_bound():
    def interrupt(report):
        if report.iteration == 4:
            raise KeyboardInterrupt

    instance = moons()
    result = solve_colgen(instance, progress=interrupt)
    assert result.status == "interrupted"
    assert violations(instance, result.labels) == []
    assert 0 < result.lower_bound <= MOONS_OPTIMA[16, 0.189]


def test_a_wider_gap_ends_earlier():
    instance = moons(17, 0.18)
    exact, rough = (solve_colgen(instance, rel_gap=gap) for gap in (1e-6, 0.1))
    assert rough.status == "optimal"
    assert rough.gap <= 0.1
    assert rough.lower_bound <= exact.objective * (1 + 1e-9)


@pytest.mark.parametrize("factor", [1e-4, 1e5])
def test_units_do_not_matter(factor):
    points = two_moons()[0] * factor + 3 * factor
    optimum = MOONS_OPTIMA[17, 0.18] * factor**2
    assert_proven(Instance(points, 17, 0.18 * factor), optimum)


@pytest.mark.parametrize("n_clusters", [1, 5, 6])
def test_trivial_sizes_and_duplicates(n_clusters):
    points = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 2.0], [2.0, 2.0]]
    instance = Instance(points, n_clusters)
    assert_proven(instance, brute_force(instance))


def test_nodes_of_the_tree_bound_their_own_instances():
    """Pairs joined and separated by branching are links: each node is an instance of its own."""
    rng = np.random.default_rng(4)
    bounds, best = [], []
    for seed in range(100):
        instance = random_instance(seed, per_cluster_radii=False)
        n = instance.n_points
        pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(3)]
        node = Decisions(together=tuple(pairs[:1]), apart=tuple(pairs[1:]))
        narrowed = instance.replace(
            must_link=[*instance.must_link.tolist(), *node.together],
            cannot_link=[*instance.cannot_link.tolist(), *node.apart],
        )
        optimum = brute_force(narrowed)
        factory = ProblemFactory(instance)
        problem = factory.build(node.together, node.apart)
        root = factory.build()
        groups = None if root is None else best_start(root, rng)
        if problem is None or groups is None:
            assert optimum == math.inf or groups is None
            continue
        search = Search(factory, root, groups, rel_gap=1e-9, clock=Clock(None))
        bound = search.relaxation.solve(node, problem, 0.0, 0.0).bound + root.offset
        assert bound <= optimum * (1 + 1e-9) + 1e-12
        bounds.append(bound)
        best.append(min(optimum, search.upper_bound))
    assert len(bounds) > 20
    # Relaxations this small are integral, so the bounds are tight as well as valid.
    assert bounds == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_a_cover_is_trimmed_to_exactly_once_and_groups_leave_whole():
    columns = Columns.of([[0, 1, 2], [0, 1], [2, 3]])
    values = np.array([1.0, 0.5, 1.0])
    cover = trimmed(columns, values, np.array([0, 0, 1, 2]))
    covered = np.zeros(4)
    for members, value in cover.items():
        assert (0 in members) == (1 in members)
        covered[list(members)] += value
    assert covered == pytest.approx(1.0)


def test_great_circles_are_proven_like_their_projection():
    """Distances on a sphere are nearly those of a plane, and are embedded without loss."""
    rng = np.random.default_rng(0)
    lat, lon = np.radians(48 + rng.normal(size=300) * 0.05), np.radians(rng.normal(size=300) * 0.08)
    half = np.sin((lat[:, None] - lat) / 2) ** 2
    half = half + np.cos(lat[:, None]) * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    arcs = 2 * 6371.0 * np.arcsin(np.sqrt(half))
    result = solve(Instance.from_distances(arcs**2, 200, 1.0), "colgen", time_limit=60)
    assert result.status == "optimal"
    plane = 6371.0 * np.column_stack([lon * np.cos(lat.mean()), lat])
    projected = solve(Instance(plane, 200, 1.0), "colgen", time_limit=60)
    assert projected.status == "optimal"
    assert result.objective == pytest.approx(projected.objective, rel=1e-3)
