"""Fewest clusters: against enumeration, against known values, with proofs that hold."""

import json
import subprocess
import sys
from itertools import combinations

import networkx as nx
import numpy as np
import pyomo.environ as pyo
import pytest
from cases import moons, random_instance
from sklearn.datasets import load_iris

from radcluster import InputError, Instance
from radcluster.clock import Clock
from radcluster.datasets import ruspini, two_moons
from radcluster.feasibility.covering import Effort, cover_graph
from radcluster.feasibility.min_clusters import fewest_clusters, min_clusters
from radcluster.feasibility.recheck import check
from radcluster.graph.compatible_sets import CompatibleSets
from radcluster.graph.conflicts import ConflictGraph
from radcluster.models import cover
from radcluster.proof.verify import violations
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model


def ring(n: int, reach: int = 1) -> np.ndarray:
    """n points in a circle of which each conflicts with its ``reach`` neighbours on both sides."""
    i = np.arange(n)
    gap = np.abs(i[:, None] - i[None, :])
    near = np.minimum(gap, n - gap) <= reach
    return np.where(near & (gap > 0), 4.0, 1.0) * (gap > 0)


def brute_force_fewest(instance: Instance) -> float:
    """Fewest colours by trying every colouring; inf when must-links contradict conflicts."""
    graph = ConflictGraph(instance)
    if graph.broken_must_link():
        return np.inf
    conflicts = graph.group_matrix

    def extend(colours):
        if len(colours) == len(conflicts):
            return max(colours) + 1
        v = len(colours)
        taken = {colours[u] for u in range(v) if conflicts[u, v]}
        options = [c for c in range(max(colours, default=-1) + 2) if c not in taken]
        return min(extend([*colours, c]) for c in options)

    return extend([])


def proves(found, instance: Instance) -> bool:
    """Whether the certificate shows that one cluster less than the bound does not suffice."""
    fewer = instance.replace(n_clusters=max(found.lower_bound - 1, 1))
    return found.lower_bound == 1 or check(found.certificate, fewer)


def assert_holds(found, instance: Instance) -> None:
    assert not violations(instance.replace(n_clusters=found.n_clusters), found.labels)
    assert found.lower_bound <= found.n_clusters
    assert proves(found, instance)


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_enumeration(seed):
    instance = random_instance(seed, max_points=8, per_cluster_radii=False)
    found = fewest_clusters(instance)
    expected = brute_force_fewest(instance)
    if expected == np.inf:
        assert (found.status, found.labels, found.n_clusters) == ("infeasible", None, None)
        assert check(found.certificate, instance)
    else:
        assert (found.status, found.n_clusters) == ("optimal", expected)
        assert_holds(found, instance)


