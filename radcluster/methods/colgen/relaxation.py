"""Column generation at one node: the linear relaxation's optimum, or a bound that suffices.

Rows of the master belong to the groups of the root problem (*atoms*). A node may merge atoms
further; its pricing works on the merged groups, to which the price of their atoms minus what the
merger itself costs is passed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.methods.colgen.bounds import lagrangian_bound
from radcluster.methods.colgen.branching import Decisions
from radcluster.methods.colgen.columns import ColumnPool, Columns, costs
from radcluster.methods.colgen.master import MasterSolution
from radcluster.methods.colgen.pricing.pricer import Pricer
from radcluster.methods.colgen.problem import Problem
from radcluster.methods.colgen.stabilise import ALPHA, Smoothing

#: Reduced costs above minus this part of a cluster's cost count as zero.
PRICE_TOLERANCE = 1e-9


@dataclass
class View:
    """A node's problem seen from the atoms."""

    problem: Problem
    group_of: np.ndarray
    merging_cost: np.ndarray

    @classmethod
    def of(cls, problem: Problem, root: Problem) -> View:
        group_of = np.empty(root.n_groups, dtype=np.int64)
        group_of[root.labels] = problem.labels
        gaps = root.centers - problem.centers[group_of]
        energy = root.mass * np.square(gaps).sum(axis=1)
        merging = np.bincount(group_of, energy, minlength=problem.n_groups)
        return cls(problem, group_of, merging)

    @property
    def merged(self) -> bool:
        return self.problem.n_groups < len(self.group_of)

    def prices(self, prices: np.ndarray) -> np.ndarray:
        """Prices of the node's groups, maybe negative."""
        if not self.merged:
            return np.ascontiguousarray(prices)
        return np.bincount(self.group_of, prices) - self.merging_cost

    def columns(self, columns: Columns) -> Columns:
        """A node's columns as sets of atoms."""
        if not self.merged:
            return columns
        atoms = np.argsort(self.group_of, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(self.group_of))])
        return Columns.of(
            np.concatenate([atoms[start[g] : start[g + 1]] for g in columns[t]])
            for t in range(len(columns))
        )


def admitted(columns: Columns, node: Decisions, atom_of: np.ndarray) -> np.ndarray:
    """Which columns of atoms respect a node's decisions."""
    ok = np.ones(len(columns), dtype=bool)
    if not node.together and not node.apart:
        return ok
    by_atom = columns.incidence(int(atom_of.max()) + 1).tocsc()

    def holds(point):
        a = atom_of[point]
        mask = np.zeros(len(columns), dtype=bool)
        mask[by_atom.indices[by_atom.indptr[a] : by_atom.indptr[a + 1]]] = True
        return mask

    for i, j in node.together:
        ok &= holds(i) == holds(j)
    for i, j in node.apart:
        ok &= ~(holds(i) & holds(j))
    return ok


@dataclass(frozen=True)
class Relaxed:
    """Where column generation ended: a lower bound, and the master's solution if it is needed."""

    bound: float
    solution: MasterSolution | None


class Relaxation:
    """Column generation over one master and one pool, node after node.

    Parameters
    ----------
    root : Problem
        Its groups are the rows of ``master`` and ``pool``.
    seconds_left : callable
        Called often; raises to stop. Nothing is lost: bounds are reported as they come.
    report : callable
        Called with the lower bound of the node and the master's solution after each iteration;
        returns whether the bound suffices to close the node.
    """

    def __init__(self, root: Problem, master, pool: ColumnPool, seconds_left, report):
        self.root, self.master, self.pool = root, master, pool
        self.seconds_left, self.report = seconds_left, report

    def solve(self, node: Decisions, problem: Problem, bound: float, closed: float) -> Relaxed:
        """Solve a node's relaxation until its bound suffices, or is within ``closed`` of it.

        ``bound`` is one known beforehand.
        """
        view = View.of(problem, self.root)
        pricer = Pricer(problem, self.seconds_left)
        # The root starts from little, and needs steady prices; the nodes below it start from a
        # basis that is nearly right.
        interior = not node.together and not node.apart
        smoothing = Smoothing(ALPHA if interior else 0.0, bound)
        self.master.allow(admitted(self.pool.columns, node, self.root.labels))
        while True:
            solution = self._solve_master(interior)
            fresh = self._price(view, pricer, smoothing, solution.prices)
            bound = smoothing.bound
            if self.report(bound, solution):
                return Relaxed(bound, None)
            if solution.objective - bound <= closed or not (fresh or interior):
                return Relaxed(bound, solution)
            if not fresh:
                interior = False

    def vertex(self) -> MasterSolution:
        """The last master's solution with the fewest fractional values."""
        return self._solve_master(interior=False)

    def _solve_master(self, interior: bool) -> MasterSolution:
        while True:
            solution = self.master.solve(self.seconds_left(), interior=interior)
            if solution is not None:
                return solution

    def _price(self, view, pricer, smoothing, prices) -> int:
        """Add columns that price out at the master's prices; how many."""
        tolerance = PRICE_TOLERANCE * self.master.unit
        for mixture in smoothing.mixtures(prices):
            at, sigma = view.prices(mixture[:-1]), float(mixture[-1])
            quick, reduced = pricer.quick(at, sigma, tolerance)
            if not pricer.is_flat:
                # Exact pricing is expensive here: only once nothing else is left to do.
                added = self._add(view.columns(quick), prices, tolerance)
                if added:
                    return added
            coarse = max(tolerance, _kth_largest(-reduced, self.root.n_clusters))
            priced = pricer.exact(at, sigma, coarse)
            bound = lagrangian_bound(at, sigma, priced.floor, self.root.n_clusters)
            # Prices were net of what the mergers cost.
            smoothing.learn(mixture, bound + view.merging_cost.sum())
            columns = view.columns(Columns.concatenated([quick, priced.columns]))
            added = self._add(columns, prices, tolerance)
            if added:
                return added
        return 0

    def _add(self, columns: Columns, prices: np.ndarray, tolerance: float) -> int:
        """Add the columns that price out; how many were new."""
        if not len(columns):
            return 0
        reduced = costs(columns, self.root) - columns.sums(prices[:-1]) + prices[-1]
        fresh, fresh_costs = self.pool.add(columns.select(reduced < -tolerance))
        self.master.add(fresh, fresh_costs)
        return len(fresh)


def _kth_largest(values: np.ndarray, k: int) -> float:
    """The k-th largest value; 0 when there are fewer.

    What :func:`lagrangian_bound` adds up are the K lowest floors. K columns that price out by at
    least v are known, so sets that price out by less than v need no search.
    """
    return float(np.partition(values, -k)[-k]) if len(values) >= k else 0.0
