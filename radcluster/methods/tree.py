"""One search tree for all bounds: best bound first, several nodes at a time.

What a node is and how it is bounded is the oracle's affair: ``oracle.process(node, tree)`` returns
a bound and the children that together contain every partition of the node that can be better than
the incumbent. Here are the open nodes, the incumbent's cost, the bound of what is closed, and the
clock. The bound of the tree is valid whenever it is read.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Protocol

from radcluster.clock import Clock
from radcluster.errors import CompilingTimeUp
from radcluster.status import Status


class TimeUp(Exception):
    """The time limit has been reached."""


@dataclass(order=True)
class Node:
    """An open node: a lower bound, a number that breaks ties, and what the oracle knows of it."""

    bound: float
    number: int
    content: Any = field(compare=False, default=None)


class Oracle(Protocol):
    """Bounds a node and splits it."""

    def process(self, node: Node, tree: Tree) -> tuple[float, Sequence[Any]]:
        """The node's bound, and the contents of its children, if any.

        Raises :class:`TimeUp` when the tree is to stop; bounds reported by then are kept.
        """


class Tree:
    """The state of a search.

    Parameters
    ----------
    oracle : Oracle
    root : object
        Content of the root.
    cost : float
        Of the incumbent.
    bound : float
        A lower bound known beforehand.
    rel_gap : float
        The search ends when (cost - bound) / cost is at most this.
    workers : int
        Nodes at a time, each in a thread.
    report : callable, optional
        Called without arguments after each node.
    """

    def __init__(
        self,
        oracle: Oracle,
        root: Any,
        *,
        cost: float,
        bound: float,
        rel_gap: float,
        clock: Clock,
        workers: int = 1,
        report: Callable[[], None] | None = None,
    ):
        self.oracle, self.rel_gap, self.clock = oracle, rel_gap, clock
        self.workers, self.report = workers, report
        self.cost = cost
        self.open = [Node(bound, 0, root)]
        self.active: dict[int, Node] = {}
        self.closed_bound = math.inf
        self.nodes = 0
        self._created = 1
        self._lock = threading.RLock()

    @property
    def cutoff(self) -> float:
        """Nodes with this bound cannot improve the incumbent by more than the wanted gap."""
        return self.cost - self.rel_gap * abs(self.cost)

    @property
    def lower_bound(self) -> float:
        with self._lock:
            bounds = [self.cost, self.closed_bound, *(node.bound for node in self.active.values())]
            if self.open:
                bounds.append(self.open[0].bound)
            return min(bounds)

    def offer(self, cost: float) -> bool:
        """Take note of a partition's cost; whether it is the best so far."""
        with self._lock:
            better = cost < self.cost
            self.cost = min(self.cost, cost)
            return better

    def raise_bound(self, node: Node, bound: float) -> None:
        """Take note of a better bound of a node that is being worked on."""
        with self._lock:
            node.bound = max(node.bound, bound)

    def run(self) -> Status:
        """Search until the gap is closed or the time is up; why it ended."""
        try:
            if self.workers > 1:
                self._run_together()
            else:
                while (node := self._next()) is not None:
                    self._work(node)
        except (TimeUp, CompilingTimeUp):
            return Status.TIME_LIMIT
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        return Status.OPTIMAL

    def _next(self) -> Node | None:
        with self._lock:
            if not self.open or self.open[0].bound >= self.cutoff:
                return None
            node = heapq.heappop(self.open)
            self.active[node.number] = node
            return node

    def _work(self, node: Node) -> None:
        try:
            bound, children = self.oracle.process(node, self)
        except BaseException:
            with self._lock:
                del self.active[node.number]
                heapq.heappush(self.open, node)
            raise
        with self._lock:
            del self.active[node.number]
            self.nodes += 1
            bound = max(bound, node.bound)
            if not children:
                self.closed_bound = min(self.closed_bound, bound)
            for content in children:
                heapq.heappush(self.open, Node(bound, self._created, content))
                self._created += 1
        if self.report is not None:
            self.report()

    def _run_together(self) -> None:
        """Keep every worker busy; an interrupt or a failure lets the others end first."""
        running: set = set()
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                while True:
                    while len(running) < self.workers and (node := self._next()) is not None:
                        # A thread sees the clock of the call only in a copy of its context.
                        running.add(pool.submit(copy_context().run, self._work, node))
                    if not running:
                        return
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
            except TimeUp:
                # The others end by the same clock, and the search may go on with more time.
                raise
            except BaseException:
                self.clock.cancel()
                raise
