"""Cones in Pyomo beside CVXPY, in one run: from data to arrays, and from data to the solution."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyomo.environ as pyo
from rich.table import Table

from radcluster.conic import PSD, PSDVar, affine, compile_model

#: Each is timed this often, by turns; the least time counts.
_RUNS = 3


def cones_table() -> Table:
    """An LMI and a max-cut relaxation, written with whole matrices on both sides."""
    table = Table(title="Cones in Pyomo beside CVXPY with whole matrices: processor seconds")
    for column in ("program", "to arrays", "CVXPY", "ratio", "solver", "total", "CVXPY", "ratio"):
        table.add_column(column, justify="right")
    lmi, cut, dense = _lmi_data(), _cut_data(), _cut_data(density=1.0)
    table.add_row(
        "LMI, order 60, 20 variables",
        *_compared(lambda: _lmi(*lmi), lambda: _lmi_in_cvxpy(*lmi), "clarabel"),
    )
    table.add_row(
        "max-cut, 200 vertices",
        *_compared(lambda: _max_cut(cut), lambda: _max_cut_in_cvxpy(cut), "scs"),
    )
    table.add_row(
        "max-cut, 200 vertices, dense",
        *_compared(lambda: _max_cut(dense), lambda: _max_cut_in_cvxpy(dense), "scs"),
    )
    return table


def _compared(build: Callable, build_theirs: Callable, solver: str) -> tuple[str, ...]:
    import cvxpy as cp

    name = {"clarabel": cp.CLARABEL, "scs": cp.SCS}[solver]
    tolerance = {
        "clarabel": {"tol_gap_abs": 1e-6, "tol_gap_rel": 1e-6, "tol_feas": 1e-6},
        "scs": {"eps_abs": 1e-4, "eps_rel": 1e-4},
    }
    steps = {
        "arrays": lambda: compile_model(build()),
        "their arrays": lambda: build_theirs().get_problem_data(name),
        "total": lambda: pyo.SolverFactory(
            solver, tolerance={"clarabel": 1e-6, "scs": 1e-4}[solver]
        ).solve(build()),
        "their total": lambda: build_theirs().solve(solver=name, **tolerance[solver]),
    }
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(_RUNS):
        for key, step in steps.items():
            start = time.process_time()
            step()
            least[key] = min(least[key], time.process_time() - start)
    return (
        f"{least['arrays']:.3f}",
        f"{least['their arrays']:.3f}",
        f"{least['arrays'] / least['their arrays']:.2f}",
        solver,
        f"{least['total']:.2f}",
        f"{least['their total']:.2f}",
        f"{least['total'] / least['their total']:.2f}",
    )


def _lmi_data(order: int = 60, n: int = 20):
    rng = np.random.default_rng(0)
    matrices = rng.normal(size=(n, order, order))
    matrices += matrices.transpose(0, 2, 1)
    root = rng.normal(size=(order, order))
    # An objective with a dual solution, so that the minimum is attained.
    c = np.array([(matrix * (root @ root.T)).sum() for matrix in matrices])
    return order * np.eye(order), matrices, c


def _lmi(constant, matrices, c) -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(c)))
    x = affine(m.x)
    m.lmi = PSD(constant + sum(x[i] * matrices[i] for i in range(len(c))))
    m.cost = pyo.Objective(expr=(x @ c).expr)
    return m


def _lmi_in_cvxpy(constant, matrices, c):
    import cvxpy as cp

    x = cp.Variable(len(c))
    lmi = constant + sum(x[i] * matrices[i] for i in range(len(c)))
    return cp.Problem(cp.Minimize(c @ x), [lmi >> 0])


def _cut_data(n: int = 200, density: float = 0.1):
    rng = np.random.default_rng(1)
    weights = (rng.random((n, n)) < density).astype(float)
    if density == 1.0:
        weights = rng.random((n, n))
    weights = np.triu(weights, 1)
    weights += weights.T
    return np.diag(weights.sum(axis=1)) - weights


def _max_cut(laplacian) -> pyo.ConcreteModel:
    n = len(laplacian)
    m = pyo.ConcreteModel()
    m.X = PSDVar(n)
    m.one = pyo.Constraint(range(n), rule=lambda m, i: m.X.X[i, i] == 1)
    m.cut = pyo.Objective(expr=affine(m.X).inner(laplacian / 4).expr, sense=pyo.maximize)
    return m


def _max_cut_in_cvxpy(laplacian):
    import cvxpy as cp

    X = cp.Variable(laplacian.shape, symmetric=True)
    goal = cp.Maximize(cp.sum(cp.multiply(laplacian, X)) / 4)
    return cp.Problem(goal, [cp.diag(X) == 1, X >> 0])
