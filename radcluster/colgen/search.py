"""Branch and price: best bound first, with heuristics for good partitions early."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from radcluster.colgen import primal
from radcluster.colgen.branching import Node, fractional_pair, trimmed
from radcluster.colgen.columns import ColumnPool
from radcluster.colgen.master import HighsMaster, MasterSolution
from radcluster.colgen.problem import Problem, ProblemFactory
from radcluster.colgen.progress import Progress
from radcluster.colgen.relaxation import Relaxation
from radcluster.heuristics import improve, partition_cost
from radcluster.steps import Clock

#: A relaxation is solved when its bound is this part of the wanted gap below its value.
CLOSED_PART = 0.1
#: Seconds for choosing among the root's columns, beyond what was spent until then.
CHOICE_SECONDS = 1.0
#: Columns among which to choose, per group.
CHOICE_COLUMNS = 10
#: Choose when the bound is this part of the incumbent's distance from the master's value away
#: from it, and again when the time spent has grown by the second factor.
CHOICE_PART = 0.1
CHOICE_PAUSE = 4.0
#: A fractional solution is rounded when the time spent has grown by this factor.
ROUNDING_PAUSE = 1.3


class TimeUp(Exception):
    """The time limit has been reached."""


class Search:
    """The state of a branch and price: incumbent, lower bound, columns, open nodes.

    Costs are those of the partition, the problem's ``offset`` included. ``lower_bound`` is valid
    whenever the search is stopped; ``bound`` is one known beforehand.
    """

    def __init__(
        self,
        factory: ProblemFactory,
        root: Problem,
        groups: np.ndarray,
        *,
        bound: float = 0.0,
        rel_gap: float,
        clock: Clock,
        progress: Callable[[Progress], None] | None = None,
        master: Callable = HighsMaster,
    ):
        self.factory, self.root = factory, root
        self.rel_gap, self.clock, self.progress = rel_gap, clock, progress
        self.groups = groups
        self.net_cost = partition_cost(root, groups)
        unit = self.net_cost / root.n_clusters or 1.0
        self.pool = ColumnPool(root, incumbent=self.net_cost)
        self.master = master(root.n_groups, root.n_clusters, unit, self.net_cost)
        self.relaxation = Relaxation(root, self.master, self.pool, self._seconds_left, self._report)
        self.master.add(*self.pool.add(primal.surroundings(root, groups)))
        self.open: list[Node] = [Node(max(bound - root.offset, 0.0), 0)]
        self.node: Node | None = None
        self.node_bound = 0.0
        self.closed_bound = math.inf
        self.iterations = 0
        self.next_rounding = 0.0
        self.next_choice = CHOICE_SECONDS
        self.nodes = 0

    @property
    def upper_bound(self) -> float:
        return self.net_cost + self.root.offset

    @property
    def lower_bound(self) -> float:
        bounds = [self.net_cost, self.closed_bound]
        if self.open:
            bounds.append(self.open[0].bound)
        if self.node is not None:
            bounds.append(self.node_bound)
        return min(bounds) + self.root.offset

    @property
    def _cutoff(self) -> float:
        """Nodes with this net bound cannot improve the incumbent by more than the wanted gap."""
        return self.net_cost - self.rel_gap * abs(self.upper_bound)

    def run(self) -> None:
        """Search until the gap is closed; raises :class:`TimeUp` at the time limit."""
        while self.open and self.open[0].bound < self._cutoff:
            self.node = heapq.heappop(self.open)
            self.node_bound = self.node.bound
            self._process(self.node)
            self.node = None
            self.nodes += 1
        self._show()

    def _process(self, node: Node) -> None:
        problem = self.factory.build(node.together, node.apart)
        if problem is None:
            return
        closed = CLOSED_PART * self.rel_gap * abs(self.upper_bound)
        relaxed = self.relaxation.solve(node, problem, closed)
        self.node_bound = relaxed.bound
        pair = None
        if relaxed.solution is not None:
            if self.nodes == 0:
                self._choose(relaxed.solution)
            if relaxed.bound < self._cutoff:
                pair = self._branch_or_take(problem)
        if pair is None or relaxed.bound >= self._cutoff:
            self.closed_bound = min(self.closed_bound, relaxed.bound)
            return
        first = self.root.members
        points = (int(first[pair[0]][0]), int(first[pair[1]][0]))
        for child in node.children(points, relaxed.bound, 2 * self.nodes + 1):
            heapq.heappush(self.open, child)

    def _branch_or_take(self, problem: Problem) -> tuple[int, int] | None:
        """A pair to branch on; when the relaxation is integral, take it as a partition."""
        values = self.relaxation.vertex().values
        columns = self.pool.columns
        group_of = np.empty(self.root.n_groups, dtype=int)
        group_of[self.root.labels] = problem.labels
        cover = trimmed(columns, values, group_of)
        pair = fractional_pair(cover, self.root.n_groups)
        if pair is not None:
            self._offer(primal.rounded(self.root, columns, values))
            return pair
        clusters = primal.cover_to_clusters(cover, self.root.n_groups)
        if sum(map(len, clusters)) == self.root.n_groups:
            self._offer(primal.to_exactly_k(self.root, clusters))
        return None

    def _choose(self, solution: MasterSolution) -> None:
        """Look for a good partition among the columns that an improving one can contain."""
        prices = solution.prices
        self._offer(primal.rounded(self.root, self.pool.columns, solution.values))
        columns, costs = self.pool.columns, self.pool.costs
        reduced = costs - columns.sums(prices[:-1]) + prices[-1]
        most = min(len(reduced), CHOICE_COLUMNS * self.root.n_groups) - 1
        gap = self.net_cost - self.node_bound
        useful = np.flatnonzero(reduced <= min(gap, np.partition(reduced, most)[most]))
        seconds = min(CHOICE_SECONDS + self.clock.seconds, self._seconds_left())
        choice = columns.select(useful), costs[useful]
        self._offer(primal.best_choice(self.root, *choice, self.master.unit, seconds))

    def _offer(self, groups: np.ndarray | None) -> None:
        """Improve a partition by local search and keep it if it is the best."""
        if groups is None:
            return
        groups = improve(self.root, groups)
        cost = partition_cost(self.root, groups)
        if cost < self.net_cost:
            self.groups, self.net_cost, self.pool.incumbent = groups, cost, cost
            self.master.set_incumbent(cost)
            self.master.add(*self.pool.add(primal.surroundings(self.root, groups)))

    def _seconds_left(self) -> float:
        if self.clock.expired:
            raise TimeUp
        return math.inf if self.clock.left is None else self.clock.left

    def _report(self, bound: float, solution: MasterSolution) -> bool:
        """Take note of an iteration; whether its bound closes the node."""
        self.node_bound = max(self.node_bound, bound)
        self.iterations += 1
        if self.clock.seconds > self.next_rounding:
            self._offer(primal.rounded(self.root, self.pool.columns, solution.values))
            self.next_rounding = ROUNDING_PAUSE * self.clock.seconds
        # When the incumbent is what keeps the gap open, better prices will not close it.
        open_above, open_below = self.net_cost - solution.objective, solution.objective - bound
        if self.clock.seconds > self.next_choice and CHOICE_PART * open_above > open_below:
            self._choose(solution)
            self.next_choice = CHOICE_PAUSE * self.clock.seconds
        self._show()
        return bound >= self._cutoff

    def _show(self) -> None:
        if self.progress is not None:
            self.progress(
                Progress(
                    iteration=self.iterations,
                    columns=len(self.pool),
                    incumbent=self.upper_bound,
                    bound=self.lower_bound,
                    seconds=self.clock.seconds,
                    nodes=self.nodes,
                )
            )
