"""Columns: sets of groups, many at a time, in compressed rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from radcluster.methods.colgen.problem import Problem


@dataclass(frozen=True)
class Columns:
    """Sets of groups: column t is ``members[start[t]:start[t + 1]]``."""

    start: np.ndarray
    members: np.ndarray

    @classmethod
    def of(cls, sets: Iterable) -> Columns:
        """From non-empty sets, each an array of groups."""
        sets = [np.asarray(s, dtype=np.int32) for s in sets]
        start = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
        return cls(start, np.concatenate([*sets, np.empty(0, np.int32)]))

    @classmethod
    def concatenated(cls, parts: Iterable[Columns]) -> Columns:
        parts = list(parts)
        sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.start) for part in parts)])
        members = np.concatenate([np.empty(0, np.int32), *(part.members for part in parts)])
        return cls(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), members)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, t: int) -> np.ndarray:
        return self.members[self.start[t] : self.start[t + 1]]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum of ``values`` (per group, maybe vectors) over each column."""
        return np.add.reduceat(values[self.members], self.start[:-1], axis=0)

    def select(self, chosen: np.ndarray) -> Columns:
        """The columns with these indices, or where a mask holds."""
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        sizes = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shift = np.repeat(self.start[:-1][chosen] - start[:-1], sizes)
        return Columns(start, self.members[np.arange(start[-1]) + shift])

    def incidence(self, n_groups: int) -> csr_array:
        """Columns by groups, 0/1."""
        ones = np.ones(len(self.members))
        return csr_array((ones, self.members, self.start), shape=(len(self), n_groups))


def costs(columns: Columns, problem: Problem) -> np.ndarray:
    """Cost of each column."""
    if not len(columns):
        return np.empty(0)
    x, mass = problem.centers, problem.mass
    # Two passes: the means first, then distances to them, which keeps the digits.
    mean = columns.sums(mass[:, None] * x) / columns.sums(mass)[:, None]
    gaps = x[columns.members] - np.repeat(mean, np.diff(columns.start), axis=0)
    energies = mass[columns.members] * np.square(gaps).sum(axis=1)
    return np.add.reduceat(energies, columns.start[:-1])


#: How many times the incumbent's cost a column may cost by itself.
FAR_ABOVE = 1e3


class ColumnPool:
    """All columns so far with their costs, without repetitions.

    A column that alone costs more than the incumbent is in no better partition. Those that cost
    far more are left out: on data of mixed scales they would spoil the linear programs' numbers.
    """

    def __init__(self, problem: Problem, incumbent: float):
        self.problem = problem
        self.incumbent = incumbent
        self.costs = np.empty(0)
        self._parts: list[Columns] = []
        self._seen: set[int] = set()
        # A set is recognised by the sum of random numbers of its groups. To mistake one set for
        # another would lose a column, never the validity of a bound.
        self._code = np.random.default_rng(0).integers(
            2**63, size=problem.n_groups, dtype=np.uint64
        )

    @property
    def columns(self) -> Columns:
        if len(self._parts) > 1:
            self._parts = [Columns.concatenated(self._parts)]
        return self._parts[0] if self._parts else Columns.of([])

    def __len__(self) -> int:
        return len(self.costs)

    def add(self, columns: Columns) -> tuple[Columns, np.ndarray]:
        """Take in the columns that are new and of use; returns them with their costs."""
        fresh = []
        if len(columns):
            for t, code in enumerate(columns.sums(self._code).tolist()):
                if code not in self._seen:
                    self._seen.add(code)
                    fresh.append(t)
        new = columns.select(np.array(fresh, dtype=np.int64))
        new_costs = costs(new, self.problem)
        useful = np.flatnonzero(new_costs <= FAR_ABOVE * self.incumbent)
        new, new_costs = new.select(useful), new_costs[useful]
        self._parts.append(new)
        self.costs = np.concatenate([self.costs, new_costs])
        return new, new_costs
