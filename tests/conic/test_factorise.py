"""Schur blocks as equations P = L L', solved by Ipopt and checked. Nothing here is skipped."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from cases import moons
from known_sdps import KNOWN, theta_of_5_cycle

from radcluster import Instance
from radcluster.conic.backends import solve_program
from radcluster.conic.bounds import program_bound
from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.plugin.factorise import solve_factorised
from radcluster.conic.schur import SchurBlock
from radcluster.errors import InputError, SolverUnavailable
from radcluster.graph.conflicts import analyse
from radcluster.models.sdp import build
from radcluster.relaxation.sdp import solve_sdp
from radcluster.solvers import registry
from radcluster.solvers.options import Options

SMALL = Instance(np.random.default_rng(4).normal(size=(10, 2)), 3, 1.1)


def test_ipopt_is_here():
    assert "cyipopt" in {info.name for info in registry.usable("SDP")}


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_known_values_are_verified(case):
    m = case.build()
    solution = solve_factorised(m)
    assert solution.status == "optimal" and "verified" in solution.message
    conic = solve_program(compile_model(case.build()), "clarabel")
    program = compile_model(m)
    assert program.objective(solution.x) == pytest.approx(
        program.objective(conic.x), rel=1e-6, abs=1e-6
    )


def test_the_transformation_with_pyomos_own_solver():
    m = theta_of_5_cycle()
    pyo.TransformationFactory("radcluster.factorise").apply_to(m, rank=3)
    assert len(m.psd.L) == 1 + 2 + 3 + 3 + 3
    pyo.SolverFactory("cyipopt").solve(m)
    assert pyo.value(m.value) == pytest.approx(KNOWN[0].value, abs=1e-5)
    factor = np.zeros((5, 3))
    for cell, var in m.psd.L.items():
        factor[cell] = var.value
    np.testing.assert_allclose(factor @ factor.T, m.psd.matrix(), atol=1e-6)


def test_the_model_is_left_as_it_was():
    m = theta_of_5_cycle()
    solve_factorised(m)
    assert m.psd.component("L") is None and m.component("dual") is None
    assert all(var.value is None for var in m.psd.X.values())


def test_a_rank_too_small_is_not_called_optimal():
    m = theta_of_5_cycle()
    solution = solve_factorised(m, rank=2)
    assert compile_model(m).objective(solution.x) < KNOWN[0].value - 0.1
    assert solution.status == "almost" and "not verified" in solution.message


def test_misuse_is_refused():
    m = theta_of_5_cycle()
    with pytest.raises(ValueError, match="rnak"):
        pyo.TransformationFactory("radcluster.factorise").apply_to(m, rnak=3)
    pyo.TransformationFactory("radcluster.factorise").apply_to(m)
    with pytest.raises(InputError, match="factorised already"):
        pyo.TransformationFactory("radcluster.factorise").apply_to(m)
    with pytest.raises(InputError, match=r"psd\.factor"):
        pyo.SolverFactory("clarabel").solve(m)


@pytest.mark.parametrize(
    "options",
    [
        {"labelling": analyse(SMALL).labelling},
        {"labelling": analyse(SMALL).labelling, "border": True},
        {"form": "peng_wei"},
        {"form": "paper", "rlt": "lower", "reduce": True},
    ],
    ids=["perspective", "border", "peng_wei", "paper"],
)
def test_forms_agree_with_the_conic_value(options):
    m = build(SMALL, **options)
    program = compile_model(m)
    conic = program.objective(solve_program(program, "scs", tolerance=1e-8).x)
    solution = solve_factorised(m)
    assert solution.status in ("optimal", "almost"), solution.message
    assert program.objective(solution.x) == pytest.approx(conic, rel=1e-5)
    assert program_bound(program, solution.z) <= conic * (1 + 1e-6)


def test_step1_on_the_moons():
    instance = moons()
    labelling = analyse(instance).labelling
    ours = solve_sdp(instance, labelling, solver="cyipopt")
    conic = solve_sdp(instance, labelling, solver="clarabel")
    assert ours.report.objective == pytest.approx(conic.report.objective, rel=1e-5)
    assert conic.lower_bound - 1e-3 < ours.lower_bound <= conic.report.objective
    np.testing.assert_allclose(ours.scores, conic.scores, atol=5e-3)


def test_time_limit():
    m = build(moons(), analyse(moons()).labelling)
    solution = solve_factorised(m, Options(time_limit=0.05))
    assert solution.status in ("time_limit", "error")


def test_without_pynumero_the_way_to_get_it_is_said(monkeypatch):
    monkeypatch.setattr("pyomo.contrib.pynumero.asl.AmplInterface.available", lambda: False)
    with pytest.raises(SolverUnavailable, match="PyNumero"):
        solve_factorised(theta_of_5_cycle())


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
def test_a_wrong_point_is_not_verified_at_any_scale(scale):
    """Of rank 2, the best point of the theta program has the value 2, not sqrt 5."""
    m = theta_of_5_cycle()
    m.value.set_value(scale * m.value.expr)
    solution = solve_factorised(m, rank=2)
    assert compile_model(m).objective(solution.x) / scale == pytest.approx(2.0, abs=1e-4)
    assert solution.status == "almost"
    assert solve_factorised(m).status == "optimal"


def test_a_loose_point_is_not_verified():
    m = theta_of_5_cycle()
    loose = {"tol": 0.1, "constr_viol_tol": 0.1, "compl_inf_tol": 0.1, "dual_inf_tol": 0.1}
    for scale, constant in ((1.0, 0.0), (1e-8, 1000.0)):
        m = theta_of_5_cycle()
        m.value.set_value(scale * m.value.expr + constant)
        solution = solve_factorised(m, Options(native=loose | {"mu_target": 0.1}))
        assert "Algorithm terminated successfully" in solution.message
        assert solution.status == "almost"


def test_a_range_has_one_multiplier():
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=2, X={(0, 1): 1})
    m.range = pyo.Constraint(expr=(1, m.psd.X[0, 0] + m.psd.X[1, 1], 3))
    m.upper = pyo.Constraint(expr=m.psd.X[1, 1] <= 0.5)
    m.value = pyo.Objective(expr=m.psd.X[0, 0])
    solution = solve_factorised(m)
    assert solution.status == "optimal"
    conic = solve_program(compile_model(m), "clarabel")
    ours, theirs = (compile_model(m).duals(s.z) for s in (solution, conic))
    assert ours[m.range] == pytest.approx(theirs[m.range], abs=1e-4)
    assert ours[m.upper] == pytest.approx(theirs[m.upper], abs=1e-4)


@pytest.mark.parametrize("rlt", ["lower", "all"])
def test_the_paper_form_is_verified(rlt):
    memberships = solve_sdp(SMALL, form="paper", rlt=rlt, solver="cyipopt")
    assert memberships.report.status == "optimal"


def test_options_of_ipopt_are_refused_and_constants_answered():
    with pytest.raises(InputError, match="refused its options"):
        solve_factorised(theta_of_5_cycle(), Options(native={"no_such_option": 1}))
    m = theta_of_5_cycle()
    for (i, j), var in m.psd.X.items():
        var.fix(0.2 if i == j else 0.0)
    assert solve_factorised(m).status == "optimal"
