"""Algorithm 1 with the relaxed SDP as Step 1: safe bounds, solvers by name, cuts."""

import numpy as np
import pytest
from cases import MOONS_OPTIMA, brute_force, moons, random_instance

from radcluster import InputError, Instance, solve
from radcluster.proof.verify import violations
from radcluster.solvers import registry


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("radius", [0.189, 0.18])
def test_moons(solver, radius):
    optimum = MOONS_OPTIMA[16, radius]
    result = solve(moons(16, radius), "pipeline", solver)
    assert [step.step for step in result.steps[:3]] == ["step1", "step2", "step4"]
    assert (result.steps[0].model, result.steps[0].solver) == ("sdp:perspective", solver)
    assert violations(moons(16, radius), result.labels) == []
    assert 1.29 <= result.lower_bound <= optimum
    assert optimum - 1e-9 <= result.objective <= 1.02 * optimum
    assert result.gap == pytest.approx(1 - result.lower_bound / result.objective)


def test_conic_and_integer_solvers_swap_by_name():
    names = ["clarabel", "scs"] + ["cyipopt"] * registry.get("cyipopt").installed
    results = [solve(moons(16, 0.18), "pipeline", [name, "scip"]) for name in names]
    for name, result in zip(names, results, strict=True):
        assert {step.solver for step in result.steps} == {name, "scip"}
        assert result.objective == pytest.approx(results[0].objective)
        assert result.lower_bound == pytest.approx(results[0].lower_bound, abs=1e-3)


def test_cuts_prove_the_optimum():
    result = solve(
        moons(), "pipeline", cuts=["pair", "triangle", "clique"], rel_gap=1e-2, repeat=True
    )
    optimum = MOONS_OPTIMA[16, 0.189]
    assert 0.9999 * optimum <= result.lower_bound <= optimum * (1 + 1e-9)
    assert result.status == "optimal"


def test_peng_wei_takes_the_first_order_method_when_large():
    result = solve(moons(), "pipeline", step1="sdp:peng_wei")
    assert result.steps[0].solver == "scs"
    assert 1.12 <= result.lower_bound <= MOONS_OPTIMA[16, 0.189]


def test_anchored_paper_form_is_infeasible_and_says_so():
    with pytest.raises(InputError, match=r"sdp:paper is infeasible.*perspective"):
        solve(moons(), "pipeline", step1="sdp:paper")


@pytest.mark.parametrize("form", ["perspective", "peng_wei"])
@pytest.mark.parametrize("chunk", range(0, 60, 20))
def test_random_instances(form, chunk):
    for seed in range(chunk, chunk + 20):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        result = solve(instance, "pipeline", step1=f"sdp:{form}")
        if optimum == np.inf:
            assert result.status == "infeasible"
            continue
        assert violations(instance, result.labels) == []
        assert result.lower_bound <= optimum * (1 + 1e-9) + 1e-12
        assert result.objective >= optimum * (1 - 1e-9)


def test_options_of_the_sdp():
    instance = Instance(np.random.default_rng(4).normal(size=(16, 2)), 3, 1.6)
    cuts = ["pair", "triangle", "clique"]

    def step1(form, **settings):
        return solve(instance, "pipeline", step1=f"sdp:{form}", anchored=False, **settings).steps[0]

    rows = [
        step1("peng_wei").n_constraints,
        step1("peng_wei", cuts=cuts, sdp={"rounds": 1}).n_constraints,
        step1("peng_wei", cuts=cuts).n_constraints,
    ]
    assert rows == sorted(set(rows))
    loose, tight = (step1("peng_wei", sdp={"tolerance": tol}) for tol in (1e-2, 1e-8))
    assert loose.bound < tight.bound - 1e-4
    paper = step1("paper", sdp={"rlt": "all", "cardinalities": (6, 5, 5), "reduce": False})
    assert paper.n_variables == 3 * (16 * 17 // 2 + 16)
    assert paper.n_constraints > 3 * 5 * 16 * 15 // 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sdp": {"rlt": "lower"}}, "options of the form paper"),
        ({"sdp": {"rank": 3}}, "rank is an option of solver='cyipopt'"),
        ({"step1": "kcenter", "sdp": {"tolerance": 1e-6}}, "step1 is kcenter"),
        ({"step1": "kcenter:exact", "cuts": ["pair"]}, "step1 is kcenter:exact"),
    ],
)
def test_options_that_step1_does_not_have(settings, message):
    with pytest.raises(InputError, match=message):
        solve(moons(), "pipeline", **settings)


def test_unknown_cuts_are_refused():
    with pytest.raises(InputError, match="Did you mean 'triangle'"):
        solve(moons(), "pipeline", cuts=["triangel"])
