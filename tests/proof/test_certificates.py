"""Certificates: true ones accepted, tampered ones refused, each said in a sentence."""

import json
import math
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import brute_force, moons, random_instance

from radcluster import InputError, Instance
from radcluster.api import solve
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.feasibility.recheck import check
from radcluster.feasibility.remedies import with_remedies
from radcluster.graph.conflicts import analyse
from radcluster.proof.certificates import explain
from radcluster.proof.claim import examine
from radcluster.proof.verify import violations

#: 0-1-2-...: each point within 2r = 1 of its neighbours only.
LINE = [[0.0], [1.0], [2.0], [3.0], [4.0]]


def ring(n_clusters: int) -> Instance:
    """Five points that conflict with their two neighbours in a ring: 3 clusters are needed."""
    return Instance.from_distances(4.0 * nx.to_numpy_array(nx.cycle_graph(5)), n_clusters, 0.5)


#: An infeasible instance, a certificate that proves it, and changes that make it worthless.
CASES = {
    "clique": (
        Instance(LINE, 2, 0.5),
        {"kind": "clique", "points": [0, 2, 4]},
        [{"points": [0, 1, 4]}, {"points": [0, 2]}, {"points": [0, 2, 2]}, {"points": [0, 2, -1]}],
    ),
    "clique by cannot-link": (
        Instance(LINE, 2, 0.5, cannot_link=[(0, 1), (1, 2)]),
        {"kind": "clique", "points": [0, 1, 2]},
        [{"points": [1, 2, 3]}, {"points": [0, 1, 9]}],
    ),
    "group_clique": (
        # Every two of the three groups hold points too far apart, but no three points do.
        Instance(
            [[0.0], [2.0], [1.0], [1.5], [0.5], [0.4]],
            2,
            0.5,
            must_link=[(0, 4), (1, 3), (2, 5)],
            cannot_link=[(4, 2), (5, 3)],
        ),
        {"kind": "group_clique", "groups": [[0, 4], [1, 3], [2, 5]]},
        [{"groups": [[0, 4], [1, 3]]}, {"groups": [[0, 1], [4, 3], [2, 5]]}],
    ),
    "must_link": (
        Instance(LINE, 2, 0.5, must_link=[(0, 2)]),
        {"kind": "must_link", "pair": [0, 2]},
        [{"pair": [0, 1]}, {"pair": [0, 3]}],
    ),
    "must_link by a path": (
        Instance(LINE, 2, 0.5, must_link=[(0, 1), (1, 2)]),
        {"kind": "must_link", "pair": [0, 2], "path": [0, 1, 2]},
        [{"path": [0, 2]}, {"path": [0, 1]}, {"pair": [0, 1], "path": [0, 1]}],
    ),
    "must_link_groups": (
        Instance(LINE, 4, 5.0, must_link=[(0, 1), (1, 2)]),
        {"kind": "must_link_groups", "n_groups": 3},
        [{"n_groups": 2}, {"n_groups": 4}],
    ),
    "propagation": (
        ring(2),
        {"kind": "propagation", "anchors": [0, 1], "forced": [[2, 0], [3, 1]], "point": 4},
        [
            {"anchors": [0, 2]},
            {"forced": [[3, 1]]},
            {"forced": [[2, 1], [3, 1]]},
            {"point": 3, "forced": [[2, 0]]},
        ],
    ),
    "weights": (
        ring(2),
        {"kind": "weights", "points": [0, 1, 2, 3, 4], "weights": [1] * 5, "capacity": 2},
        [{"capacity": 1}, {"capacity": 3}, {"weights": [2, 1, 1, 1, 1]}, {"weights": [1] * 4}],
    ),
    "search": (
        ring(2),
        {"kind": "search", "model": "cover", "solver": "highs", "n_sets": 5, "n_clusters": 2},
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_true_ones_hold_and_tampered_ones_do_not(name):
    instance, certificate, changes = CASES[name]
    if instance.n_points <= 6:
        assert brute_force(instance) == math.inf
    assert check(certificate, instance)
    assert check(json.loads(json.dumps(certificate)), instance)
    for change in changes:
        assert not check(certificate | change, instance), change


@pytest.mark.parametrize("name", CASES)
def test_no_certificate_holds_where_there_is_a_partition(name):
    instance, certificate, _ = CASES[name]
    feasible = Instance.from_distances(instance.sq_distances, 3, radius=10.0)
    assert math.isfinite(brute_force(feasible))
    assert not check(certificate, feasible)


def test_empty_cluster():
    points = [[0.0], [1.0], [3.0], [4.0], [5.0], [6.0]]
    links = [(0, 1), (2, 3), (4, 5)]
    instance = Instance(points, 3, [3.0, 0.4, 0.6], must_link=links)
    certificate = analyse(instance).certificate
    assert certificate == {"kind": "empty_cluster", "cluster": 1}
    assert check(certificate, instance)
    assert not check(certificate, instance.replace(radius=3.0))
    assert not check(certificate | {"cluster": 0}, instance)
    assert not check(certificate | {"cluster": 7}, instance)
    assert "no point can lie in cluster 1 of radius 0.4" in explain(certificate, instance)


@pytest.mark.parametrize("broken", [{}, {"kind": "clique"}, {"kind": "guess"}, {"kind": []}])
def test_malformed_ones_are_refused(broken):
    assert not check(broken, Instance(LINE, 2, 0.5))


def test_every_certificate_of_the_analysis_holds():
    kinds = set()
    for seed in range(400):
        instance = random_instance(seed, max_points=8)
        if certificate := analyse(instance).certificate:
            kinds.add(certificate["kind"])
            assert brute_force(instance) == math.inf, seed
            assert check(certificate, instance), seed
            assert explain(certificate, instance).startswith("n_clusters="), seed
    assert kinds == {"clique", "group_clique", "must_link", "must_link_groups", "propagation"}


def test_search_with_a_radius_for_each_cluster():
    certificate = {"kind": "search", "model": "milp:linear", "solver": "highs"}
    instance = Instance(LINE, 2, [0.5, 0.6])
    assert check(certificate, instance)
    assert not check(certificate, instance.replace(n_clusters=3, radius=[0.5, 0.6, 0.5]))
    assert "highs proved that the program milp:linear has no solution" in explain(
        certificate, instance
    )


def test_sentence_of_the_moons():
    certificate = with_remedies(analyse(moons(15)).certificate, moons(15))
    points = certificate["points"]
    assert explain(certificate, moons(15)) == (
        "n_clusters=15 is infeasible at radius=0.189: these 16 points are pairwise more than "
        f"0.378 apart: {points}. Fewest clusters: 16. Smallest radius for 15: 0.192764."
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clique by cannot-link", "pairwise more than 1 apart or cannot-linked: [0, 1, 2]"),
        ("group_clique", "every two hold points more than 1 apart or cannot-linked"),
        ("must_link", "points 0 and 2 are must-linked but 2 apart, more than 1"),
        ("must_link by a path", "points 0 and 2 are must-linked (by way of [1]) but 2 apart"),
        ("must_link_groups", "merge the 5 points into 3 groups, fewer than 4"),
        ("propagation", "force point 2 into 0, 3 into 1, in this order; point 4 conflicts"),
        ("weights", "weighs more than 2 when the points weigh {0: 1, 1: 1, 2: 1, 3: 1, 4: 1}"),
        ("weights", "so at least ceil(5/2) = 3 clusters are needed"),
        ("search", "highs excluded every cover by 2 compatible sets"),
    ],
)
def test_sentences(name, words):
    instance, certificate, _ = CASES[name]
    assert words in explain(certificate, instance)


def test_linked_and_not_to_be_linked():
    instance = Instance(LINE, 2, 5.0, must_link=[(0, 1)], cannot_link=[(0, 1)])
    certificate = analyse(instance).certificate
    assert check(certificate, instance)
    assert "points 0 and 1 are must-linked but also cannot-linked" in explain(certificate, instance)


def test_unknown_kind_has_no_sentence():
    with pytest.raises(InputError, match="unknown certificate 'guess'"):
        explain({"kind": "guess"}, moons())


def test_the_radius_as_printed_suffices():
    for seed in range(20):
        points = np.random.default_rng(seed).normal(size=(12, 2))
        instance = Instance(points, 3, 0.01)
        text = explain(with_remedies(analyse(instance).certificate, instance), instance)
        radius = float(text.rsplit(": ", 1)[1].rstrip("."))
        assert fewest_clusters(instance.replace(radius=radius)).n_clusters <= 3


def test_remedies_are_left_out_where_there_are_none():
    broken = Instance(LINE, 2, 0.5, must_link=[(0, 2)])
    remedied = with_remedies({"kind": "must_link", "pair": [0, 2]}, broken)
    assert "fewest_clusters" not in remedied and remedied["smallest_radius"] == 1.0
    merged, certificate, _ = CASES["must_link_groups"]
    assert with_remedies(certificate, merged) == certificate
    by_cluster = Instance(LINE, 2, [0.5, 0.6])
    assert with_remedies({"kind": "clique"}, by_cluster) == {"kind": "clique"}


def test_a_solver_s_word_gives_way_to_a_proof():
    word = {"kind": "search", "model": "milp:linear", "solver": "highs"}
    assert with_remedies(word, moons(15))["kind"] == "clique"
    assert with_remedies(word, ring(2))["kind"] == "weights"


@pytest.mark.parametrize("method", ["exact", "milp", "colgen", "pipeline"])
def test_every_infeasible_solve_names_the_remedies(method):
    settings = {"step1": "kcenter"} if method == "pipeline" else {}
    result = solve(moons(15), method=method, **settings)
    assert result.status == "infeasible" and result.labels is None
    assert result.certificate["fewest_clusters"] == 16
    assert result.certificate["smallest_radius"] == pytest.approx(0.19276, abs=1e-5)
    assert check(result.certificate, moons(15))


@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        ({"objective": 0.5, "lower_bound": 0.5}, "holds"),
        ({"objective": 0.4}, "fails"),
        ({"objective": math.nan}, "fails"),
        ({"objective": 0.5, "lower_bound": 9.0}, "fails"),
        ({"objective": 0.5, "lower_bound": math.nan}, "fails"),
        # An objective of the user's own, and what the partition costs beside it.
        ({"objective": 7.0, "lower_bound": 6.0, "sum_of_squares": 0.5}, "holds"),
        ({"objective": 7.0, "lower_bound": 6.0, "sum_of_squares": 0.6}, "fails"),
        # The fewest clusters: the bound is a number of clusters.
        ({"lower_bound": 2}, "holds"),
    ],
)
def test_what_a_file_says_a_partition_costs(claims, verdict):
    line = [[0.0], [1.0], [5.0]]
    data = {"labels": [0, 0, 1], "n_clusters": 2, "radius": 1.0} | claims
    assert examine(line, data, {}).verdict == verdict


def test_a_radius_whose_square_overflows_is_as_good_as_none():
    instance = Instance([[0.0], [1.0], [5.0]], 1, radius=1e200)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert violations(instance, np.zeros(3, dtype=int)) == []
