"""Column generation for clusters of several radii, at the root.

Sort the different radii r_1 < .. < r_C, and let N_c clusters have radius r_c or more. A compatible
set has class c when it needs radius r_c. So many sets S_t, each of cost cost_t, are clusters of
these radii exactly when at most N_c of them have class c or more, for every c:

    min   sum_t cost_t z_t
    s.t.  sum_{t: i in S_t} z_t >= 1              every point i is covered       lambda_i >= 0
          sum_{t: class(t) >= c} z_t <= N_c       c = 1..C                       sigma_c >= 0

A set of class c has the reduced cost rc = cost - lambda(S) + sigma_1 + .. + sigma_c. Pricing runs
once for each class, over the sets that radius r_c admits. Clusters are disjoint, so those of one
class have different heads, and with floor_ci a lower bound on the rc of class c and head i

    sum_i lambda_i - sum_c N_c sigma_c + sum_c (sum of the N_c lowest floor_ci)

bounds every partition from below, whatever the multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from radcluster.clock import Clock
from radcluster.errors import SolverFailure
from radcluster.methods.colgen.bounds import ROUNDING
from radcluster.methods.colgen.columns import Columns, costs
from radcluster.methods.colgen.pricing.pricer import Pricer
from radcluster.methods.colgen.problem import Problem, ProblemFactory
from radcluster.methods.refute import improved
from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations
from radcluster.result import relative_gap
from radcluster.status import Status

#: Reduced costs above minus this part of a cluster's cost count as zero.
TOLERANCE = 1e-9
#: Seconds for choosing clusters among the columns.
CHOICE_SECONDS = 5.0


@dataclass(frozen=True)
class Bounded:
    """A partition, a lower bound on the cost of all, why it ended, and how many columns it took."""

    labels: np.ndarray
    lower_bound: float
    stopped: Status
    n_columns: int
    n_rows: int
    iterations: int


class TimeUp(Exception):
    """The time limit has been reached."""


def column_generation(
    instance: Instance, labels: np.ndarray, clock: Clock, rel_gap: float
) -> Bounded | None:
    """Bound the instance and improve a valid partition; None where must-links need a wide cluster.

    Examples
    --------
    >>> line = Instance([[0.0], [1.0], [5.0], [6.5]], 2, radius=[0.5, 0.75])
    >>> found = column_generation(line, np.array([0, 0, 1, 1]), Clock(None), 1e-6)
    >>> found.labels.tolist(), round(found.lower_bound, 6)
    ([0, 0, 1, 1], 1.625)
    """
    radii = np.unique(instance.radii)
    problems = [ProblemFactory(instance.replace(radius=r)).build() for r in radii.tolist()]
    if any(problem is None for problem in problems):
        return None
    search = _Search(instance, radii, problems, improved(instance, labels), clock)
    stopped = Status.FEASIBLE
    try:
        search.run(rel_gap)
    except TimeUp:
        stopped = Status.TIME_LIMIT
    except KeyboardInterrupt:
        stopped = Status.INTERRUPTED
    n_rows = problems[0].n_groups + len(radii)
    sizes = len(search.costs), n_rows, search.iterations
    return Bounded(search.labels, search.bound, stopped, *sizes)


class _Search:
    """Columns with their classes, the master, the best partition and the best bound."""

    def __init__(self, instance, radii, problems: list[Problem], labels, clock: Clock):
        self.instance, self.radii, self.problems, self.clock = instance, radii, problems, clock
        self.most = np.array([(instance.radii >= r).sum() for r in radii])
        self.labels, self.bound = labels, 0.0
        self.pricers = [Pricer(problem, self._check) for problem in problems]
        self.columns, self.costs, self.iterations = Columns.of([]), np.empty(0), 0
        self.classes = np.empty(0, dtype=int)
        self.seen: set[tuple[int, ...]] = set()
        self.unit = self.cost / instance.n_clusters or 1.0
        self.master = _Master(problems[0].n_groups, self.most, self.cost / self.unit)
        clusters = [self._groups_of(labels == k) for k in range(instance.n_clusters)]
        self._add(Columns.of(clusters))

    @property
    def cost(self) -> float:
        """What the best partition costs beyond the constants of the problem."""
        return objective_of(self.instance, self.labels) - self.problems[0].offset

    def run(self, rel_gap: float) -> None:
        """Generate columns until the gap is closed or nothing prices out; then choose."""
        while True:
            prices = self.master.solve(self.clock.left) * self.unit
            self.iterations += 1
            fresh = self._price(prices[: -len(self.radii)], prices[-len(self.radii) :])
            closed = relative_gap(objective_of(self.instance, self.labels), self.bound) <= rel_gap
            if closed or not fresh:
                break
        if not closed:
            self._choose()

    def _price(self, prices: np.ndarray, sigma: np.ndarray) -> int:
        """Price every class at the master's prices: add columns, raise the bound."""
        total = float(prices.sum()) - float(self.most @ sigma)
        total -= ROUNDING * (float(prices.sum()) + float(self.most @ sigma))
        tolerance = TOLERANCE * self.unit
        found = []
        for c, pricer in enumerate(self.pricers):
            price = float(sigma[: c + 1].sum())
            quick, reduced = pricer.quick(prices, price, tolerance)
            most = int(self.most[c])
            known = float(np.partition(-reduced, -most)[-most]) if len(reduced) >= most else 0.0
            priced = pricer.exact(prices, price, max(tolerance, known))
            total += float(np.minimum(np.sort(priced.floor)[:most], 0.0).sum())
            found += [quick, priced.columns]
        self.bound = max(self.bound, total + self.problems[0].offset)
        return self._add(Columns.concatenated(found))

    def _add(self, columns: Columns) -> int:
        """Take in the columns that are new; how many."""
        fresh = []
        for t in range(len(columns)):
            key = tuple(np.sort(columns[t]).tolist())
            if key not in self.seen:
                self.seen.add(key)
                fresh.append(np.array(key, dtype=np.int32))
        new = Columns.of(fresh)
        own, classes = costs(new, self.problems[0]), np.array([*map(self._class, fresh)], dtype=int)
        self.master.add(new, own / self.unit, classes)
        self.columns = Columns.concatenated([self.columns, new])
        self.costs = np.concatenate([self.costs, own])
        self.classes = np.concatenate([self.classes, classes])
        return len(fresh)

    def _class(self, groups: np.ndarray) -> int:
        """The first radius that a set fits into."""
        points = self._points_of(groups)
        widest = self.instance.sq_distances[np.ix_(points, points)].max()
        return int(np.argmax(widest <= diameter_limit(self.radii)))

    def _choose(self) -> None:
        """The best partition that the columns make."""
        seconds = (
            CHOICE_SECONDS if self.clock.left is None else min(CHOICE_SECONDS, self.clock.left)
        )
        chosen = self.master.choose(seconds)
        taken = np.zeros(self.problems[0].n_groups, dtype=bool)
        clusters = []
        for t in chosen:
            rest = self.columns[t][~taken[self.columns[t]]]
            taken[rest] = True
            clusters += [rest] if len(rest) else []
        if not taken.all() or len(clusters) > self.instance.n_clusters:
            return
        labels = self._labelled(clusters)
        if violations(self.instance, labels):
            return
        labels = improved(self.instance, labels)
        if objective_of(self.instance, labels) < objective_of(self.instance, self.labels):
            self.labels = labels

    def _labelled(self, clusters: list[np.ndarray]) -> np.ndarray:
        """Labels of exactly K clusters, the widest set in the cluster of the largest radius."""
        while len(clusters) < self.instance.n_clusters:
            largest = max(range(len(clusters)), key=lambda t: len(clusters[t]))
            whole = clusters.pop(largest)
            clusters += [whole[:1], whole[1:]]
        widest = sorted(clusters, key=self._class, reverse=True)
        labels = np.empty(self.instance.n_points, dtype=int)
        for k, groups in zip(np.argsort(-self.instance.radii, kind="stable"), widest, strict=True):
            labels[self._points_of(groups)] = k
        return labels

    def _points_of(self, groups) -> np.ndarray:
        return np.concatenate([self.problems[0].members[g] for g in groups])

    def _groups_of(self, inside: np.ndarray) -> np.ndarray:
        return np.unique(self.problems[0].labels[inside])

    def _check(self) -> None:
        if self.clock.expired:
            raise TimeUp


