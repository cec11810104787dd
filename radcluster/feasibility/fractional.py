"""The relaxed cover by column generation.

The linear program of :mod:`radcluster.models.cover` over all compatible sets has too many
columns to write down. It starts with a few and asks for more: with multipliers y_i of the cover
rows, a set S lowers the optimum only if y(S) > 1, so the pricing problem is a heaviest compatible
set. Greedy sets come first, the exact search when they fail.

For any y >= 0, with y(S) <= c for every compatible S, each cover takes at least sum(y) / c sets.
The multipliers are rounded to whole numbers before the exact search, so this bound holds as it
stands, whatever the accuracy of the linear program.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np

from radcluster.clock import Clock
from radcluster.graph.compatible_sets import CompatibleSets

#: Multipliers of the linear program are rounded down to multiples of 1/SCALE.
SCALE = 10**6
#: Seconds for a proof with smaller numbers.
SIMPLIFY_SECONDS = 0.2


@dataclass(frozen=True)
class FractionalCover:
    """Sets that were generated, and the best bound: whole weights, and what no set exceeds."""

    sets: list[tuple[int, ...]]
    weights: np.ndarray
    capacity: int


def fractional_cover(conflicts: np.ndarray, start, clock: Clock) -> FractionalCover:
    """Generate sets from the cover ``start`` on, until the rounded bound cannot improve.

    When the clock runs out the sets made so far are returned, with the best bound that was proven.
    """
    compatible = ~conflicts
    master = _Master(len(conflicts))
    best = np.zeros(len(conflicts), dtype=int), 1
    fresh = master.unknown(_enlarged(members, compatible) for members in start)
    while fresh and not clock.expired:
        master.add(fresh)
        value, multipliers = master.solve()
        weights = np.floor(SCALE * np.maximum(multipliers, 0.0) + 1e-3).astype(int)
        pricing = CompatibleSets(compatible, weights)
        fresh = master.unknown(pricing.greedy(more_than=SCALE + 1))
        if fresh:
            continue
        priced = pricing.heavier(SCALE + 1, clock)
        if priced is None:
            break
        heavier, capacity = priced
        best = max(best, (weights, capacity), key=_bound)
        # Further sets only lower the value, so its rounded form cannot become a better bound.
        if _bound(best) < math.ceil(value - 1e-6):
            fresh = master.unknown(_enlarged(members, compatible) for members in heavier)
    return FractionalCover(list(master.sets), *_simplified(*best, compatible))


def _bound(proof: tuple[np.ndarray, int]) -> int:
    weights, capacity = proof
    return -(-int(weights.sum()) // capacity)


def _simplified(weights: np.ndarray, capacity: int, compatible) -> tuple[np.ndarray, int]:
    """The same bound by weights with a small common denominator, where there is one."""
    shares = [Fraction(int(w), capacity).limit_denominator(100) for w in weights]
    smaller = math.lcm(*(share.denominator for share in shares))
    rounded = np.array([int(share * smaller) for share in shares])
    if smaller < capacity and _bound((rounded, smaller)) >= _bound((weights, capacity)):
        pricing = CompatibleSets(compatible, rounded)
        if pricing.heavier(smaller, Clock(SIMPLIFY_SECONDS)) == ([], smaller):
            return rounded, smaller
    return weights, capacity


class _Master:
    """The relaxed cover of :mod:`radcluster.models.cover`, growing by columns, warm-started."""

    def __init__(self, n_points: int):
        self._highs = highspy.Highs()
        self._highs.silent()
        self.sets: dict[tuple[int, ...], None] = {}
        for _ in range(n_points):
            self._highs.addRow(1.0, highspy.kHighsInf, 0, [], [])

    def unknown(self, sets: Iterable[list[int]]) -> list[tuple[int, ...]]:
        """Those of the sets that have no column yet, each once."""
        return [members for members in dict.fromkeys(map(tuple, sets)) if members not in self.sets]

    def add(self, sets: list[tuple[int, ...]]) -> None:
        """A column for each set."""
        for members in sets:
            self.sets[members] = None
            index, ones = np.array(members, dtype=np.int32), np.ones(len(members))
            self._highs.addCol(1.0, 0.0, highspy.kHighsInf, len(members), index, ones)

    def solve(self) -> tuple[float, np.ndarray]:
        """Optimal value, and the multiplier of each point."""
        self._highs.run()
        value = self._highs.getInfo().objective_function_value
        return value, np.array(self._highs.getSolution().row_dual)


def _enlarged(members: list[int], compatible: np.ndarray) -> list[int]:
    """A maximal compatible set around ``members``."""
    members = list(members)
    candidates = compatible[members].all(axis=0)
    candidates[members] = False
    while candidates.any():
        vertex = int(candidates.argmax())
        members.append(vertex)
        candidates &= compatible[vertex]
        candidates[vertex] = False
    return sorted(members)
