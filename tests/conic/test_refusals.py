"""Solvers and file formats without cones say which solvers have them."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from known_cones import KNOWN_CONES, petersen_theta, power_mean
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory

from radcluster.conic import (
    PSD,
    ExponentialCone,
    PowerCone,
    RotatedSecondOrderCone,
    SecondOrderCone,
)
from radcluster.errors import InputError

BY_NAME = {case.name: case for case in KNOWN_CONES}
CASES = {
    "petersen theta": "a positive semidefinite block",
    "robust lp": "a second-order cone",
    "entropy": "an exponential cone",
    "power mean": "a power cone",
}


@pytest.mark.parametrize("ending", ["lp", "nl", "mps", "gms", "bar"])
@pytest.mark.parametrize("name", CASES)
def test_formats(tmp_path, name, ending):
    m = BY_NAME[name].build()
    for var in m.component_data_objects(pyo.Var):
        var.set_value(0.5, skip_validation=True)
    with pytest.raises(InputError, match=f"this model has {CASES[name]}, .*use clarabel, scs"):
        m.write(str(tmp_path / f"x.{ending}"))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("factory", "solver"),
    [
        (pyo.SolverFactory, "appsi_highs"),
        (pyo.SolverFactory, "highs"),
        (pyo.SolverFactory, "scip_direct"),
        (NewFactory, "highs"),
        (NewFactory, "scip_direct"),
        (NewFactory, "scip_persistent"),
    ],
)
def test_solvers(factory, solver, name):
    m = BY_NAME[name].build()
    with pytest.raises(InputError, match=f"this model has {CASES[name]}, .*use clarabel, scs"):
        factory(solver).solve(m)
    assert all(var.value is None for var in m.component_data_objects(pyo.Var))


def test_only_solvers_with_the_cone_are_named(tmp_path):
    target = str(tmp_path / "x.lp")
    with pytest.raises(InputError) as refused:
        power_mean().write(target)
    assert "sdpa" not in str(refused.value) and "cvxopt" not in str(refused.value)
    with pytest.raises(InputError, match=r"radcluster.factorise"):
        petersen_theta().write(target)


@pytest.mark.parametrize(("solver", "kind"), [("cvxopt", "exponential"), ("sdpa", "power")])
def test_backends_without_a_cone_name_those_that_have_it(solver, kind):
    name = {"exponential": "entropy", "power": "power mean"}[kind]
    wanted = rf"{solver} has no {kind} cone \(.*\). Installed solvers that .*: clarabel, scs"
    with pytest.raises(InputError, match=wanted):
        pyo.SolverFactory(solver).solve(BY_NAME[name].build())


def test_the_factorised_form_takes_semidefinite_blocks_only():
    m = BY_NAME["entropy"].build()
    with pytest.raises(InputError, match="no positive semidefinite blocks"):
        pyo.TransformationFactory("radcluster.factorise").apply_to(m)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (lambda m: SecondOrderCone(m.x, [m.x, None]), "entry 2 of the second-order cone c is None"),
        (lambda m: SecondOrderCone(True, [m.x]), "entry 0 of the second-order cone c is True"),
        (lambda m: SecondOrderCone(m.v, [m.x]), "neither a number nor an expression"),
        (lambda m: SecondOrderCone(), "needs its entries, or index sets and a rule"),
        (lambda m: PowerCone(m.x, 1, m.x, m.x), "alpha of the power cone c must be a number"),
        (lambda m: SecondOrderCone([0, 1]), "SecondOrderCone needs .*: missing .* 'entries'"),
        (lambda m: SecondOrderCone(m.x, entry=[m.x]), "needs its entries, .* 'entr"),
        (lambda m: PSD(), "needs its entries"),
    ],
)
def test_statements_that_are_none(state, message):
    m = pyo.ConcreteModel()
    m.x, m.v = pyo.Var(), pyo.Var([0, 1])
    with pytest.raises(InputError, match=message):
        m.c = state(m)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (lambda m: SecondOrderCone(m.x, [m.x**2]), "entry 1 of the second-order cone c is not aff"),
        (lambda m: RotatedSecondOrderCone(m.x * m.y, 1, [m.x]), "entry 0 of the rotated second"),
        (lambda m: ExponentialCone(m.x, 1, float("nan")), "entry 2 .* is not a finite number"),
        (lambda m: PowerCone(m.x, 1, m.x, 1.5), "alpha of the power cone c must lie between 0"),
        (lambda m: SecondOrderCone(m.p, [m.x]), "p has no value"),
    ],
)
def test_cones_that_cannot_be_compiled(state, message):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.p = pyo.Param(mutable=True)
    m.c = state(m)
    m.value = pyo.Objective(expr=m.x)
    with pytest.raises(InputError, match=message):
        pyo.SolverFactory("clarabel").solve(m)


@pytest.mark.parametrize(
    ("expression", "sense", "message"),
    [
        (lambda m: m.x**2 - m.y**2, pyo.minimize, "is not convex: .* eigenvalue -2"),
        (lambda m: m.x * m.y, pyo.minimize, "is not convex: .* eigenvalue -1"),
        (lambda m: m.x**2, pyo.maximize, r"is not concave \(it is maximised\)"),
        (lambda m: pyo.exp(m.x), pyo.minimize, "linear and convex quadratic objectives: value"),
        (lambda m: m.x / m.y, pyo.minimize, "linear and convex quadratic objectives: value"),
    ],
)
def test_objectives_that_are_not_convex(expression, sense, message):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1, 2)), pyo.Var(bounds=(1, 2))
    m.value = pyo.Objective(expr=expression(m), sense=sense)
    with pytest.raises(InputError, match=message):
        pyo.SolverFactory("clarabel").solve(m)


def test_a_quadratic_constraint_is_pointed_to_the_cone():
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.disc = pyo.Constraint(expr=m.x**2 <= 1)
    with pytest.raises(InputError, match=r"disc is neither .*conic.SecondOrderCone\(t, w\)"):
        pyo.SolverFactory("clarabel").solve(m)
