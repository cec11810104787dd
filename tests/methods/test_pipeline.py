"""Algorithm 1: always a verified partition, never below the bound, any step replaceable."""

import numpy as np
import pytest
from cases import MOONS_OPTIMA, brute_force, moons, random_instance
from own_steps import nearest_anchor, wide_step4

from radcluster import InputError, Instance, solve
from radcluster.graph.conflicts import analyse
from radcluster.models import kcenter, rounding
from radcluster.problem.partition import objective_of, sq_center_distances
from radcluster.proof.verify import violations
from radcluster.solvers.mip import solve_model


@pytest.mark.parametrize("chunk", range(0, 200, 50))
def test_kcenter_pipeline_on_random_instances(chunk):
    for seed in range(chunk, chunk + 50):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        result = solve(instance, "pipeline", step1="kcenter")
        if optimum == np.inf:
            assert result.status == "infeasible"
            continue
        assert result.status in ("feasible", "optimal")
        assert violations(instance, result.labels) == []
        assert result.objective >= optimum - 1e-9


@pytest.mark.parametrize("step1", ["kcenter", "kcenter:exact"])
@pytest.mark.parametrize("repeat", [True, False])
def test_moons(step1, repeat):
    result = solve(moons(), "pipeline", step1=step1, repeat=repeat)
    assert violations(moons(), result.labels) == []
    optimum = MOONS_OPTIMA[16, 0.189]
    assert optimum <= result.objective <= 1.1 * optimum
    assert [step.step for step in result.steps[:3]] == ["step1", "step2", "step4"]
    assert repeat or len(result.steps) == 3


def test_repeating_never_costs_more():
    once = solve(moons(), "pipeline", step1="kcenter", repeat=False)
    again = solve(moons(), "pipeline", step1="kcenter", repeat=True)
    assert again.objective <= once.objective


@pytest.mark.parametrize("radius", [0.189, 0.18])
def test_three_statements_of_the_radius_agree(radius):
    instance = moons(16, radius)
    values = {
        constraints: solve(
            instance, "pipeline", step1="kcenter", constraints=constraints, repeat=False
        )
        for constraints in ("clique", "conflict", "quadratic")
    }
    assert values["quadratic"].solver == "scip"
    for steps in zip(*(result.steps for result in values.values()), strict=True):
        assert len({round(step.objective, 6) for step in steps}) == 1


def test_rounding_programs_on_a_line():
    instance = Instance([[0.0], [1.0], [2.0], [5.0]], 2, 0.6)
    assert analyse(instance).certificate["kind"] == "clique"
    instance = Instance([[0.0], [1.0], [2.0], [5.0]], 3, 0.6)
    scores = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1.0]])
    model = rounding.build_step2(instance, scores)
    outcome = solve_model(model)
    assert outcome.objective == pytest.approx(4.0)


@pytest.mark.parametrize("build", [rounding.build_step2, rounding.build_step4])
def test_rounding_of_an_infeasible_instance(build):
    instance = moons(15)
    outcome = solve_model(build(instance, np.zeros((100, 15))))
    assert (outcome.status, outcome.has_solution) == ("infeasible", False)


def test_center_distances_need_no_coordinates():
    instance = moons()
    labels = solve(instance, "pipeline", step1="kcenter").labels
    centers = np.array([instance.points[labels == k].mean(axis=0) for k in range(16)])
    expected = np.square(instance.points[:, None] - centers[None]).sum(axis=2)
    by_distances = Instance.from_distances(instance.sq_distances, 16, 0.189)
    np.testing.assert_allclose(sq_center_distances(by_distances, labels), expected, atol=1e-12)
    assert objective_of(by_distances, labels) == pytest.approx(objective_of(instance, labels))


def test_distances_alone_give_the_same_answer():
    instance = moons()
    by_distances = Instance.from_distances(instance.sq_distances, 16, 0.189)
    expected = solve(instance, "pipeline", step1="kcenter")
    result = solve(by_distances, "pipeline", step1="kcenter")
    assert result.objective == pytest.approx(expected.objective)
    assert result.centers is None


def test_exact_kcenter_is_no_wider_than_greedy():
    instance = moons(8, np.inf)
    greedy = kcenter.greedy_centers(instance, [0])
    covering = np.sqrt(instance.sq_distances[greedy].min(axis=0).max())
    model = kcenter.build(instance, covering_radius=covering)
    outcome = solve_model(model)
    assert outcome.status == "optimal"
    assert outcome.objective <= covering**2 + 1e-9
    centers = [j for j in model.POINTS if model.y[j].value > 0.5]
    assert len(centers) == 8
    reached = instance.sq_distances[centers].min(axis=0).max()
    assert reached == pytest.approx(outcome.objective)


def test_steps_of_ones_own():
    by_callable = solve(moons(), "pipeline", step1=nearest_anchor, step4=wide_step4)
    by_name = solve(
        moons(), "pipeline", step1="own_steps:nearest_anchor", step4="own_steps:wide_step4"
    )
    assert by_callable.objective == by_name.objective
    assert by_callable.steps[0].model == "nearest_anchor"


@pytest.mark.parametrize(
    "step1", ["kcentre", "no_such_module:f", "own_steps:no_such_function", "own_steps:rounding"]
)
def test_unknown_steps_are_refused(step1):
    with pytest.raises(InputError, match="step1"):
        solve(moons(), "pipeline", step1=step1)


def test_a_step1_of_the_wrong_shape_is_refused():
    with pytest.raises(InputError, match=r"scores of shape \(100, 16\)"):
        solve(moons(), "pipeline", step1=lambda instance, labelling: np.zeros((3, 3)))


def test_solver_by_step():
    result = solve(
        moons(), "pipeline", {"step2": "scip", "step4": "highs"}, step1="kcenter", repeat=False
    )
    assert [step.solver for step in result.steps] == [None, "scip", "highs"]


def test_a_solver_that_no_step_takes_is_refused():
    with pytest.raises(InputError, match="no step of the pipeline takes solver scs"):
        solve(moons(), "pipeline", "scs", step1="kcenter")
    with pytest.raises(InputError, match="highs cannot solve step2"):
        solve(moons(), "pipeline", {"step2": "highs"}, step1="kcenter", constraints="quadratic")
    with pytest.raises(InputError, match="step3"):
        solve(moons(), "pipeline", {"step3": "highs"}, step1="kcenter")