class _Master:
    """The restricted master in HiGHS. Column 0 is the first partition as a whole."""

    def __init__(self, n_groups: int, most: np.ndarray, cost: float):
        self.n_groups, self.n_classes = n_groups, len(most)
        self.highs = highspy.Highs()
        self.highs.silent()
        inf, none = highspy.kHighsInf, np.empty(0)
        lower = np.r_[np.ones(n_groups), np.full(len(most), -inf)]
        upper = np.r_[np.full(n_groups, inf), most]
        rows = np.arange(len(lower), dtype=np.int32)
        self.highs.addRows(len(lower), lower, upper, 0, 0 * rows, none.astype(np.int32), none)
        self.highs.addCol(cost, 0.0, inf, len(rows), rows, np.r_[np.ones(n_groups), most])

    def add(self, columns: Columns, own_costs: np.ndarray, classes: np.ndarray) -> None:
        for t, cost in enumerate(own_costs.tolist()):
            counted = np.arange(self.n_groups, self.n_groups + classes[t] + 1)
            rows = np.concatenate([columns[t], counted]).astype(np.int32)
            self.highs.addCol(cost, 0.0, highspy.kHighsInf, len(rows), rows, np.ones(len(rows)))

    def solve(self, seconds: float | None) -> np.ndarray:
        """Multipliers of the points, then of the classes, all >= 0."""
        self._run(seconds)
        status = self.highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise TimeUp
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverFailure(f"restricted master: {self.highs.modelStatusToString(status)}")
        duals = np.array(self.highs.getSolution().row_dual)
        return np.maximum(np.r_[duals[: self.n_groups], -duals[self.n_groups :]], 0.0)

    def choose(self, seconds: float) -> list[int]:
        """Columns of the best whole solution found in time, none of them column 0."""
        n = self.highs.getNumCol()
        kinds = np.array([highspy.HighsVarType.kInteger] * n)
        self.highs.changeColBounds(0, 0.0, 0.0)
        self.highs.changeColsIntegrality(n, np.arange(n, dtype=np.int32), kinds)
        self._run(seconds)
        values = np.array(self.highs.getSolution().col_value)
        return (np.flatnonzero(values[1:] > 0.5)).tolist()

    def _run(self, seconds: float | None) -> None:
        if seconds is not None:
            # HiGHS counts from its first run.
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
