"""Sets of pairwise compatible points: the heaviest one, good ones fast, all maximal ones.

Compatible sets are the cliques of the compatibility graph. Vertex sets are Python integers used
as bit sets, and weights are whole numbers, so that a maximum is exact and a bound that rests on
it needs no tolerance. Vertices are numbered by falling weight: the lowest bit is the heaviest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from radcluster.clock import Clock


class CompatibleSets:
    """Compatible sets of a graph under weights.

    Parameters
    ----------
    compatible : bool array (n, n)
        Symmetric; the diagonal does not matter.
    weights : array of n non-negative whole numbers
        Vertices of weight 0 are left out of the searches, except of :meth:`maximal`.
    """

    def __init__(self, compatible: np.ndarray, weights: np.ndarray):
        self._order = np.argsort(-weights, kind="stable")
        ordered = compatible[np.ix_(self._order, self._order)]
        np.fill_diagonal(ordered, False)
        packed = np.packbits(ordered, axis=1, bitorder="little")
        self._near = [int.from_bytes(row.tobytes(), "little") for row in packed]
        self._weights = [int(w) for w in weights[self._order]]
        self._support = int(np.count_nonzero(weights))

    def greedy(self, more_than: int) -> list[list[int]]:
        """Sets of more than this weight, found by always adding the heaviest vertex that fits.

        Started from each vertex, and only if that finds none, from each compatible pair.
        """
        vertices = [1 << v for v in range(self._support)]
        return self._grown(vertices, more_than) or self._grown(self._pairs(), more_than)

    def _pairs(self) -> Iterator[int]:
        for v in range(self._support):
            for bit in _bits(self._near[v] & ((1 << v) - 1)):
                yield 1 << v | bit

    def _grown(self, starts: Iterable[int], more_than: int) -> list[list[int]]:
        found = set()
        for members in starts:
            candidates = -1
            for bit in _bits(members):
                candidates &= self._near[bit.bit_length() - 1]
            weight = self._weigh(members)
            while candidates:
                lowest = candidates & -candidates
                vertex = lowest.bit_length() - 1
                members |= lowest
                weight += self._weights[vertex]
                candidates &= self._near[vertex]
            if weight > more_than:
                found.add(members)
        return [self._vertices(bits) for bits in sorted(found)]

    def heavier(self, than: int, clock: Clock) -> tuple[list[list[int]], int] | None:
        """Sets heavier than this, a heaviest one among them; None when time ran out.

        The second value is a weight that no set exceeds: that of the heaviest, or ``than``. Each
        vertex gives at most one set, the heaviest of those in which it comes last.
        """
        found = []
        heaviest = than
        for vertex, bound, before in self._bounded((1 << self._support) - 1):
            if bound <= than:
                continue
            best = self._heaviest_with(vertex, before, than, clock)
            if best is None:
                return None
            members, weight = best
            if members:
                found.append(self._vertices(members))
                heaviest = max(heaviest, weight)
        return found, heaviest

    def _heaviest_with(self, last, before, than, clock) -> tuple[int, int] | None:
        """The heaviest set of ``last`` and some of ``before``, if it is heavier than this."""
        best, best_weight = 0, than
        # Depth-first: the open candidates with their bounds, the vertices chosen, their weight.
        frames = [([(last, self._weights[last] + than, before)], 0, 0)]
        while frames:
            candidates, members, weight = frames[-1]
            if not candidates or weight + candidates[-1][1] <= best_weight:
                frames.pop()
                continue
            if clock.expired:
                return None
            vertex, _, remaining = candidates.pop()
            grown = members | 1 << vertex
            grown_weight = weight + self._weights[vertex]
            if grown_weight > best_weight:
                best, best_weight = grown, grown_weight
            inner = remaining & self._near[vertex]
            if inner:
                frames.append((self._bounded(inner), grown, grown_weight))
        return best, best_weight

    def _bounded(self, candidates: int) -> list[tuple[int, int, int]]:
        """(vertex, most weight of a set with it and those before it, those before it).

        Candidates are put into classes of mutually incompatible vertices: a set takes at most
        one of each class, so the heaviest of each class bound it. The last is tried first.
        """
        entries: list[tuple[int, int, int]] = []
        earlier = 0
        before = 0
        while candidates:
            conflicting = candidates
            vertices = []
            while conflicting:
                lowest = conflicting & -conflicting
                vertex = lowest.bit_length() - 1
                vertices.append(vertex)
                conflicting &= ~lowest & ~self._near[vertex]
            for vertex in reversed(vertices):
                entries.append((vertex, earlier + self._weights[vertex], before))
                before |= 1 << vertex
                candidates ^= 1 << vertex
            earlier += self._weights[vertices[0]]
        return entries

    def maximal(self, at_least: int, clock: Clock) -> Iterator[list[int]]:
        """Every maximal set of at least this weight, as far as they are found in time.

        Bron and Kerbosch's search with a pivot, cut where the open weight cannot suffice.
        """
        stack = [(0, (1 << len(self._near)) - 1, 0)]
        while stack:
            if clock.expired:
                return
            members, candidates, excluded = stack.pop()
            if not candidates and not excluded:
                yield self._vertices(members)
                continue
            for bit in self._branches(candidates, excluded):
                near = self._near[bit.bit_length() - 1]
                grown, inner = members | bit, candidates & near
                if self._weigh(grown | inner) >= at_least:
                    stack.append((grown, inner, excluded & near))
                candidates ^= bit
                excluded |= bit

    def _branches(self, candidates: int, excluded: int) -> list[int]:
        """Candidates not compatible with the pivot: every maximal set takes one of them."""
        pivot = max(
            _bits(candidates | excluded),
            key=lambda bit: (candidates & self._near[bit.bit_length() - 1]).bit_count(),
        )
        return list(_bits(candidates & ~self._near[pivot.bit_length() - 1]))

    def _weigh(self, bits: int) -> int:
        return sum(self._weights[bit.bit_length() - 1] for bit in _bits(bits))

    def _vertices(self, bits: int) -> list[int]:
        return sorted(int(self._order[bit.bit_length() - 1]) for bit in _bits(bits))


def _bits(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest
        bits ^= lowest
