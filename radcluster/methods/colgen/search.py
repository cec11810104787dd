"""Branch and price: best bound first, with heuristics for good partitions early."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from radcluster.clock import Clock
from radcluster.methods.colgen import primal
from radcluster.methods.colgen.branching import Decisions, fractional_pair, trimmed
from radcluster.methods.colgen.columns import ColumnPool
from radcluster.methods.colgen.master import HighsMaster, MasterSolution
from radcluster.methods.colgen.problem import Problem, ProblemFactory
from radcluster.methods.colgen.relaxation import Relaxation
from radcluster.methods.heuristic.improve import improve, partition_cost
from radcluster.methods.tree import Node, TimeUp, Tree
from radcluster.problem.partition import objective_of
from radcluster.progress import Progress
from radcluster.result import StepReport
from radcluster.solvers import registry
from radcluster.status import Status

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


class Search:
    """The state of a branch and price: incumbent, lower bound, columns, open nodes.

    Costs are those of the partition, the problem's ``offset`` included. ``lower_bound`` is valid
    whenever the search is stopped; ``bound`` is one known beforehand.
    """

    name = "colgen"

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
        self.tree = Tree(
            self,
            Decisions(),
            cost=self.upper_bound,
            bound=max(bound, root.offset),
            rel_gap=rel_gap,
            clock=clock,
            report=self._show,
        )
        self.node: Node = self.tree.open[0]
        self.iterations = 0
        self.next_rounding = 0.0
        self.next_choice = CHOICE_SECONDS

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each point."""
        return self.groups[self.root.labels]

    def offer(self, labels: np.ndarray) -> None:
        """Take a better partition of the points."""
        groups = np.empty(self.root.n_groups, dtype=np.int64)
        groups[self.root.labels] = labels
        self._offer(groups)

    def report(self, status: Status) -> StepReport:
        """What was done, for the result."""
        return StepReport(
            step="colgen",
            model="set_partition",
            solver=self.master.name,
            version=registry.get(self.master.name).version,
            n_variables=len(self.pool),
            n_constraints=self.root.n_groups + 1,
            seconds=self.clock.seconds,
            objective=objective_of(self.factory.instance, self.labels),
            bound=self.lower_bound,
            status=status,
            note=f"{self.iterations} iterations, {self.nodes} nodes",
        )

    @property
    def upper_bound(self) -> float:
        return self.net_cost + self.root.offset

    @property
    def lower_bound(self) -> float:
        return self.tree.lower_bound

    @property
    def nodes(self) -> int:
        return self.tree.nodes

    def run(self) -> Status:
        """Search until the gap is closed or the time is up; why it ended."""
        return self.tree.run()

    def process(self, node: Node, tree: Tree) -> tuple[float, tuple[Decisions, ...]]:
        """The bound of a node by column generation, and its children."""
        offset = self.root.offset
        problem = self.factory.build(node.content.together, node.content.apart)
        if problem is None:
            return math.inf, ()
        self.node = node
        closed = CLOSED_PART * self.rel_gap * abs(self.upper_bound)
        relaxed = self.relaxation.solve(node.content, problem, node.bound - offset, closed)
        bound = relaxed.bound + offset
        tree.raise_bound(node, bound)
        pair = None
        if relaxed.solution is not None:
            if self.nodes == 0:
                self._choose(relaxed.solution)
            if bound < tree.cutoff:
                pair = self._branch_or_take(problem)
        if pair is None or bound >= tree.cutoff:
            return bound, ()
        first = self.root.members
        points = (int(first[pair[0]][0]), int(first[pair[1]][0]))
        return bound, node.content.children(points)

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
        gap = self.upper_bound - self.node.bound
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
            self.tree.offer(self.upper_bound)
            self.master.set_incumbent(cost)
            self.master.add(*self.pool.add(primal.surroundings(self.root, groups)))

    def _seconds_left(self) -> float:
        if self.clock.expired:
            raise TimeUp
        return math.inf if self.clock.left is None else self.clock.left

    def _report(self, bound: float, solution: MasterSolution) -> bool:
        """Take note of an iteration; whether its bound closes the node."""
        self.tree.raise_bound(self.node, bound + self.root.offset)
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
        return bound + self.root.offset >= self.tree.cutoff

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
