"""Random conic programs in Pyomo and in CVXPY: the same values, duals and verdicts."""

from __future__ import annotations

import os

import numpy as np
import pyomo.environ as pyo
import pytest

from radcluster.conic import (
    PSD,
    ExponentialCone,
    PowerCone,
    RotatedSecondOrderCone,
    SecondOrderCone,
)

cp = pytest.importorskip("cvxpy")

FULL = os.environ.get("RADCLUSTER_FULL") == "1"
SEEDS = range(500) if FULL else range(80)
#: One test per this many seeds, so that a failure is found again quickly.
BATCH = 20


class Pair:
    """A program stated twice: ``m`` in Pyomo, and lists for CVXPY."""

    def __init__(self, seed: int):
        self.rng = rng = np.random.default_rng(seed)
        self.n = int(rng.integers(2, 6))
        self.m = m = pyo.ConcreteModel()
        m.x = pyo.Var(range(self.n))
        self.x = cp.Variable(self.n)
        self.constraints = []
        #: Pairs of our component and CVXPY's constraint whose duals are compared.
        self.duals = []
        # A point that every constraint holds at, strictly.
        self.inner = rng.normal(size=self.n)
        m.rows = pyo.ConstraintList()
        m.inside = pyo.Block(range(2))
        self._box()
        for add in (self._rows, self._equation, self._psd, self._soc, self._rotated):
            if rng.random() < 0.6:
                add()
        for add in (self._exponential, self._power, self._order_1):
            if rng.random() < 0.3:
                add()
        if rng.random() < 0.4:
            self._decoys()
        self._objective()
        self._fix_one()

    def affine(self, scale=1.0):
        """The same random affine function in Pyomo and CVXPY, and its value at the inner point."""
        a, b = scale * self.rng.normal(size=self.n), float(self.rng.normal())
        ours = sum(float(c) * self.m.x[i] for i, c in enumerate(a)) + b
        return ours, a @ self.x + b, float(a @ self.inner + b)

    def _box(self):
        for i in range(self.n):
            self.m.x[i].setlb(float(self.inner[i]) - 3.0)
            self.m.x[i].setub(float(self.inner[i]) + 3.0)
        self.constraints += [self.x >= self.inner - 3.0, self.x <= self.inner + 3.0]

    def _rows(self):
        for _ in range(int(self.rng.integers(1, 4))):
            ours, theirs, value = self.affine()
            row = self.m.rows.add(ours <= value + 1.0)
            constraint = theirs <= value + 1.0
            self.constraints.append(constraint)
            self.duals.append((row, constraint, -1.0))

    def _equation(self):
        ours, theirs, value = self.affine()
        row = self.m.rows.add(ours == value)
        constraint = theirs == value
        self.constraints.append(constraint)
        self.duals.append((row, constraint, -1.0))

    def _psd(self):
        order = int(self.rng.integers(1, 5))
        matrix, other, at = (np.empty((order, order), dtype=object) for _ in range(3))
        for q in range(order):
            for p in range(q + 1):
                entry = self.affine(0.5)
                for array, part in zip((matrix, other, at), entry, strict=True):
                    array[p, q] = array[q, p] = part
        shift = max(0.0, 1.0 - np.linalg.eigvalsh(at.astype(float))[0])
        below = bool(self.rng.random() < 0.5)
        ours = matrix + shift * np.eye(order)
        if below:
            self.m.inside[0].lmi = PSD(-ours, sense="<=", inline=bool(self.rng.random() < 0.5))
        else:
            self.m.inside[0].lmi = PSD(ours.tolist())
        whole = cp.bmat([[other[p, q] for q in range(order)] for p in range(order)])
        constraint = whole + shift * np.eye(order) >> 0
        self.constraints.append(constraint)
        self.duals.append((self.m.inside[0].lmi, constraint, 1.0))

    def _soc(self):
        parts = [self.affine() for _ in range(int(self.rng.integers(1, 4)))]
        radius = float(np.linalg.norm([value for *_, value in parts])) + 1.0
        self.m.soc = SecondOrderCone(radius, [ours for ours, *_ in parts])
        self.constraints.append(cp.norm(cp.hstack([t for _, t, _ in parts])) <= radius)

    def _rotated(self):
        ours, theirs, value = self.affine()
        other = self.affine(0.3)
        u, shift = value**2 + 2.0, 1.0 - other[2]
        self.m.inside[1].cones = RotatedSecondOrderCone(
            [7], rule=lambda b, k: (u, other[0] + shift, [ours])
        )
        self.constraints += [
            cp.quad_over_lin(theirs, other[1] + shift) <= 2 * u,
            other[1] + shift >= 0,
        ]

    def _exponential(self):
        ours, theirs, value = self.affine(0.5)
        self.m.exponential = ExponentialCone(ours, 1, float(np.exp(value)) + 1.0)
        self.constraints.append(cp.exp(theirs) <= float(np.exp(value)) + 1.0)

    def _power(self):
        (x, x_theirs, at), (z, z_theirs, z_at) = self.affine(0.3), self.affine(0.3)
        alpha = float(self.rng.uniform(0.2, 0.8))
        y = (abs(z_at) + 1.0) ** (1.0 / (1.0 - alpha))
        self.m.power = PowerCone(x + (1.0 - at), y, z, alpha)
        self.constraints.append(
            cp.PowCone3D(x_theirs + (1.0 - at), cp.Constant(y), z_theirs, alpha)
        )

    def _order_1(self):
        ours, theirs, value = self.affine()
        self.m.one = PSD([[ours - (value - 1.0)]])
        self.constraints.append(theirs >= value - 1.0)

    def _decoys(self):
        """Parts that do not count: deactivated constraints, cones and blocks."""
        self.m.off = pyo.Constraint(expr=self.m.x[0] == 1e3)
        self.m.off.deactivate()
        self.m.dropped = SecondOrderCone(-1, [self.m.x[0]])
        self.m.dropped.cone.deactivate()
        self.m.away = pyo.Block()
        self.m.away.c = PSD([[self.m.x[1], 5], [5, -1]])
        self.m.away.deactivate()

    def _objective(self):
        ours, theirs, _ = self.affine()
        self.sign = 1.0
        sense = pyo.minimize
        if self.rng.random() < 0.3:
            square, same, _ = self.affine()
            ours, theirs = ours + square**2, theirs + cp.square(same)
        if self.rng.random() < 0.5:
            ours, sense, self.sign = -ours, pyo.maximize, -1.0
        self.m.value = pyo.Objective(expr=ours, sense=sense)
        self.goal = cp.Minimize(theirs)

    def _fix_one(self):
        if self.rng.random() < 0.25 and not any(
            isinstance(pair[1], cp.constraints.Equality) for pair in self.duals
        ):
            k = int(self.rng.integers(self.n))
            self.m.x[k].fix(float(self.inner[k]))
            self.constraints.append(self.x[k] == self.inner[k])


