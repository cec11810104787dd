"""The fewest compatible sets that cover a conflict graph, with a proof of the bound.

Two reductions come first; both keep the answer.

- *Dominance*: if i is compatible with j and with all that j is compatible with, any set that
  holds j may take i as well. So i is dropped, and follows j in the end.
- *Parts*: points that no chain of compatible pairs connects never share a cluster. The connected
  parts of the compatibility graph are covered on their own, and the numbers add up.

Then each part goes through stages of growing effort until its bounds meet: a clique and a greedy
colouring; the fractional cover by column generation, where the pricing problem is a heaviest
compatible set; a cover with the sets generated; a cover with every set that can occur in a
better one.

A lower bound is held as whole *weights* w_i and a *capacity* c that no compatible set exceeds:
every cover takes at least (sum w) / c sets. A clique is the case of weights 0 and 1, c = 1.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import highspy
import numpy as np
from scipy.sparse.csgraph import connected_components

from radcluster.cliques import max_clique
from radcluster.compatible_sets import CompatibleSets
from radcluster.models import cover
from radcluster.solvers.mip import solve_model
from radcluster.solvers.options import Options

#: Multipliers of the linear program are rounded down to multiples of 1/SCALE.
SCALE = 10**6
#: Seconds for the first clique search of a part, and for the cover with generated sets.
CLIQUE_SECONDS = 0.2
ROUNDING_SECONDS = 10.0
#: More sets than this make a program that no solver should be given.
MAX_SETS = 100_000


@dataclass
class Part:
    """A connected part of the compatibility graph: its best cover and its best bound so far."""

    vertices: np.ndarray
    conflicts: np.ndarray
    labels: np.ndarray = field(init=False)
    bound: int = 0
    weights: np.ndarray = field(init=False)
    capacity: int = 1
    sets: set[tuple[int, ...]] = field(default_factory=set)
    search: dict | None = None

    def __post_init__(self):
        self.labels = _greedy_colouring(self.conflicts)
        self.prove(np.eye(1, len(self.vertices), dtype=int)[0], 1)

    @property
    def n_sets(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def closed(self) -> bool:
        return self.bound == self.n_sets

    @property
    def has_clique(self) -> bool:
        return set(self.weights.tolist()) <= {0, self.capacity}

    def prove(self, weights: np.ndarray, capacity: int) -> None:
        """Take the bound of these weights if it is better; no compatible set exceeds capacity."""
        bound = -(-int(weights.sum()) // capacity)
        if bound > self.bound:
            self.bound, self.weights, self.capacity = bound, weights, capacity

    def refute(self, n_sets: int, search: dict) -> None:
        """Take the bound that this search proved: so many sets do not suffice."""
        self.bound, self.search = n_sets + 1, search

    def improve(self, sets) -> None:
        """Take this cover if it is smaller."""
        labels = cover.labels_from(sets, len(self.vertices))
        if labels.max() < self.labels.max():
            self.labels = labels


@dataclass(frozen=True)
class Effort:
    """How the stages may work: the MILP solver by name, and until when."""

    solver: str | None = None
    deadline: float = math.inf

    @property
    def spent(self) -> bool:
        return time.monotonic() > self.deadline

    def options(self, seconds: float = math.inf) -> Options:
        seconds = min(seconds, max(0.01, self.deadline - time.monotonic()))
        return Options(time_limit=seconds if math.isfinite(seconds) else None)


@dataclass(frozen=True)
class Covering:
    """A cover of the whole graph: the parts' covers and bounds together."""

    parts: list[Part]
    leaders: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each vertex."""
        labels = np.full(len(self.leaders), -1)
        first = 0
        for part in self.parts:
            labels[part.vertices] = first + part.labels
            first += part.n_sets
        return labels[self.leaders]

    @property
    def kept(self) -> np.ndarray:
        """Vertices that no other dominates; the bound uses conflicts between these only."""
        return np.concatenate([part.vertices for part in self.parts])

    @property
    def n_sets(self) -> int:
        return sum(part.n_sets for part in self.parts)

    @property
    def bound(self) -> int:
        return sum(part.bound for part in self.parts)


def cover_graph(conflicts: np.ndarray, effort: Effort, target: int | None = None) -> Covering:
    """Cover a conflict graph with the fewest compatible sets.

    With a ``target`` the work ends as soon as it is known whether that many sets suffice.
    """
    leaders = _dominated_by(~conflicts)
    kept = np.flatnonzero(leaders == np.arange(len(conflicts)))
    reduced = conflicts[np.ix_(kept, kept)]
    n_parts, part_of = connected_components(~reduced, directed=False)
    members = [np.flatnonzero(part_of == p) for p in range(n_parts)]
    parts = [Part(kept[own], reduced[np.ix_(own, own)]) for own in members]
    covering = Covering(parts, leaders)
    for stage in STAGES:
        for part in parts:
            decided = target is not None and (covering.n_sets <= target or covering.bound > target)
            if decided or effort.spent:
                return covering
            if not part.closed:
                stage(part, effort)
    return covering


def _clique(part: Part, effort: Effort, seconds: float = CLIQUE_SECONDS) -> None:
    """Mutually conflicting points, each in a set of its own."""
    budget = min(seconds, effort.deadline - time.monotonic())
    clique, _ = max_clique(part.conflicts, budget=budget, stop_at=part.n_sets)
    part.prove(np.bincount(clique, minlength=len(part.vertices)), 1)


def _fractional(part: Part, effort: Effort) -> None:
    """Column generation: the relaxed cover's optimum, rounded up, is a bound."""
    compatible = ~part.conflicts
    master = _Master(len(part.vertices))
    colours = [np.flatnonzero(part.labels == c).tolist() for c in range(part.n_sets)]
    fresh = [_enlarged(colour, compatible) for colour in colours]
    while fresh and not effort.spent:
        for members in fresh:
            master.add(members)
            part.sets.add(tuple(members))
        value, multipliers = master.solve()
        weights = np.floor(SCALE * np.maximum(multipliers, 0.0) + 1e-3).astype(int)
        pricing = CompatibleSets(compatible, weights)
        fresh = pricing.greedy(more_than=SCALE + 1)
        if fresh:
            continue
        priced = pricing.heavier(SCALE + 1, effort.deadline)
        if priced is None:
            return
        heavier, capacity = priced
        part.prove(weights, capacity)
        # Further sets only lower the value, so its rounded form cannot become a better bound.
        if part.bound < math.ceil(value - 1e-6):
            fresh = [_enlarged(members, compatible) for members in heavier]
    _simplify(part)


