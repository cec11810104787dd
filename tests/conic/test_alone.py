"""The library stands alone, bounds say what they need, and crashes stay outside."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys

import numpy as np
import pyomo.environ as pyo
import pytest

from radcluster.conic import PSD, PSDVar, RotatedSecondOrderCone, SecondOrderCone, safe_bound
from radcluster.conic.backends import child, solve_program
from radcluster.conic.backends.check import checked
from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.program import ConicSolution, ConicStatus
from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.options import Options


def test_importing_it_imports_no_clustering():
    script = """
import sys
import pyomo.environ as pyo
import radcluster.conic as conic
m = pyo.ConcreteModel()
m.X = conic.PSDVar(2)
m.low = pyo.Constraint(expr=m.X.X[0, 1] == 1)
m.c = conic.SecondOrderCone(9, [m.X.X[0, 0]])
m.cost = pyo.Objective(expr=m.X.X[0, 0] + m.X.X[1, 1])
bound = conic.safe_bound(m, pyo.SolverFactory("clarabel").solve(m))
for name in conic.__all__:
    getattr(conic, name)
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("radcluster.")}
print(*sorted(rooms))
"""
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    rooms = set(run.stdout.split())
    assert rooms <= {"conic", "errors", "solvers", "show", "status"}, rooms


def eigenvalue(**keywords):
    m = pyo.ConcreteModel()
    m.X = PSDVar(2, **keywords)
    m.trace = pyo.Constraint(expr=m.X.X[0, 0] + m.X.X[1, 1] == 1)
    m.value = pyo.Objective(expr=m.X.X[0, 0] + 2 * m.X.X[0, 1])
    return m


OPTIMUM = (1 - math.sqrt(5)) / 2


@pytest.mark.parametrize("solver", ["clarabel", "scs", "cvxopt"])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-8])
def test_a_safe_bound_holds_at_any_tolerance(solver, tolerance):
    m = eigenvalue(trace=1.0)
    bound = safe_bound(m, pyo.SolverFactory(solver, tolerance=tolerance).solve(m))
    assert bound <= OPTIMUM + 1e-15
    assert bound.reason is None
    if tolerance == 1e-8:
        assert bound >= OPTIMUM - 1e-6


def test_a_bound_says_what_it_needs():
    m = eigenvalue()
    bound = safe_bound(m, pyo.SolverFactory("scs").solve(m))
    assert bound == -math.inf or bound <= OPTIMUM
    if bound == -math.inf:
        assert "declare trace=" in bound.reason
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(), pyo.Var()
    m.c = RotatedSecondOrderCone(m.t, 0.5, [m.x - 1 / 3])
    m.value = pyo.Objective(expr=m.t + m.x, sense=pyo.maximize)
    m.up = pyo.Constraint(expr=m.t <= 1)
    bound = safe_bound(m, pyo.SolverFactory("scs").solve(m))
    assert bound == math.inf and "has no" in bound.reason and "bound" in bound.reason
    with pytest.raises(InputError, match="results of another model"):
        safe_bound(m.clone(), pyo.SolverFactory("scs").solve(m))
    with pytest.raises(InputError, match="results of a conic solver"):
        safe_bound(m, None)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_the_bound_of_an_infeasible_model_is_infinite_on_the_other_side(sense):
    """The infimum over nothing is inf, the supremum -inf."""
    m = pyo.ConcreteModel()
    m.y = pyo.Var(bounds=(-5, 5))
    m.c = PSD([[-1, m.y], [m.y, 1]], trace=10)
    m.value = pyo.Objective(expr=m.y, sense=sense)
    bound = safe_bound(m, pyo.SolverFactory("clarabel").solve(m))
    assert bound == math.inf * sense and "infeasible: the dual ray proves it" in bound.reason
    m.y.fix(2.0)
    m.never = pyo.Constraint(expr=m.y <= 1)
    bound = safe_bound(m, pyo.SolverFactory("clarabel").solve(m))
    assert bound == math.inf * sense and "a constraint cannot hold" in bound.reason


def test_a_quadratic_objective_is_bounded_by_its_tangent():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-2, 2)), pyo.Var(bounds=(-2, 2))
    m.value = pyo.Objective(expr=(m.x - 1) ** 2 + (m.x + m.y) ** 2)
    m.c = SecondOrderCone(0.5, [m.x, m.y])
    best = pyo.SolverFactory("clarabel", tolerance=1e-10).solve(m)
    optimum = float(best.solver.primal_objective)
    for solver, tolerance in (("scs", 1e-2), ("scs", 1e-6), ("clarabel", 1e-8)):
        bound = safe_bound(m, pyo.SolverFactory(solver, tolerance=tolerance).solve(m))
        assert bound <= optimum + 1e-9
        assert bound >= optimum - 100 * tolerance
    m.x.setub(None)
    bound = safe_bound(m, pyo.SolverFactory("clarabel").solve(m))
    assert "x of the quadratic objective is not bounded" in bound.reason


def test_no_multipliers_make_a_bound_cross():
    """Whatever is handed in, also for the cones that are not their own duals."""
    from known_cones import KNOWN_CONES

    from radcluster.conic.bounds import program_bound

    rng = np.random.default_rng(0)
    for case in KNOWN_CONES:
        m = case.build()
        for var in m.component_data_objects(pyo.Var):
            var.setlb(max(-50.0, -np.inf if var.lb is None else var.lb))
            var.setub(50.0)
        program = compile_model(m)
        solution = solve_program(program, "clarabel")
        known = 1e-3 if case.name == "nearest correlation" else 1e-9
        for noise in (1e-9, 1e-3, 1.0, 100.0):
            z = solution.z + noise * rng.normal(size=len(solution.z))
            x = solution.x + noise * rng.normal(size=len(solution.x))
            bound = program_bound(program, z, x)
            assert bound <= program.sign * case.value + known, (case.name, noise)


def feasible_program():
    m = eigenvalue()
    return compile_model(m)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (ConicStatus.INFEASIBLE, "gives no ray that shows it"),
        (ConicStatus.UNBOUNDED, "gives no direction that shows it"),
    ],
)
@pytest.mark.parametrize("what", ["nothing", "noise", "zero"])
def test_a_claim_without_its_ray_is_not_passed_on(status, said, what):
    program = feasible_program()
    rng = np.random.default_rng(1)
    vectors = {
        "nothing": (None, None),
        "noise": (rng.normal(size=len(program.c)), rng.normal(size=len(program.b))),
        "zero": (np.zeros_like(program.c), np.zeros_like(program.b)),
    }
    found = checked(program, ConicSolution(status, *vectors[what], "so it says"), "liar", 1e-6)
    assert found.status == ConicStatus.UNKNOWN and said in found.message


def test_a_point_that_is_not_optimal_is_not_passed_on():
    program = feasible_program()
    right = solve_program(program, "clarabel")
    assert checked(program, right, "honest", 1e-6).status == ConicStatus.OPTIMAL
    for x, z in ((right.x + 0.1, right.z), (right.x, right.z + 0.1), (right.x, 2 * right.z)):
        claim = ConicSolution(ConicStatus.OPTIMAL, x, z, "so it says")
        found = checked(program, claim, "liar", 1e-6)
        assert found.status == ConicStatus.ALMOST and "not accurate" in found.message
    empty = ConicSolution(ConicStatus.OPTIMAL, None, None, "so it says")
    assert checked(program, empty, "liar", 1e-6).status == ConicStatus.ERROR


COPT = pytest.mark.skipif(registry.get("copt").obstacle is not None, reason="copt is not here")


@COPT
def test_an_unbounded_program_does_not_crash_this_process():
    m = pyo.ConcreteModel()
    m.X = PSDVar(2)
    m.value = pyo.Objective(expr=-m.X.X[0, 0] - m.X.X[1, 1])
    result = pyo.SolverFactory("copt_sdp").solve(m)
    assert str(result.solver.termination_condition) in ("unbounded", "unknown", "error")


@COPT
def test_a_crash_is_an_error_message_and_the_next_solve_works():
    program = feasible_program()
    assert child.solve(program, "copt", Options(), None).status == ConicStatus.OPTIMAL
    os.kill(child._running.pid, signal.SIGSEGV)
    child._running.wait()
    assert child.solve(program, "copt", Options(), None).status == ConicStatus.OPTIMAL
    os.kill(child._running.pid, signal.SIGSTOP)
    victim = child._running
    timer = subprocess.Popen(
        [sys.executable, "-c", f"import os, time; time.sleep(1); os.kill({victim.pid}, 9)"]
    )
    found = child.solve(program, "copt", Options(), None)
    timer.wait()
    assert found.status == ConicStatus.ERROR and "crashed (SIGKILL)" in found.message


def test_constants_of_every_cone():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.x.fix()
    m.soc = SecondOrderCone(m.x, [0.6, 0.8])
    m.psd = PSD([[m.x, 1], [1, m.x]])
    m.value = pyo.Objective(expr=m.x)
    result = pyo.SolverFactory("clarabel").solve(m)
    assert str(result.solver.termination_condition) == "optimal"
    m.x.fix(0.9)
    result = pyo.SolverFactory("clarabel").solve(m)
    assert str(result.solver.termination_condition) == "infeasible"
