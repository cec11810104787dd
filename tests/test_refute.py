"""A solver that is wrong is found out, and its bound is thrown away."""

import numpy as np
import pytest
from cases import MOONS_OPTIMA, brute_force, moons, random_instance

from radcluster import solve
from radcluster.refute import improved
from radcluster.verify import objective_of, violations


@pytest.mark.parametrize("seed", range(0, 60))
def test_moves_stay_valid_and_never_cost_more(seed):
    instance = random_instance(seed)
    optimum = brute_force(instance)
    if optimum == np.inf:
        assert solve(instance, "milp").status == "infeasible"
        return
    labels = solve(instance, "pipeline", step1="kcenter", repeat=False).labels
    better = improved(instance, labels)
    assert violations(instance, better) == []
    assert optimum - 1e-9 <= objective_of(instance, better) <= objective_of(instance, labels)


@pytest.mark.parametrize("instance", [random_instance(78), random_instance(334)])
def test_highs_with_its_faulty_rule_is_refuted(instance):
    """With the rule on, HiGHS calls a worse partition optimal; the answer must not."""
    result = solve(instance, "milp", "highs", native={"highs": {"presolve_rule_off": 0}})
    assert result.lower_bound <= brute_force(instance)


def test_highs_with_its_faulty_rule_on_the_moons():
    native = {"highs": {"presolve_rule_off": 0}}
    result = solve(moons(16, 0.18), "milp", "highs", native=native)
    assert result.lower_bound <= MOONS_OPTIMA[16, 0.18]
