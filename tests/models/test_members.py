"""``m.members[k]`` and ``m.weight[i]`` mean the same in every formulation; equation numbers."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from cases import moons

from radcluster import Instance, solve
from radcluster.models import milp, rounding, sdp
from radcluster.solvers.mip import solve_model

LINE = Instance([[0.0], [0.1], [1.0], [1.1], [5.0]], 2, 1.0, must_link=[(0, 1), (2, 3)])
BUILDERS = {
    "milp": lambda instance: milp.build(instance),
    "verbatim": lambda instance: milp.build(instance, form="verbatim"),
    "perspective": lambda instance: sdp.build(instance),
    "perspective, border": lambda instance: sdp.build(instance, border=True),
    "paper": lambda instance: sdp.build(instance, form="paper"),
    "step2": lambda instance: rounding.build_step2(instance, np.zeros((5, 2))),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_members_are_the_keys_of_pi_and_weights_count_points(name):
    m = BUILDERS[name](LINE)
    memberships = m.component("pi") or m.b
    assert {(i, k) for k in m.CLUSTERS for i in m.members[k]} == set(memberships)
    assert sum(m.weight[i] for i in m.members[0]) == LINE.n_points


@pytest.mark.parametrize("links", [[(0, 1)], [(3, 4), (4, 9)], [(90, 99)]])
def test_the_readmes_edit_of_the_sdp_takes_must_links(links):
    """Every cluster holds two points or more, merged points counted."""

    def pairs_at_least(instance, labelling):
        model = sdp.build(instance, labelling, form="perspective")
        model.pairs_at_least = pyo.Constraint(
            model.CLUSTERS,
            rule=lambda m, k: sum(m.weight[i] * m.pi[i, k] for i in m.members[k]) >= 2,
        )
        return model

    points = moons().points
    near = np.square(points[:, None] - points[None]).sum(axis=2) < 0.05
    links = [(i, j) for i, j in links if near[i, j]] or [(0, int(np.flatnonzero(near[0])[1]))]
    instance = Instance(points, 17, 0.189, must_link=links)
    assert solve(instance, "pipeline", step1=pairs_at_least).solved


def test_the_papers_equation_numbers():
    """Counted in the paper: the two-line objective before the SDP takes 12 and 13."""
    assert sdp.build(LINE, form="paper").within_cluster_scatter.doc == "Eq. 14"
    assert rounding.build_step2(LINE, np.zeros((5, 2))).agreement.doc == "Eq. 15"
    assert rounding.build_step4(LINE, np.zeros((5, 2))).scatter_about_centroids.doc == "Eq. 16"


def soft(penalty, form="linear"):
    """Four points on a line, of which no two fit into a cluster of radius .3."""
    instance = Instance([[0.0], [1.0], [1.9], [2.8]], 2, 0.3)
    m = milp.build(instance, radius="soft", penalty=penalty, form=form)
    return solve_model(m, "scip", problem_class=milp.PROBLEM_CLASS[form])


@pytest.mark.parametrize("form", ["linear", "verbatim"])
@pytest.mark.parametrize("penalty", [0.0, 1.0, 50.0])
def test_a_soft_radius_prices_the_excess(penalty, form):
    outcome = soft(penalty, form)
    x, limit = np.array([0.0, 1.0, 1.9, 2.8]), 4 * 0.3**2

    def price(members):
        d = np.square(x[members][:, None] - x[members])
        return (d + penalty * np.maximum(0.0, d - limit)).sum() / (2 * len(members))

    best = min(
        price([i for i in range(4) if mask >> i & 1])
        + price([i for i in range(4) if not mask >> i & 1])
        for mask in range(1, 15)
    )
    assert outcome.status == "optimal"
    assert outcome.objective == pytest.approx(best, rel=1e-6)


def test_a_soft_radius_needs_its_penalty():
    for arguments in ({"radius": "soft"}, {"penalty": 1.0}, {"radius": "both"}):
        with pytest.raises(ValueError):
            milp.build(LINE, **arguments)
    with pytest.raises(ValueError, match="penalty >= 0"):
        milp.build(LINE, radius="soft", penalty=-1.0)
