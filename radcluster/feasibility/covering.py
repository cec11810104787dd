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
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from scipy.sparse.csgraph import connected_components

from radcluster.clock import Clock
from radcluster.errors import InputError
from radcluster.feasibility.fractional import fractional_cover
from radcluster.graph.cliques import max_clique
from radcluster.graph.compatible_sets import CompatibleSets
from radcluster.graph.fewest import few_clusters
from radcluster.graph.greedy import dominated_by, greedy_clique, greedy_colouring
from radcluster.models import cover
from radcluster.problem.neighbours import from_matrix
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model
from radcluster.solvers.options import Options

#: Seconds for the clique search of a part, which is not begun beyond so many vertices.
CLIQUE_SECONDS = 0.2
MAX_CLIQUE_VERTICES = 1000
#: Parts of more vertices than this have clusters dissolved at once, for so many seconds.
FEW = 150
FEW_SECONDS = 2.0
#: Seconds for the cover with generated sets.
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
    sets: list[tuple[int, ...]] = field(default_factory=list)
    search: dict | None = None

    def __post_init__(self):
        self.labels = greedy_colouring(self.conflicts)
        if len(self.vertices) > FEW:
            fewer = few_clusters(from_matrix(~self.conflicts), Clock(FEW_SECONDS))
            if 0 <= fewer.min() and fewer.max() < self.labels.max():
                self.labels = fewer
        self.prove_by_clique(greedy_clique(self.conflicts))

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

    def prove_by_clique(self, clique) -> None:
        """Take the bound of these mutually conflicting vertices if it is better."""
        self.prove(np.isin(np.arange(len(self.vertices)), clique).astype(int), 1)

    def largest_clique(self, seconds: float, stop_at: int) -> list[int]:
        """A large clique; a part that is too large for the search has none to offer."""
        if len(self.vertices) > MAX_CLIQUE_VERTICES:
            return []
        return max_clique(self.conflicts, budget=seconds, stop_at=stop_at)[0]

    def refute(self, n_sets: int, search: dict) -> None:
        """Take the bound that this search proved: so many sets do not suffice."""
        self.bound, self.search = n_sets + 1, search

    def improve(self, sets) -> None:
        """Take this cover if it is one, and smaller."""
        labels = cover.labels_from(sets, len(self.vertices))
        covers = len(set().union(*sets)) == len(self.vertices)
        if covers and labels.max() < self.labels.max():
            self.labels = labels


@dataclass(frozen=True)
class Effort:
    """How the stages may work: the MILP solver by name, and the clock that they read."""

    solver: str | None = None
    clock: Clock = field(default_factory=lambda: Clock(None))

    @classmethod
    def within(cls, time_limit: float | None, solver: str | None) -> Effort:
        """So many seconds from now (None: no limit), with a solver that takes covers."""
        if time_limit is not None and not time_limit >= 0:
            raise InputError(f"time_limit must be a number of seconds >= 0, got {time_limit!r}")
        registry.require(solver, "MILP", "cover")
        return cls(solver, Clock(time_limit))

    @property
    def spent(self) -> bool:
        return self.clock.expired

    def options(self, seconds: float = math.inf) -> Options:
        left = self.clock.left
        seconds = seconds if left is None else min(seconds, left)
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
    leaders = dominated_by(~conflicts)
    kept = np.flatnonzero(leaders == np.arange(len(conflicts)))
    reduced = conflicts[np.ix_(kept, kept)]
    n_parts, part_of = connected_components(~reduced, directed=False)
    # Small parts first: they are soon closed when time is short.
    members = sorted((np.flatnonzero(part_of == p) for p in range(n_parts)), key=len)
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


def _clique(part: Part, effort: Effort) -> None:
    """Mutually conflicting points, each in a set of its own."""
    seconds = effort.options(CLIQUE_SECONDS).time_limit
    part.prove_by_clique(part.largest_clique(seconds, stop_at=part.n_sets))


def _fractional(part: Part, effort: Effort) -> None:
    """The relaxed cover's optimum, rounded up, is a bound."""
    colours = [np.flatnonzero(part.labels == c).tolist() for c in range(part.n_sets)]
    found = fractional_cover(part.conflicts, colours, effort.clock)
    part.sets = found.sets
    part.prove(found.weights, found.capacity)


def _generated_cover(part: Part, effort: Effort) -> None:
    """The best cover with the sets that column generation made: an upper bound."""
    sets = part.sets
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
    sets = list(islice(pricing.maximal(at_least, effort.clock), MAX_SETS))
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