@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_the_whole_cover_on_random_graphs(seed):
    """Random graphs have parts, odd cycles and fractional covers that points rarely show."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 22))
    conflicts = np.triu(rng.random((n, n)) < rng.choice([0.3, 0.5, 0.7]), 1)
    instance = Instance.from_distances(4.0 * (conflicts | conflicts.T), 1, radius=0.5)
    model = cover.build(cover.maximal_sets(instance), n)
    solve_model(model, "scip")
    found = fewest_clusters(instance)
    assert (found.status, found.n_clusters) == ("optimal", len(cover.chosen(model)))
    assert_holds(found, instance)


@pytest.mark.parametrize(
    ("radius", "fewest"),
    [(0.17, 17), (0.175, 16), (0.18, 16), (0.185, 16), (0.189, 16), (0.195, 15), (0.2, 15)],
)
def test_moons(radius, fewest):
    found = fewest_clusters(moons(1, radius))
    assert (found.status, found.n_clusters, found.lower_bound) == ("optimal", fewest, fewest)
    assert found.certificate["kind"] == "clique"
    assert len(found.certificate["points"]) == fewest
    assert_holds(found, moons(1, radius))


@pytest.mark.parametrize(("two_r", "fewest"), [(47.634022, 4), (47.6340, 5), (40.249224, 5)])
def test_ruspini(two_r, fewest):
    assert min_clusters(ruspini()[0], two_r / 2).n_clusters == fewest


def test_iris_needs_fewer_than_complete_linkage():
    assert min_clusters(load_iris().data, 2.5846 / 2).n_clusters == 3


@pytest.mark.parametrize("radius", [0.2, 0.1])
def test_a_thousand_points(radius):
    points = two_moons(n=(850, 150))[0]
    found = min_clusters(points, radius)
    assert found.status == "optimal"
    assert_holds(found, Instance(points, 1, radius))


def test_odd_ring_is_proven_by_weights():
    """A ring of 5 has no clique of 3, yet needs 3 clusters: 5 weights of 1, 2 a cluster."""
    instance = Instance.from_distances(ring(5), 1, radius=0.5)
    found = fewest_clusters(instance)
    assert found.n_clusters == 3
    assert found.certificate == {
        "kind": "weights",
        "points": [0, 1, 2, 3, 4],
        "weights": [1, 1, 1, 1, 1],
        "capacity": 2,
    }
    assert proves(found, instance)


def test_parts_are_rounded_up_each():
    """Two rings far apart: 2.5 + 2.5 needs 6, which one rounding would miss."""
    far = np.full((5, 5), 4.0)
    instance = Instance.from_distances(np.block([[ring(5), far], [far, ring(5)]]), 1, radius=0.5)
    found = fewest_clusters(instance)
    assert (found.n_clusters, found.certificate["kind"]) == (6, "weights")
    assert proves(found, instance)


@pytest.mark.parametrize("solver", [info.name for info in registry.usable("MILP")])
def test_search_where_the_fractional_bound_falls_short(solver):
    """The Groetzsch graph: no triangle, fractional cover 2.9, chromatic number 4."""
    adjacency = nx.to_numpy_array(nx.mycielski_graph(4))
    instance = Instance.from_distances(4.0 * adjacency, 1, radius=0.5)
    found = fewest_clusters(instance, solver=solver)
    assert (found.status, found.n_clusters) == ("optimal", 4)
    assert found.certificate["kind"] == "search"
    assert found.certificate["solver"] == solver
    assert proves(found, instance)


def test_relaxed_cover_is_the_fractional_bound():
    adjacency = nx.to_numpy_array(nx.mycielski_graph(4))
    instance = Instance.from_distances(4.0 * adjacency, 1, radius=0.5)
    model = cover.build(cover.maximal_sets(instance), instance.n_points, relax=True)
    solve_model(model, "highs", problem_class="LP")
    assert pyo.value(model.n_clusters) == pytest.approx(2.9, abs=1e-9)
    (part,) = cover_graph(adjacency > 0, Effort()).parts
    assert part.weights.sum() / part.capacity == pytest.approx(2.9, abs=1e-5)


def test_cover_names_a_point_in_no_set():
    with pytest.raises(InputError, match="point 2 lies in none of the 1 sets"):
        cover.build([{0, 1}], n_points=3)


@pytest.mark.parametrize("seed", range(10))
def test_heaviest_and_maximal_sets(seed):
    rng = np.random.default_rng(seed)
    compatible = np.triu(rng.random((12, 12)) < 0.6, 1)
    compatible |= compatible.T
    weights = rng.integers(0, 9, size=12)
    graph = nx.from_numpy_array(compatible)
    nx.set_node_attributes(graph, dict(enumerate(weights.tolist())), "weight")
    _, heaviest = nx.max_weight_clique(graph, "weight")
    sets = CompatibleSets(compatible, weights)
    heavier, capacity = sets.heavier(0, Clock(None))
    assert capacity == heaviest == max(weights[members].sum() for members in heavier)
    assert sets.heavier(heaviest, Clock(None)) == ([], heaviest)
    expected = {
        tuple(sorted(c)) for c in nx.find_cliques(graph) if weights[c].sum() >= heaviest // 2
    }
    assert {tuple(c) for c in sets.maximal(heaviest // 2, Clock(None))} == expected
    for members in sets.greedy(0):
        assert all(compatible[i, j] for i, j in combinations(members, 2))


def test_links():
    points = [[0.0], [0.1], [0.2], [9.0]]
    assert min_clusters(points, 1.0).n_clusters == 2
    assert min_clusters(points, 1.0, cannot_link=[(0, 1), (1, 2), (0, 2)]).n_clusters == 4
    assert min_clusters(points, 1.0, cannot_link=[(0, 1)], must_link=[(1, 2)]).n_clusters == 3
    broken = min_clusters(points, 1.0, must_link=[(0, 1), (1, 3)])
    assert broken.status == "infeasible" and broken.certificate["pair"] == [1, 3]


def test_extremes():
    points = np.arange(5.0).reshape(-1, 1)
    assert min_clusters(points, np.inf).n_clusters == 1
    assert min_clusters(points, 0).n_clusters == 5
    assert min_clusters(np.zeros((4, 2)), 0).n_clusters == 1
    assert min_clusters([[1.0]], 1).certificate == {"kind": "clique", "points": [0]}
    assert json.loads(min_clusters(points, np.inf).to_json())["radius"] is None


def test_refuses_what_it_cannot_do():
    with pytest.raises(InputError, match="one radius"):
        fewest_clusters(Instance([[0.0], [1.0]], 2, radius=[1.0, 2.0]))
    with pytest.raises(InputError, match="number of seconds"):
        min_clusters([[0.0]], 1.0, time_limit=-1)
    with pytest.raises(InputError, match="scs cannot solve cover"):
        min_clusters([[0.0]], 1.0, solver="scs")


def test_time_limit_keeps_the_bounds_valid():
    points = np.random.default_rng(0).random((600, 2))
    found = min_clusters(points, 0.07, time_limit=0.3)
    assert found.status in ("optimal", "time_limit")
    assert_holds(found, Instance(points, 1, 0.07))


def run(*arguments):
    command = [sys.executable, "-c", "from radcluster.cli import main; main()"]
    command += map(str, arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_command_line(tmp_path):
    path = tmp_path / "moons.csv"
    np.savetxt(path, moons().points, delimiter=",", fmt="%.17g")
    done = run("min-clusters", path, "-r", 0.189, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["n_clusters"] == answer["lower_bound"] == 16
    assert check(answer["certificate"], moons(15))
    assert not violations(moons(16), np.array(answer["labels"]))
    text = run("min-clusters", path, "-r", 0.189).stdout
    assert "16 clusters suffice at radius 0.189" in text
    assert "these 16 points are pairwise more than 0.378 apart" in text


def test_command_line_infeasible_links(tmp_path):
    (tmp_path / "line.csv").write_text("0\n1\n9\n")
    (tmp_path / "links.csv").write_text("0,2\n")
    links = ("--must-link", tmp_path / "links.csv")
    done = run("min-clusters", tmp_path / "line.csv", "-r", 1, *links)
    assert done.returncode == 3
    assert "points 0 and 2 are must-linked but 9 apart, more than 2" in done.stdout
