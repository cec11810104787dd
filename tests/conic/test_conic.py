"""Any Pyomo model with Schur blocks, through every installed conic solver."""

from __future__ import annotations

import math
import subprocess
import sys

import pyomo.environ as pyo
import pytest
from known_sdps import KNOWN, smallest_eigenvalue, theta_of_5_cycle
from pyomo.contrib.solver.common.util import NoOptimalSolutionError
from pyomo.opt import TerminationCondition

from radcluster.conic.backends import solve_program
from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.plugin.interface import ConicSolver
from radcluster.conic.plugin.register import PYOMO_NAMES
from radcluster.conic.schur import SchurBlock, dual_matrices
from radcluster.errors import InputError, SolverUnavailable
from radcluster.solvers import registry
from radcluster.solvers.options import Options

BACKENDS = [info.name for info in registry.usable("SDP") if info.name in PYOMO_NAMES]


def test_the_embedded_solvers_are_here():
    assert {"clarabel", "scs"} <= set(BACKENDS)


def test_every_conic_solver_of_the_registry_has_a_pyomo_name():
    conic = {
        name for name, info in registry.SOLVERS.items() if "SDP" in info.classes and not info.only
    }
    assert conic - {"cyipopt"} == set(PYOMO_NAMES)


@pytest.mark.parametrize("solver", BACKENDS)
@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_known_values(case, solver):
    m = case.build()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    result = pyo.SolverFactory(PYOMO_NAMES[solver], tolerance=1e-7).solve(m)
    assert result.solver.termination_condition == TerminationCondition.optimal
    # The correlation distance is published to four digits.
    assert pyo.value(m.value) == pytest.approx(
        case.value, rel=2e-4 * (case.name == "correlation") or 1e-5
    )
    for block, dual in dual_matrices(m).items():
        assert abs((dual * block.matrix()).sum()) < 1e-4


def linear_program(sense):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 3))
    m.y = pyo.Var(bounds=(None, 4))
    m.z = pyo.Var(bounds=(2, 2))
    m.up = pyo.Constraint(expr=m.x + 2 * m.y <= 7)
    m.down = pyo.Constraint(expr=m.y - m.x >= -1)
    m.both = pyo.Constraint(expr=(-1, m.x - m.y, 1.5))
    m.tie = pyo.Constraint(expr=m.x + m.y + m.z == 5)
    m.cost = pyo.Objective(expr=sense * (2 * m.x + m.y) + 1, sense=sense)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("solver", BACKENDS)
def test_duals_mean_what_highs_means(solver, sense):
    ours, theirs = linear_program(sense), linear_program(sense)
    pyo.SolverFactory(PYOMO_NAMES[solver], tolerance=1e-7).solve(ours)
    pyo.SolverFactory("highs").solve(theirs)
    assert pyo.value(ours.cost) == pytest.approx(pyo.value(theirs.cost), abs=1e-5)
    for name in ("up", "down", "both", "tie"):
        expected = theirs.dual[getattr(theirs, name)]
        assert ours.dual[getattr(ours, name)] == pytest.approx(expected, abs=1e-4), name
    assert ours.rc[ours.x] == pytest.approx(theirs.rc[theirs.x], abs=1e-4)


def test_fixed_variables_are_constants():
    m = smallest_eigenvalue()
    m.psd.X[0, 1].fix(0.0)
    m.psd.X[0, 2].fix(0.0)
    program = compile_model(m)
    assert len(program.columns) == 4
    pyo.SolverFactory("clarabel").solve(m)
    assert pyo.value(m.value) == pytest.approx((-1 - math.sqrt(37)) / 2, abs=1e-6)


@pytest.mark.parametrize("solver", BACKENDS)
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e10])
def test_objectives_of_any_scale(solver, scale):
    """Absolute tolerances would call any point optimal, or a bounded program unbounded."""
    m = smallest_eigenvalue()
    m.value.set_value(scale * m.value.expr)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    condition = pyo.SolverFactory(PYOMO_NAMES[solver]).solve(m).solver.termination_condition
    # SDPA reaches the value, but misses its own tolerance by a little and says so.
    missed = (TerminationCondition.unknown,) if solver == "sdpa" else ()
    assert condition in (TerminationCondition.optimal, *missed)
    assert pyo.value(m.value) / scale == pytest.approx(KNOWN[3].value, rel=1e-3)
    assert m.dual[m.unit_trace] / scale == pytest.approx(KNOWN[3].value, rel=1e-3)


@pytest.mark.parametrize("solver", BACKENDS)
def test_blocks_of_order_1(solver):
    m = pyo.ConcreteModel()
    m.one = SchurBlock(order=1)
    m.two = SchurBlock(order=2, X={(0, 1): 1})
    m.tie = pyo.Constraint(expr=m.one.X[0, 0] == m.two.X[0, 0] - 2)
    m.cost = pyo.Objective(expr=m.two.X[0, 0] + m.two.X[1, 1])
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pyo.SolverFactory(PYOMO_NAMES[solver], tolerance=1e-7).solve(m)
    assert pyo.value(m.cost) == pytest.approx(2.5, abs=1e-4)
    assert m.dual[m.one][0, 0] == pytest.approx(0.75, abs=1e-3)


