"""Solvers by name: every registered one is exercised, refusals come before any work."""

import json
import os
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pyomo.environ as pyo
import pytest
from cases import MOONS_OPTIMA, brute_force, moons, random_instance

from radcluster import InputError, SolverUnavailable, solve
from radcluster.graph.conflicts import analyse
from radcluster.models import milp
from radcluster.models.parts import assignment
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model
from radcluster.solvers.options import Options

#: Mixed-integer solvers, tested here on whatever machine has them.
MIP = ("highs", "scip", "cbc", "glpk", "gurobi", "xpress", "cplex")
#: Conic and nonlinear solvers, tested in test_conic.py and test_factorise.py.
CONIC = ("clarabel", "scs", "cvxopt", "sdpa", "mosek", "copt", "cyipopt")
#: The built-in engine, tested in tests/relaxation.
BUILT_IN = ("admm",)

INSTALLED_MIP = [name for name in MIP if registry.get(name).installed]


def test_every_registered_solver_is_named_by_a_test():
    assert set(registry.SOLVERS) == {*MIP, *CONIC, *BUILT_IN}


def test_core_solvers_are_installed():
    assert {"highs", "scip", "clarabel", "scs"} <= {info.name for info in registry.usable()}


def test_no_solver_is_left_out_where_all_are_wanted():
    """Set in continuous integration: only MOSEK, for want of a licence file, may be unusable."""
    if os.environ.get("RADCLUSTER_ALL_SOLVERS"):
        assert all(info.installed for info in registry.SOLVERS.values())
        missing = set(registry.SOLVERS) - {info.name for info in registry.usable()}
        assert missing <= {"mosek"}


@pytest.mark.parametrize("name", INSTALLED_MIP)
def test_small_instances(name):
    for seed in (0, 5, 9, 78, 334):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        outcome = solve_model(milp.build(instance, analyse(instance).labelling), name)
        assert outcome.status == "optimal"
        assert outcome.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9)
        assert outcome.bound == pytest.approx(optimum, rel=1e-5, abs=1e-6)
        assert outcome.version


@pytest.mark.parametrize("name", INSTALLED_MIP)
def test_infeasible_model(name):
    instance = random_instance(0).replace(n_clusters=1, radius=0.01, cannot_link=(), must_link=())
    outcome = solve_model(milp.build(instance), name)
    assert (outcome.status, outcome.has_solution) == ("infeasible", False)


@pytest.mark.parametrize("name", INSTALLED_MIP)
def test_neutral_options(name):
    instance = random_instance(5)
    model = milp.build(instance, analyse(instance).labelling)
    options = Options(time_limit=20, rel_gap=1e-4, seed=7, threads=1)
    lacking = "glpk has no option for threads" if name == "glpk" else None
    assert registry.get(name).lacking(options) == lacking
    outcome = solve_model(model, name, options)
    assert outcome.status == "optimal"
    assert outcome.objective == pytest.approx(brute_force(instance), rel=1e-3)


def test_native_options_reach_the_solver():
    instance = random_instance(5)
    model = milp.build(instance, analyse(instance).labelling)
    outcome = solve_model(model, "highs", Options(native={"mip_max_nodes": 0, "presolve": "off"}))
    assert outcome.status != "optimal"


@pytest.mark.parametrize("name", [n for n in INSTALLED_MIP if n not in ("cbc", "glpk")])
def test_a_licence_that_is_too_small_is_refused(name):
    """Where the licence is large enough, the solver answers instead."""
    try:
        result = solve(moons(17, 0.18), "milp", name, time_limit=5)
    except SolverUnavailable as refusal:
        assert f"the free licence of {name} takes at most" in str(refusal)
    else:
        assert result.lower_bound <= MOONS_OPTIMA[17, 0.18]


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_an_option_that_a_solver_lacks_is_refused(name):
    with pytest.raises(InputError, match=f"{name} has no option 'foo'"):
        solve(random_instance(5), "milp", name, native={name: {"foo": 1}})


