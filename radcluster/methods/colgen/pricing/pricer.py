"""Pricing: columns of negative reduced cost, fast ones first, and the proof that none is left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from radcluster.methods.colgen.columns import Columns
from radcluster.methods.colgen.pricing import boxes, greedy, members
from radcluster.methods.colgen.pricing.box_nodes import Found, Market
from radcluster.methods.colgen.problem import Problem

#: Along more axes than this, branch on memberships instead of the centre's location. An axis
#: counts when it has more than this part of the variance.
MAX_LOCATION_DIMENSION = 4
FLAT = 0.01
#: Room for columns of one pricing, per group, and for their members, per column.
COLUMNS_PER_GROUP = 4
MEMBERS_PER_COLUMN = 64


@dataclass(frozen=True)
class Priced:
    """Columns that price out; ``floor[i]`` bounds the reduced costs of the sets with head i."""

    columns: Columns
    floor: np.ndarray
    nodes: int


class Pricer:
    """Pricing over the groups of one problem.

    ``check`` is called from time to time and may raise to stop.
    """

    def __init__(self, problem: Problem, check=lambda: None):
        self.problem = problem
        self.check = check

    def quick(self, prices, sigma: float, tolerance: float) -> tuple[Columns, np.ndarray]:
        """Columns grown around each group that price out by more than ``tolerance``.

        Returns them with their reduced costs.
        """
        found = self._buffers()
        for _ in greedy.grow(self._market(prices, sigma, tolerance), found):
            self.check()
        return _columns(found), found.cost[: found.count[0]]

    def exact(self, prices: np.ndarray, sigma: float, tolerance: float) -> Priced:
        """The best column of each head, where it prices out by more than ``tolerance``.

        A larger tolerance is less work; the floors say what was left out.
        """
        floor = np.full(self.problem.n_groups, -tolerance)
        found = self._buffers()
        search = boxes if self.is_flat else members
        for _ in search.price(self._market(prices, sigma, tolerance), floor, found):
            self.check()
        return Priced(_best_by_head(_columns(found), found), floor, int(found.nodes[0]))

    @cached_property
    def is_flat(self) -> bool:
        """Whether the points spread along few axes, so that exact pricing is cheap."""
        spread = self.problem.centers.var(axis=0)
        return np.sum(spread > FLAT * spread.sum()) <= MAX_LOCATION_DIMENSION

    def _market(self, prices, sigma: float, tolerance: float) -> Market:
        p = self.problem
        prices = np.ascontiguousarray(prices)
        return Market(
            p.centers, p.mass, prices, p.start, p.neighbours, sigma, p.reach, tolerance
        )  # fmt: skip

    def _buffers(self) -> Found:
        n = COLUMNS_PER_GROUP * self.problem.n_groups + 100
        return Found(
            head=np.empty(n, np.int32),
            cost=np.empty(n),
            end=np.empty(n, np.int64),
            members=np.empty(n * MEMBERS_PER_COLUMN, np.int32),
            count=np.zeros(1, np.int64),
            nodes=np.zeros(1, np.int64),
        )


def _columns(found: Found) -> Columns:
    count = int(found.count[0])
    start = np.concatenate([[0], found.end[:count]])
    return Columns(start, found.members[: start[-1]].copy())


def _best_by_head(columns: Columns, found: Found) -> Columns:
    """The last column written for each head: later ones are better."""
    heads = found.head[: len(columns)][::-1]
    _, last = np.unique(heads, return_index=True)
    return columns.select(np.sort(len(columns) - 1 - last))
