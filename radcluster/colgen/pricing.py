"""Pricing: columns of negative reduced cost, fast ones first, and the proof that none is left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from radcluster.colgen import boxes, greedy, members
from radcluster.colgen.box_nodes import Found
from radcluster.colgen.columns import Columns
from radcluster.colgen.problem import Problem

#: Along more axes than this, branch on memberships instead of the centre's location. An axis
#: counts when it has more than this part of the variance.
MAX_LOCATION_DIMENSION = 4
FLAT = 0.01
#: Nodes spent on one cell, or head, before its bound is taken as it stands.
CELL_BUDGET = 200_000
HEAD_BUDGET = 100_000
#: Cells searched between two looks at the clock.
CELLS_AT_ONCE = 100
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
        p = self.problem
        found = self._buffers()
        greedy.grow_columns(
            p.centers, p.mass, prices, sigma, p.start, p.neighbours, tolerance, found
        )
        return _columns(found), found.cost[: found.count[0]]

    def exact(self, prices: np.ndarray, sigma: float, tolerance: float) -> Priced:
        """The best column of each head, where it prices out by more than ``tolerance``.

        A larger tolerance is less work; the floors say what was left out.
        """
        floor = np.full(self.problem.n_groups, -tolerance)
        found = self._buffers()
        search = self._by_location if self.is_flat else self._by_membership
        nodes = 0
        for used in search(np.ascontiguousarray(prices), sigma, tolerance, floor, found):
            nodes += used
            self.check()
        return Priced(_best_by_head(_columns(found), found), floor, nodes)

    @cached_property
    def is_flat(self) -> bool:
        """Whether the points spread along few axes, so that exact pricing is cheap."""
        spread = self.problem.centers.var(axis=0)
        return np.sum(spread > FLAT * spread.sum()) <= MAX_LOCATION_DIMENSION

    def _by_location(self, prices, sigma, tolerance, floor, found):
        p = self.problem
        sides, corners, start, points = boxes.root_cells(p.centers, p.mass, prices, p.reach)
        for first in range(0, len(corners), CELLS_AT_ONCE):
            last = min(first + CELLS_AT_ONCE, len(corners))
            yield boxes.price_cells(
                p.centers, p.mass, prices, sigma, p.reach, p.start, p.neighbours,
                sides, corners[first:last], start[first : last + 1], points,
                floor, tolerance, CELL_BUDGET, found,
            )  # fmt: skip

    def _by_membership(self, prices, sigma, tolerance, floor, found):
        p = self.problem
        for head in range(p.n_groups):
            yield members.price_head(
                p.centers, p.mass, prices, sigma, p.reach, p.start, p.neighbours,
                head, floor, HEAD_BUDGET, found,
            )  # fmt: skip

    def _buffers(self) -> Found:
        n = COLUMNS_PER_GROUP * self.problem.n_groups + 100
        return Found(
            head=np.empty(n, np.int32),
            cost=np.empty(n),
            end=np.empty(n, np.int64),
            members=np.empty(n * MEMBERS_PER_COLUMN, np.int32),
            count=np.zeros(1, np.int64),
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