@pytest.mark.parametrize("solver", BACKENDS)
@pytest.mark.parametrize("corner", [1.0, 3.0])
def test_a_model_without_free_variables(solver, corner):
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=2, X={(0, 1): 2.0})
    m.psd.X[0, 0].fix(2.0)
    m.psd.X[1, 1].fix(corner)
    m.cost = pyo.Objective(expr=m.psd.X[0, 0])
    condition = pyo.SolverFactory(PYOMO_NAMES[solver]).solve(m).solver.termination_condition
    expected = "optimal" if corner == 3.0 else "infeasible"
    assert condition == getattr(TerminationCondition, expected)


@pytest.mark.parametrize("order", [2, 3, 4, 7])
def test_constants_on_the_boundary_of_the_cone(order):
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=order, X=lambda i, j: 1.0)
    m.cost = pyo.Objective(expr=0)
    condition = pyo.SolverFactory("clarabel").solve(m).solver.termination_condition
    assert condition == TerminationCondition.optimal


def infeasible_model():
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=2, X={(0, 1): 1})
    m.small = pyo.Constraint(expr=m.psd.X[0, 0] + m.psd.X[1, 1] <= 1)
    m.value = pyo.Objective(expr=m.psd.X[0, 0])
    return m


def unbounded_model():
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=2, X={(0, 1): 1})
    m.value = pyo.Objective(expr=-m.psd.X[0, 0] - m.psd.X[1, 1])
    return m


@pytest.mark.parametrize("solver", [n for n in BACKENDS if n in ("clarabel", "scs", "cvxopt")])
def test_infeasible_and_unbounded_are_told_apart(solver):
    opt = pyo.SolverFactory(solver)
    condition = opt.solve(infeasible_model()).solver.termination_condition
    assert condition == TerminationCondition.infeasible
    condition = opt.solve(unbounded_model()).solver.termination_condition
    assert condition == TerminationCondition.unbounded


def test_a_constraint_without_variables_that_cannot_hold():
    m = smallest_eigenvalue()
    m.p = pyo.Param(initialize=1.0, mutable=True)
    m.never = pyo.Constraint(expr=m.p * 0 * m.psd.X[0, 0] >= 1)
    result = pyo.SolverFactory("clarabel").solve(m)
    assert result.solver.termination_condition == TerminationCondition.infeasible


@pytest.mark.parametrize(
    ("solver", "option"), [("clarabel", {"max_iter": 2}), ("scs", {"max_iters": 3})]
)
def test_an_interrupted_solve_is_not_optimal(solver, option):
    result = pyo.SolverFactory(solver, options=option).solve(theta_of_5_cycle())
    assert result.solver.termination_condition == TerminationCondition.maxIterations


def test_almost_solved_is_not_optimal():
    m = theta_of_5_cycle()
    # Out of reach in double precision: Clarabel ends with its reduced accuracy.
    result = pyo.SolverFactory("clarabel", tolerance=1e-16).solve(m)
    assert result.solver.termination_condition == TerminationCondition.unknown
    assert pyo.value(m.value) == pytest.approx(math.sqrt(5), abs=1e-4)


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_time_limit(solver):
    m = pyo.ConcreteModel()
    m.psd = SchurBlock(order=60)
    m.trace = pyo.Constraint(expr=sum(m.psd.entry(i, i) for i in range(60)) == 1)
    m.value = pyo.Objective(expr=sum(math.sin(1 + i * j) * x for (i, j), x in m.psd.X.items()))
    solution = solve_program(compile_model(m), solver, Options(time_limit=1e-4), 1e-12)
    assert solution.status == "time_limit"


def test_new_style_interface_raises_unless_told_not_to():
    solver = ConicSolver(name="clarabel")
    with pytest.raises(NoOptimalSolutionError, match="clarabel: PrimalInfeasible"):
        solver.solve(infeasible_model())
    results = solver.solve(theta_of_5_cycle())
    assert results.incumbent_objective == pytest.approx(math.sqrt(5), abs=1e-6)
    assert results.solver_name == "clarabel" and len(results.solver_version) == 3


def test_verbosity(capfd):
    pyo.SolverFactory("scs").solve(theta_of_5_cycle())
    assert capfd.readouterr().out == ""
    pyo.SolverFactory("scs").solve(theta_of_5_cycle(), tee=True)
    assert "SCS" in capfd.readouterr().out


def _integer(m):
    m.k = pyo.Var(domain=pyo.Integers)
    m.row = pyo.Constraint(expr=m.k + m.psd.X[0, 0] <= 1)