class FakeMosek:
    """As much of the package as the licence check touches."""

    class Error(Exception):
        errno = "err_missing_license_file"

    feature = SimpleNamespace(pts=0)

    def __init__(self, licensed):
        self.licensed = licensed

    def Env(self):
        return nullcontext(self)

    def checkoutlicense(self, feature):
        if not self.licensed:
            raise self.Error


@pytest.mark.parametrize("licensed", [True, False])
def test_a_solver_without_its_licence_is_not_usable(monkeypatch, licensed):
    monkeypatch.setattr(registry.SolverInfo, "installed", property(lambda info: True))
    monkeypatch.setitem(sys.modules, "mosek", FakeMosek(licensed))
    assert ("mosek" in {info.name for info in registry.usable("SDP")}) == licensed
    if licensed:
        assert registry.require("mosek", "SDP", "sdp:paper").name == "mosek"
    else:
        with pytest.raises(SolverUnavailable, match="has no licence"):
            registry.require("mosek", "SDP", "sdp:paper")


def test_unknown_solver_lists_the_installed():
    with pytest.raises(InputError, match=r"unknown solver 'hihgs'. Did you mean highs\?.*scip"):
        solve(random_instance(3), "milp", "hihgs")


def test_unfit_solver_lists_those_that_fit():
    with pytest.raises(InputError, match=r"scs cannot solve milp:linear .needs MILP.*highs, scip"):
        solve(random_instance(3), "milp", "scs")
    with pytest.raises(InputError, match=r"highs cannot solve milp:verbatim .needs MINLP.*scip"):
        solve(random_instance(3), "minlp", "highs")


def test_absent_solver_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(registry.SolverInfo, "installed", property(lambda self: self.name != "cbc"))
    with pytest.raises(SolverUnavailable, match="apt-get install coinor-cbc"):
        solve(random_instance(3), "milp", "cbc")


def test_no_solver_at_all(monkeypatch):
    monkeypatch.setattr(registry.SolverInfo, "installed", property(lambda self: False))
    with pytest.raises(SolverUnavailable, match="pip install highspy"):
        solve(random_instance(3), "milp")


def test_defaults():
    assert registry.default("MILP").name == "highs"
    assert registry.default("MINLP").name == "scip"
    assert registry.default("SDP").name == "clarabel"


def test_listing(capsys):
    from radcluster.cli.solvers import command

    command.main(["--json"], standalone_mode=False)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == set(registry.SOLVERS)
    assert rows["highs"]["installed"]
    assert rows["highs"]["version"]
    assert "MILP" in rows["highs"]["classes"]


#: The free licences' most variables and rows, and a size beyond them.
FREE = {"gurobi": (1000, 2001), "cplex": (1001, 10), "xpress": (2501, 2500)}


@pytest.mark.parametrize("name", sorted({"gurobi", "cplex", "xpress"} & set(INSTALLED_MIP)))
def test_a_model_beyond_a_free_licence_is_refused_before_solving(name):
    variables, rows = FREE[name]
    m = pyo.ConcreteModel(name="large")
    m.x = pyo.Var(range(variables), bounds=(0, 1))
    m.rows = pyo.Constraint(range(rows), rule=lambda m, i: m.x[i % variables] <= 1)
    m.total = pyo.Objective(expr=sum(m.x.values()))
    if not registry.get(name).free_size.applies():
        pytest.skip(f"{name} has a full licence here")
    with pytest.raises(SolverUnavailable, match=r"takes at most .* highs.*colgen"):
        solve_model(m, name)


@pytest.mark.parametrize("name", [n for n in INSTALLED_MIP if n not in ("glpk", "highs")])
def test_solvers_take_a_start(name):
    instance = random_instance(5)
    labelling = analyse(instance).labelling
    model = milp.build(instance, labelling)
    best = solve_model(model, "highs").objective
    labels = assignment.labels_of(model)
    assert np.array_equal(assignment.in_order(instance, labelling, labels), labels)
    model = milp.build(instance, labelling)
    assignment.set_labels(model, labels)
    outcome = solve_model(model, name, Options(start=True))
    assert (outcome.status, outcome.objective) == ("optimal", pytest.approx(best))
