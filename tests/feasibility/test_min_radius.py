"""Smallest radius: against enumeration, against known values, with proofs that hold."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from cases import brute_force, moons, random_instance
from sklearn.datasets import load_iris, load_wine

from radcluster import InputError, Instance
from radcluster.clock import Clock
from radcluster.datasets import ruspini, two_moons
from radcluster.feasibility.covering import Effort
from radcluster.feasibility.min_radius import decide, min_radius, smallest_radius
from radcluster.feasibility.recheck import check
from radcluster.proof.verify import violations


def assert_holds(found, instance: Instance) -> None:
    """The radius suffices with these labels; a certificate refutes all below the bound."""
    at_radius = instance.replace(radius=found.radius)
    assert not violations(at_radius, found.labels)
    assert found.lower_bound <= found.radius
    if found.certificate is None:
        assert found.lower_bound == 0
    else:
        refuted = found.certificate["radius"]
        assert refuted < found.lower_bound
        between = np.sqrt(instance.sq_distances) / 2
        assert not ((between > refuted) & (between < found.lower_bound * (1 - 1e-12))).any()
        assert check(found.certificate, instance.replace(radius=refuted))


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_enumeration(seed):
    instance = random_instance(seed, max_points=7, per_cluster_radii=False)
    found = smallest_radius(instance)
    radii = np.sqrt(np.unique(instance.sq_distances)) / 2
    feasible = [r for r in radii if math.isfinite(brute_force(instance.replace(radius=r)))]
    if not feasible:
        assert (found.status, found.radius, found.labels) == ("infeasible", math.inf, None)
        assert check(found.certificate, instance.replace(radius=math.inf))
    else:
        assert (found.status, found.radius) == ("optimal", pytest.approx(min(feasible)))
        assert_holds(found, instance)


@pytest.mark.parametrize(
    ("points", "n_clusters", "two_r"),
    [
        (two_moons()[0], 16, 2 * 0.17141),
        (two_moons()[0], 15, 2 * 0.19276),
        (load_iris().data, 3, 2.584570),
        (load_wine().data, 3, 458.133209),
        (ruspini()[0], 4, 47.634021),
        (ruspini()[0], 5, 40.249224),
    ],
)
def test_known_values(points, n_clusters, two_r):
    found = min_radius(points, n_clusters)
    assert found.status == "optimal"
    assert 2 * found.radius == pytest.approx(two_r, abs=1e-5)
    assert_holds(found, Instance(points, n_clusters))


def test_a_thousand_points():
    points = two_moons(n=(850, 150))[0]
    found = min_radius(points, 20)
    assert found.status == "optimal"
    assert_holds(found, Instance(points, 20))


def test_the_proof_of_the_moons_is_sixteen_points():
    found = smallest_radius(moons(15))
    assert found.certificate["kind"] == "clique" and len(found.certificate["points"]) == 16


def test_extremes():
    points = [[0.0], [1.0], [1.0], [4.0]]
    assert min_radius(points, 1).radius == 2.0
    assert min_radius(points, 3).radius == 0.0
    whole = min_radius(points, 4)
    assert (whole.radius, whole.certificate, sorted(whole.labels)) == (0.0, None, [0, 1, 2, 3])
    with pytest.raises(InputError, match="exceeds the number of points"):
        min_radius(points, 5)


def test_links_move_the_radius():
    points = [[0.0], [1.0], [5.0], [6.0]]
    assert min_radius(points, 2).radius == 0.5
    assert min_radius(points, 2, cannot_link=[(0, 1)]).radius == 2.5
    assert min_radius(points, 2, must_link=[(1, 2)]).radius == 2.5


@pytest.mark.parametrize(
    ("links", "kind"),
    [
        ({"cannot_link": [(0, 1), (1, 2), (0, 2)]}, "clique"),
        ({"cannot_link": [(0, 2)], "must_link": [(0, 1), (1, 2)]}, "must_link"),
        ({"must_link": [(0, 1), (1, 2), (2, 3)]}, "must_link_groups"),
    ],
)
def test_links_that_no_radius_satisfies(links, kind):
    points = [[0.0], [1.0], [5.0], [6.0]]
    found = min_radius(points, 2, **links)
    assert (found.status, found.certificate["kind"]) == ("infeasible", kind)
    assert check(found.certificate, Instance(points, 2, **links))
    assert json.loads(found.to_json())["radius"] is None


def test_known_by_distances_alone():
    instance = Instance.from_distances(moons(15).sq_distances, 15)
    assert smallest_radius(instance).radius == pytest.approx(0.19276, abs=1e-5)


def test_decide_says_neither_without_time():
    points = np.random.default_rng(0).random((200, 2))
    decision = decide(Instance(points, 20, 0.115), Effort(clock=Clock(0.0)))
    assert decision.labels is None and decision.refutation is None


def test_time_limit_keeps_the_bounds_valid():
    points = np.random.default_rng(0).random((500, 2))
    found = min_radius(points, 40, time_limit=0.5)
    assert found.status in ("optimal", "time_limit")
    assert_holds(found, Instance(points, 40))


def test_command_line(tmp_path):
    path = tmp_path / "moons.csv"
    np.savetxt(path, moons().points, delimiter=",", fmt="%.17g")
    program = [sys.executable, "-c", "from radcluster.cli import main; main()"]
    command = [*program, "min-radius", str(path), "-k", "15"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["radius"] == pytest.approx(0.19276, abs=1e-5)
    assert not violations(moons(15, answer["radius"]), np.array(answer["labels"]))
    assert check(answer["certificate"], moons(15, answer["certificate"]["radius"]))
    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert text.startswith("15 clusters need radius 0.19276")
    assert "these 16 points are pairwise more than" in text
