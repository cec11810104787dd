"""The engine's value is Clarabel's, without cuts and with them."""

import numpy as np
import pytest

from radcluster import InputError, Instance, solve
from radcluster.graph.conflicts import analyse
from radcluster.relaxation.sdp import solve_sdp

CUTS = {
    "none": (),
    "pairs": ("pair",),
    "triangles": ("pair", "triangle"),
    "all": ("pair", "triangle", "clique"),
}


def instance_of(seed):
    """20 points with conflicts, links, duplicates; weights on every second seed."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(20, 3))
    points[3] = points[4]
    weights = rng.uniform(0.3, 3.0, 20) if seed % 2 else None
    return Instance(points, 4, 2.0, must_link=[(0, 1)], cannot_link=[(2, 5)], sample_weight=weights)


@pytest.mark.parametrize("kinds", CUTS)
@pytest.mark.parametrize("seed", range(4))
def test_values(seed, kinds):
    instance = instance_of(seed)
    common = {"form": "peng_wei", "cuts": CUTS[kinds], "rounds": 40}
    theirs = solve_sdp(instance, solver="clarabel", tolerance=1e-9, **common)
    ours = solve_sdp(instance, solver="admm", tolerance=1e-7, **common)
    value = theirs.report.objective
    assert ours.report.objective == pytest.approx(value, rel=1e-5), f"seed {seed}"
    assert ours.lower_bound == pytest.approx(value, rel=1e-5), f"seed {seed}"
    assert ours.lower_bound <= value * (1 + 1e-6), f"seed {seed}"


def test_the_engine_is_a_solver_of_step_1_by_name():
    points = np.random.default_rng(0).normal(size=(40, 4))
    instance = Instance(points, 5, 2.6)
    result = solve(instance, "pipeline", {"step1": "admm"}, step1="sdp:peng_wei")
    assert result.steps[0].solver == "admm"
    assert 0.0 < result.lower_bound <= result.objective
    other = solve(instance, "pipeline", {"step1": "clarabel"}, step1="sdp:peng_wei")
    assert result.lower_bound == pytest.approx(other.lower_bound, rel=1e-4)


def test_the_engine_refuses_other_forms():
    with pytest.raises(InputError, match="only sdp:peng_wei"):
        solve(Instance(np.eye(4), 2), "pipeline", {"step1": "admm"}, step1="sdp:perspective")


@pytest.mark.parametrize("n_clusters", [1, 4])
def test_programs_with_one_answer(n_clusters):
    instance = Instance(np.eye(4), n_clusters)
    relaxed = solve_sdp(instance, analyse(instance).labelling, form="peng_wei", solver="admm")
    assert relaxed.lower_bound == pytest.approx(3.0 if n_clusters == 1 else 0.0, abs=1e-11)
