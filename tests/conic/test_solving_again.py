"""Parameters, fixed variables and added rows between solves; results; both of Pyomo's factories."""

from __future__ import annotations

import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory
from pyomo.opt import TerminationCondition

from radcluster.conic import PSD, PSDVar, SecondOrderCone
from radcluster.conic.backends import solve_program
from radcluster.conic.backends.memory import Memory
from radcluster.conic.compiling.compiler import Compiler, compile_model
from radcluster.conic.plugin.register import PYOMO_NAMES
from radcluster.solvers import registry


def parametric():
    """The largest x with |(x, y)| <= r and x + p y = 0."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.r = pyo.Param(initialize=1.0, mutable=True)
    m.p = pyo.Param(initialize=0.0, mutable=True)
    m.disc = SecondOrderCone(m.r, [m.x, m.y])
    m.lmi = PSD([[m.x + 10, m.p], [m.p, m.y + 10]])
    m.line = pyo.Constraint(expr=m.y + m.p * m.x == 0)
    m.value = pyo.Objective(expr=m.x, sense=pyo.maximize)
    return m


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_parameters_change_numbers_only(solver):
    m = parametric()
    opt = NewFactory(solver, tolerance=1e-8)
    for r, p in ((1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (3.0, 0.0), (0.5, -2.0)):
        m.r, m.p = r, p
        results = opt.solve(m)
        assert results.incumbent_objective == pytest.approx(r / np.hypot(1, p), abs=1e-5), (r, p)
    m.r = 4.0
    assert opt.solve(m).extra_info.updated_in_place


def test_only_what_can_change_is_read_again(monkeypatch):
    m = parametric()
    m.many = pyo.Constraint(range(50), rule=lambda m, i: m.x + i * m.y <= 100)
    compiler = Compiler(m)
    before = compiler.compile()
    read = []
    from radcluster.conic.compiling import rows

    real = rows._read
    monkeypatch.setattr(rows, "_read", lambda c, r: read.append(c.local_name) or real(c, r))
    m.p = 3.0
    m.cuts = pyo.ConstraintList()
    m.cuts.add(m.x <= 5)
    m.many[7].set_value(m.x + m.y <= 1)
    after = compiler.compile()
    assert sorted(read) == ["cuts[1]", "line", "many[7]"]
    assert after.A.shape[0] == before.A.shape[0] + 1
    fresh = compile_model(m)
    np.testing.assert_array_equal(sorted_rows(after), sorted_rows(fresh))


def sorted_rows(program):
    """The rows [A, b] in an order that does not depend on when they were read."""
    return np.unique(np.column_stack([program.A.toarray(), program.b]), axis=0)


def test_fixing_and_freeing_between_solves():
    m = parametric()
    opt = pyo.SolverFactory("clarabel")
    m.x.fix(0.25)
    opt.solve(m)
    assert pyo.value(m.value) == 0.25
    m.x.fix(0.5)
    opt.solve(m)
    assert pyo.value(m.value) == 0.5
    m.x.unfix()
    opt.solve(m)
    assert pyo.value(m.value) == pytest.approx(1.0, abs=1e-6)


def test_a_start_from_the_last_solution_saves_iterations():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(25, 25))
    m = pyo.ConcreteModel()
    m.X = PSDVar(25)
    X = m.X.matrix_expression()
    m.one = pyo.Constraint(range(25), rule=lambda m, i: m.X.X[i, i] == 1)
    m.value = pyo.Objective(expr=(weights * X).sum())
    compiler, memory = Compiler(m), Memory()
    first = solve_program(compiler.compile(), "scs", tolerance=1e-6, memory=memory)
    m.cuts = pyo.ConstraintList()
    m.cuts.add(m.X.X[0, 1] + m.X.X[0, 2] <= 1.9)
    program = compiler.compile()
    again = solve_program(program, "scs", tolerance=1e-6, memory=memory)
    cold = solve_program(program, "scs", tolerance=1e-6)
    assert again.iterations < cold.iterations <= first.iterations * 3
    assert program.objective(again.x) == pytest.approx(program.objective(cold.x), abs=1e-3)


def test_every_name_is_in_both_factories():
    assert PYOMO_NAMES["copt"] == "copt_sdp" and "copt" not in PYOMO_NAMES.values()
    for name, pyomo_name in PYOMO_NAMES.items():
        usable = registry.get(name).obstacle is None
        assert bool(NewFactory(pyomo_name).available()) == usable
        assert pyo.SolverFactory(pyomo_name).available(exception_flag=False) == usable


def test_version_3_of_the_factories():
    from pyomo.future import solver_factory

    before = solver_factory()
    try:
        solver_factory(3)
        results = pyo.SolverFactory("clarabel").solve(parametric())
        assert results.incumbent_objective == pytest.approx(1.0, abs=1e-6)
    finally:
        solver_factory(before)


def infeasible():
    m = pyo.ConcreteModel()
    m.X = PSDVar(2, X={(0, 1): 1})
    m.small = pyo.Constraint(expr=m.X.X[0, 0] + m.X.X[1, 1] <= 1)
    m.value = pyo.Objective(expr=m.X.X[0, 0])
    m.dual_ray = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


@pytest.mark.parametrize("solver", [n for n in PYOMO_NAMES if registry.get(n).obstacle is None])
def test_an_infeasible_model_says_so_with_its_ray(solver):
    m = infeasible()
    result = pyo.SolverFactory(PYOMO_NAMES[solver]).solve(m)
    if result.solver.termination_condition != TerminationCondition.infeasible:
        # It may fail to notice, but must not call the model solved.
        assert result.solver.termination_condition != TerminationCondition.optimal
        return
    assert str(result.solver.message) not in ("", "<undefined>")
    ray = m.dual_ray[m.X]
    # <S, X> - s (x00 + x11) = 0 and 2 S_01 + ... < 0 is the contradiction.
    assert np.linalg.eigvalsh(ray)[0] > -1e-6
    assert ray[0, 0] == pytest.approx(-m.dual_ray[m.small], rel=1e-4)
    assert len(m.dual) == 0


def test_results_of_both_interfaces():
    m = parametric()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    new = NewFactory("clarabel").solve(m)
    assert new.extra_info.message == "Solved" and new.extra_info.iteration_count > 0
    assert new.extra_info.dual_objective == pytest.approx(1.0, abs=1e-6)
    assert new.timing_info.compile_time >= 0 and new.timing_info.solver_time > 0
    old = pyo.SolverFactory("clarabel").solve(m)
    assert old.solver.message == "Solved" and old.solver.wallclock_time > 0
    assert old.solver.primal_objective == pytest.approx(1.0, abs=1e-6)
    assert old.solver.dual_objective == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(m.dual[m.disc], [-1.0, 1.0, 0.0], atol=1e-5)


def test_models_with_cones_are_copied_and_pickled():
    m = parametric()
    for copy in (m.clone(), pickle.loads(pickle.dumps(m))):
        copy.r = 2.0
        pyo.SolverFactory("clarabel").solve(copy)
        assert pyo.value(copy.value) == pytest.approx(2.0, abs=1e-6)
    assert m.x.value is None
