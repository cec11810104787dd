"""A solver that is wrong is found out, and its bound is thrown away."""

import tracemalloc

import numpy as np
import pytest
from cases import brute_force, moons, random_instance

from radcluster import Instance, solve
from radcluster.errors import SolverFailure
from radcluster.methods.refute import improved
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations


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
    """With the rule on, HiGHS calls a worse partition optimal. That is an error that names it."""
    with pytest.raises(SolverFailure, match=r"highs calls a partition of cost .* optimal"):
        solve(instance, "milp", "highs", native={"highs": {"presolve_rule_off": 0}})


def test_highs_with_its_faulty_rule_on_the_moons():
    native = {"highs": {"presolve_rule_off": 0}}
    with pytest.raises(SolverFailure, match=r"but a partition costs 1\.3441792"):
        solve(moons(16, 0.18), "milp", "highs", native=native)


def test_moves_need_no_matrix_per_cluster():
    n, k = 400, 100
    instance = Instance(np.random.default_rng(0).random((n, 2)), k, 0.5)
    labels = np.arange(n) % k
    assert instance.sq_distances.shape == (n, n)
    tracemalloc.start()
    improved(instance, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * k / 4
