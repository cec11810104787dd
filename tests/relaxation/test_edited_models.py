"""Edited relaxations: whose bound is used, and whether a partition is one of those it is about."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from cases import brute_force, random_instance

from radcluster import Instance
from radcluster.conic.schur import SchurBlock
from radcluster.graph.conflicts import analyse
from radcluster.models import sdp
from radcluster.relaxation.admits import admits
from radcluster.relaxation.sdp import solve_model


def with_another_block(instance: Instance, trace) -> pyo.ConcreteModel:
    """Peng and Wei's program without its cone, with one on three of its points instead."""
    model = sdp.build(instance, form="peng_wei")
    model.Z.cone.deactivate()
    entries = {(a, b): model.Z.entry(a, b) for a in range(3) for b in range(a, 3)}
    model.other = SchurBlock(order=3, X=entries, trace=trace)
    return model


@pytest.mark.parametrize("trace", [None, ({0: 1.0, 1: 1.0, 2: 1.0}, 3.0)])
@pytest.mark.parametrize("seed", range(12))
def test_a_block_that_is_not_z_gets_no_peng_wei_bound(seed, trace):
    instance = random_instance(seed, links=False).replace(radius=float("inf"))
    best = brute_force(instance)
    model = with_another_block(instance, trace)
    found = solve_model(model, instance, solver="clarabel")
    assert found.lower_bound <= best * (1 + 1e-9), f"seed {seed}"


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("form", ["perspective", "peng_wei"])
def test_the_unit_of_a_row_does_not_change_what_it_forbids(form, unit):
    line = Instance([[0.0], [1.0], [5.0], [6.0]], 2, radius=1)
    labels = analyse(line).labelling
    model = sdp.build(line, labels, form=form)
    assert admits(model, [0, 0, 1, 1])
    entry = next(iter(model.Z.values())).X[0, 0]
    # 1/2 in this partition.
    model.row = pyo.Constraint(expr=unit * entry <= 0.499999 * unit)
    assert not admits(model, [0, 0, 1, 1])
    model.row.set_value(unit * entry <= 0.5 * unit)
    assert admits(model, [0, 0, 1, 1])


def test_a_row_on_nothing_but_zeros_is_still_a_row():
    line = Instance([[0.0], [1.0], [2.0]], 2)
    model = sdp.build(line, form="peng_wei")
    model.row = pyo.Constraint(expr=model.Z.X[0, 2] >= 1e-9)
    assert not admits(model, [0, 0, 1])
