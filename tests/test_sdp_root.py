"""Where pricing proves nothing, the Peng-Wei relaxation bounds the root."""

import numpy as np
import pytest
from cases import brute_force

from radcluster import Instance, solve
from radcluster.colgen.pricing import Pricer
from radcluster.colgen.problem import ProblemFactory
from radcluster.colgen.sdp_root import root_bound
from radcluster.steps import Clock


def spread_out(seed, n, k, dim=6, radius=np.inf, **links):
    return Instance(np.random.default_rng(seed).normal(size=(n, dim)), k, radius, **links)


def bound_of(instance):
    return root_bound(instance, ProblemFactory(instance).build(), Clock(None))


@pytest.mark.parametrize("seed", range(15))
def test_small_instances_agree_with_enumeration(seed):
    links = {"must_link": [(0, 1)], "cannot_link": [(2, 3)]} if seed % 2 else {}
    instance = spread_out(seed, 8, 3, radius=2.2 if seed % 3 == 0 else np.inf, **links)
    optimum = brute_force(instance)
    result = solve(instance, "colgen")
    if optimum == np.inf:
        assert result.status == "infeasible"
        return
    bound = bound_of(instance)
    assert bound <= optimum * (1 + 1e-9)
    # Few points may happen to lie along few axes, where no relaxation is solved.
    assert bound >= 0.5 * optimum or Pricer(ProblemFactory(instance).build()).is_flat
    assert result.status == "optimal"
    assert result.objective == pytest.approx(optimum)


def test_a_bound_where_there_was_none():
    result = solve(spread_out(0, 60, 4), "colgen", time_limit=6)
    assert result.lower_bound <= result.objective
    assert result.gap < 0.15


def test_few_axes_need_none():
    assert bound_of(spread_out(0, 30, 4, dim=2)) == 0.0
