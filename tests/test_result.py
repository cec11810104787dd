"""Results survive JSON, and the verifier catches what a solver might get wrong."""

import json
import math

import numpy as np
import pytest
from cases import RESULT_KEYS as KEYS
from cases import moons

from radcluster import Instance, Result, solve
from radcluster.errors import SolverFailure
from radcluster.problem.partition import objective_of
from radcluster.proof.certify import certify
from radcluster.proof.verify import violations
from radcluster.result import Answer


@pytest.mark.parametrize(
    "instance",
    [
        moons(),
        moons(15),
        Instance([[0.0], [1.0], [5.0]], 2),
        Instance([[0.0], [1.0], [5.0]], 2, [1.0, math.inf]),
    ],
)
def test_json_round_trip(instance):
    result = solve(instance, "milp")
    data = json.loads(result.to_json())
    assert set(data) == KEYS
    again = Result.from_json(result.to_json(), points=instance.points)
    assert again == result
    assert again.radius == result.radius
    if result.solved:
        np.testing.assert_allclose(again.centers, result.centers)


def test_infinities_are_null():
    data = json.loads(solve(Instance([[0.0], [1.0]], 1), "milp").to_json())
    assert data["radius"] is None
    data = json.loads(solve(moons(15), "milp").to_json())
    assert (data["objective"], data["labels"], data["gap"]) == (None, None, None)


def test_unknown_json_is_refused():
    data = json.loads(solve(Instance([[0.0], [1.0]], 1), "milp").to_json())
    with pytest.raises(ValueError, match="unknown keys"):
        Result.from_json(json.dumps(data | {"colour": "red"}))


def test_objective_of_the_definition():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 2))
    labels = rng.integers(3, size=12)
    labels[:3] = range(3)
    d = np.square(points[:, None] - points[None]).sum(axis=2)
    expected = sum(
        d[np.ix_(labels == k, labels == k)].sum() / (2 * (labels == k).sum()) for k in range(3)
    )
    assert objective_of(Instance(points, 3), labels) == pytest.approx(expected)
    assert objective_of(Instance.from_distances(d, 3), labels) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 1], "shape"),
        ([0.0, 0.0, 1.0, 1.0], "whole numbers"),
        ([0, 0, 1, 2], "0..1"),
        ([0, 0, 0, 0], "empty"),
        ([0, 1, 0, 1], "diameter"),
        ([0, 0, 0, 1], "cannot-linked"),
        ([0, 1, 1, 1], "must-linked"),
    ],
)
def test_violations(labels, message):
    instance = Instance(
        [[0.0], [1.0], [5.0], [6.0]], 2, 2.0, cannot_link=[(1, 2)], must_link=[(0, 1)]
    )
    assert violations(instance, [0, 0, 1, 1]) == []
    assert any(message in sentence for sentence in violations(instance, labels))


def test_an_invalid_partition_is_never_returned():
    instance = Instance([[0.0], [1.0], [5.0]], 2, 0.5)
    with pytest.raises(SolverFailure, match="invalid"):
        claim = Answer(np.array([0, 1, 1]), stopped="optimal", solver="a liar")
        certify(instance, claim, method="milp", rel_gap=1e-6, seconds=0.0)


def test_optimal_is_decided_by_the_gap_not_by_the_solver():
    instance = Instance([[0.0], [1.0], [5.0]], 2)
    claim = Answer(np.array([0, 0, 1]), 0.1, stopped="optimal", solver="a braggart")
    result = certify(instance, claim, method="milp", rel_gap=1e-6, seconds=0.0)
    assert result.status == "feasible"
    assert result.gap == pytest.approx(0.8)


def test_duplicates_cost_nothing_and_are_proven():
    points = np.repeat([[0.1, 0.7], [3.3, 4.1]], 5, axis=0)
    result = solve(Instance(points, 2, 0.0), "milp")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize(
    "change", [{"labels": [0, 0, 0, 0]}, {"lower_bound": 9.0}, {"labels": [0]}, {"labels": []}]
)
def test_a_result_that_contradicts_itself_is_refused(change):
    result = solve(Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1))
    assert Result.from_json(result.to_json()) == result
    with pytest.raises(ValueError, match="not a radcluster result"):
        Result.from_json(json.dumps(result.to_dict() | change))


def test_points_that_are_not_those_of_the_result_are_refused():
    result = solve(Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1))
    with pytest.raises(ValueError, match="not a radcluster result"):
        Result.from_json(result.to_json(), points=[[0.0], [1.0]])