def _simplify(part: Part) -> None:
    """The same bound by weights with a small common denominator, where there is one."""
    shares = [Fraction(int(w), part.capacity).limit_denominator(100) for w in part.weights]
    capacity = math.lcm(*(share.denominator for share in shares))
    weights = np.array([int(share * capacity) for share in shares])
    if capacity >= part.capacity or -(-int(weights.sum()) // capacity) < part.bound:
        return
    pricing = CompatibleSets(~part.conflicts, weights)
    if pricing.heavier(capacity, time.monotonic() + CLIQUE_SECONDS) == ([], capacity):
        part.weights, part.capacity = weights, capacity


def _generated_cover(part: Part, effort: Effort) -> None:
    """The best cover with the sets that column generation made: an upper bound."""
    sets = sorted(part.sets)
    model = cover.build(sets, len(part.vertices))
    if solve_model(model, effort.solver, effort.options(ROUNDING_SECONDS)).has_solution:
        part.improve([sets[t] for t in cover.chosen(model)])


def _exhaustive_cover(part: Part, effort: Effort) -> None:
    """Whether as many sets as the bound suffice, then one more, until some number does."""
    while not part.closed:
        bound = part.bound
        _try_bound(part, effort)
        if part.bound == bound and not part.closed:
            return


def _try_bound(part: Part, effort: Effort) -> None:
    """Cover with every set that a cover by m = bound sets can contain; m + 1 if none does.

    If S_1..S_m cover, sum_t w(S_t) >= sum w, and no w(S_t) exceeds c; so each of them weighs at
    least sum w - (m - 1) c.
    """
    at_least = int(part.weights.sum()) - (part.bound - 1) * part.capacity
    pricing = CompatibleSets(~part.conflicts, part.weights)
    sets = list(islice(pricing.maximal(at_least, effort.deadline), MAX_SETS))
    if len(sets) == MAX_SETS or effort.spent:
        return
    if len(set().union(*sets)) < len(part.vertices):
        part.refute(part.bound, {"solver": None, "n_sets": len(sets)})
        return
    model = cover.build(sets, len(part.vertices))
    outcome = solve_model(model, effort.solver, effort.options())
    if outcome.has_solution:
        part.improve([sets[t] for t in cover.chosen(model)])
    lower = outcome.objective if outcome.status == "optimal" else outcome.bound
    if not part.closed and lower > part.bound + 1e-6:
        part.refute(part.bound, {"solver": outcome.solver, "n_sets": len(sets)})


STAGES: tuple[Callable[[Part, Effort], None], ...] = (
    _clique,
    _fractional,
    _generated_cover,
    _exhaustive_cover,
)


class _Master:
    """The relaxed cover of :mod:`radcluster.models.cover`, growing by columns, warm-started."""

    def __init__(self, n_points: int):
        self._highs = highspy.Highs()
        self._highs.silent()
        for _ in range(n_points):
            self._highs.addRow(1.0, highspy.kHighsInf, 0, [], [])

    def add(self, members: list[int]) -> None:
        index = np.array(members, dtype=np.int32)
        ones = np.ones(len(members))
        self._highs.addCol(1.0, 0.0, highspy.kHighsInf, len(members), index, ones)

    def solve(self) -> tuple[float, np.ndarray]:
        """Optimal value, and the multiplier of each point."""
        self._highs.run()
        value = self._highs.getInfo().objective_function_value
        return value, np.array(self._highs.getSolution().row_dual)


def _dominated_by(compatible: np.ndarray) -> np.ndarray:
    """For each vertex the kept vertex whose set it may join; itself when it is kept."""
    leaders = np.arange(len(compatible))
    kept = leaders
    while True:
        near = compatible[np.ix_(kept, kept)]
        shared = near.astype(np.float32) @ near.astype(np.float32)
        size = near.sum(axis=1)
        # below[i, j]: all that j is compatible with, i is as well; of equals the first stays.
        below = near & (shared == size[None, :])
        below &= ~(below.T & (kept[:, None] <= kept[None, :]))
        if not below.any():
            return leaders
        dropped = below.any(axis=1)
        below[:, dropped] = False
        followed = kept.copy()
        followed[dropped] = kept[below[dropped].argmax(axis=1)]
        follow = np.arange(len(leaders))
        follow[kept] = followed
        leaders = follow[leaders]
        kept = kept[~dropped]


def _greedy_colouring(conflicts: np.ndarray) -> np.ndarray:
    """Colour next the vertex that sees the most colours, then the most conflicts (Brelaz)."""
    n = len(conflicts)
    degree = conflicts.sum(axis=1)
    colours = np.full(n, -1)
    seen = np.zeros((n, 0), dtype=bool)
    priority = degree / (n + 1.0)
    for _ in range(n):
        vertex = int(np.where(colours < 0, priority, -1.0).argmax())
        free = np.flatnonzero(~seen[vertex])
        if not len(free):
            seen = np.hstack([seen, np.zeros((n, 1), dtype=bool)])
        colour = int(free[0]) if len(free) else seen.shape[1] - 1
        colours[vertex] = colour
        priority += conflicts[vertex] & ~seen[:, colour]
        seen[:, colour] |= conflicts[vertex]
    return colours


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