def check(pair: Pair, what: str) -> None:
    pair.m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    result = pyo.SolverFactory("clarabel", tolerance=1e-9).solve(pair.m)
    problem = cp.Problem(pair.goal, pair.constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    condition = str(result.solver.termination_condition)
    if problem.status == cp.INFEASIBLE:
        assert condition == "infeasible", what
        return
    if problem.status == cp.UNBOUNDED:
        assert condition == "unbounded", what
        return
    assert condition in ("optimal", "unknown"), f"{what}: {condition}, CVXPY {problem.status}"
    value = pair.sign * pyo.value(pair.m.value)
    assert value == pytest.approx(problem.value, rel=1e-5, abs=1e-5), what
    for component, constraint, sign in pair.duals:
        ours = np.asarray(pair.m.dual[component])
        theirs = pair.sign * sign * np.asarray(constraint.dual_value)
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-3, err_msg=what)


@pytest.mark.parametrize("first", range(0, SEEDS.stop, BATCH))
def test_values_and_duals(first):
    for seed in range(first, first + BATCH):
        check(Pair(seed), f"seed {seed}")


@pytest.mark.parametrize("seed", range(0, SEEDS.stop, 6))
def test_infeasible(seed):
    pair = Pair(1000 + seed)
    ours, theirs, value = pair.affine()
    pair.m.clash = SecondOrderCone(ours - value - 30.0, [ours - value + 30.0])
    pair.constraints.append(cp.abs(theirs - value + 30.0) <= theirs - value - 30.0)
    check(pair, f"seed {1000 + seed}")
    assert cp.Problem(pair.goal, pair.constraints).solve(solver=cp.CLARABEL) == np.inf


@pytest.mark.parametrize("seed", range(0, SEEDS.stop, 6))
def test_unbounded(seed):
    rng = np.random.default_rng(2000 + seed)
    n = int(rng.integers(2, 5))
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(range(n)), pyo.Var()
    m.norm = SecondOrderCone(m.t, [m.x[i] for i in range(n)])
    m.lmi = PSD([[m.t + 1, m.x[0]], [m.x[0], m.t + 2]])
    direction = rng.normal(size=n)
    direction /= np.linalg.norm(direction)
    slope = float(rng.uniform(1.1, 2.0))
    m.value = pyo.Objective(expr=m.t - slope * sum(float(direction[i]) * m.x[i] for i in range(n)))
    m.primal_ray = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    result = pyo.SolverFactory("clarabel").solve(m)
    assert str(result.solver.termination_condition) == "unbounded", f"seed {2000 + seed}"
    x = np.array([m.primal_ray[m.x[i]] for i in range(n)])
    assert m.primal_ray[m.t] >= np.linalg.norm(x) * (1 - 1e-6)
    assert m.primal_ray[m.t] - slope * direction @ x < 0