def _nonlinear(m):
    m.curved = pyo.Constraint(expr=m.psd.X[0, 0] ** 2 <= 1)


def _nonlinear_objective(m):
    m.value.deactivate()
    m.bent = pyo.Objective(expr=m.psd.X[0, 0] * m.psd.X[1, 1])


def _second_objective(m):
    m.other = pyo.Objective(expr=m.psd.X[0, 0])


def _curved_entry(m):
    m.wrong = SchurBlock(order=2, X={(0, 1): m.psd.X[0, 0] ** 2})


def _bool_entry(m):
    m.flag = SchurBlock(order=2, X={(0, 1): True})


def _indexed_entry(m):
    m.v = pyo.Var([0, 1])
    m.many = SchurBlock(order=2, X=lambda i, j: m.v if i < j else None)


def _sos(m):
    m.sos = pyo.SOSConstraint(var=m.psd.X, sos=1)


def _fixed_at_nothing(m):
    m.nothing = pyo.Var()
    m.nothing.fixed = True
    m.row = pyo.Constraint(expr=m.nothing + m.psd.X[0, 0] <= 1)


def _nan_entry(m):
    m.hole = SchurBlock(order=2, X={(0, 1): math.nan})


@pytest.mark.parametrize(
    ("spoil", "component"),
    [
        (_integer, "k"),
        (_nonlinear, "curved"),
        (_nonlinear_objective, "bent"),
        (_second_objective, "other"),
        (_curved_entry, r"entry \(0, 1\) of the positive semidefinite block wrong"),
        (_nan_entry, r"entry \(0, 1\) of the positive semidefinite block hole"),
        (_bool_entry, r"entry \(0, 1\) of the positive semidefinite block flag"),
        (_indexed_entry, r"entry \(0, 1\) of the positive semidefinite block many"),
        (_sos, "sos"),
        (_fixed_at_nothing, "nothing"),
    ],
)
def test_refusals_name_the_component(spoil, component):
    m = smallest_eigenvalue()
    with pytest.raises(InputError, match=component):
        spoil(m)
        pyo.SolverFactory("clarabel").solve(m)


@pytest.mark.parametrize("solver", BACKENDS)
def test_unknown_native_options_are_refused(solver):
    opt = pyo.SolverFactory(PYOMO_NAMES[solver], options={"no_such_option": 1})
    with pytest.raises(InputError, match="no_such_option"):
        opt.solve(smallest_eigenvalue())


NATIVE = {
    "clarabel": {"max_iter": 90},
    "scs": {"max_iters": 9000},
    "cvxopt": {"refinement": 2},
    "sdpa": {"maxIteration": 90},
    "copt": {"BarIterLimit": 90},
    "mosek": {"MSK_IPAR_INTPNT_MAX_ITERATIONS": 90},
}


@pytest.mark.parametrize(
    ("solver", "option"),
    [
        ("clarabel", {"max_iter": "x"}),
        ("clarabel", {"max_iter": -1}),
        ("clarabel", {"direct_solve_method": "x"}),
        ("scs", {"scale": -1}),
        ("scs", {"max_iters": "x"}),
    ],
)
def test_values_of_native_options_are_refused(solver, option):
    with pytest.raises(InputError, match=f"{solver} refused"):
        pyo.SolverFactory(solver, options=option).solve(smallest_eigenvalue())


@pytest.mark.parametrize("solver", BACKENDS)
def test_native_options_are_taken(solver):
    m = theta_of_5_cycle()
    pyo.SolverFactory(PYOMO_NAMES[solver], options=NATIVE[solver], tolerance=1e-6).solve(m)
    assert pyo.value(m.value) == pytest.approx(math.sqrt(5), abs=1e-4)


def test_a_neutral_option_that_a_solver_lacks_is_no_error():
    program = compile_model(smallest_eigenvalue())
    options = Options(time_limit=1.0)
    assert solve_program(program, "cvxopt", options).status == "optimal"
    assert registry.get("cvxopt").lacking(options) == "cvxopt has no option for time_limit"
    assert registry.get("clarabel").lacking(options) is None


def test_a_solver_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(registry.SolverInfo, "installed", property(lambda info: False))
    opt = pyo.SolverFactory("sdpa")
    assert not opt.available(exception_flag=False)
    with pytest.raises(SolverUnavailable, match="pip install"):
        opt.solve(smallest_eigenvalue())


def test_importing_radcluster_is_enough_and_light():
    script = (
        "import sys, radcluster; heavy = {'clarabel', 'scs', 'cvxpy', 'pyomo.environ'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "from pyomo.environ import SolverFactory, TransformationFactory;"
        "assert SolverFactory('clarabel').available(), 'clarabel';"
        "assert TransformationFactory('radcluster.factorise') is not None, 'factorise'"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
