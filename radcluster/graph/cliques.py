"""Cliques of a graph given as a boolean adjacency matrix: a largest one, and covers of the edges.

A set of pairwise conflicting points is a proof that a person can check, so the largest clique is
worth an exact search. The search is the classic branch and bound with a greedy colouring bound;
vertex sets are Python integers used as bit sets.
"""

from __future__ import annotations

import numpy as np

from radcluster.clock import Clock


def max_clique(
    adjacency: np.ndarray, *, budget: float = 2.0, stop_at: int | None = None
) -> tuple[list[int], bool]:
    """A largest clique, and whether it is proven to be largest.

    The search ends early, unproven, after ``budget`` seconds or when a clique of ``stop_at``
    vertices is found.

    >>> triangle_and_tail = np.zeros((4, 4), dtype=bool)
    >>> for i, j in [(0, 1), (0, 2), (1, 2), (2, 3)]:
    ...     triangle_and_tail[i, j] = triangle_and_tail[j, i] = True
    >>> max_clique(triangle_and_tail)
    ([0, 1, 2], True)
    """
    n = len(adjacency)
    # Vertices of high degree first: they are coloured first and branched on last.
    order = np.argsort(-adjacency.sum(axis=1), kind="stable")
    permuted = adjacency[np.ix_(order, order)]
    search = _CliqueSearch(_bit_rows(permuted), Clock(budget), stop_at or n + 1)
    search.best = _greedy_clique(permuted)
    proven = search.run((1 << n) - 1)
    return sorted(order[search.best].tolist()), proven


class _CliqueSearch:
    def __init__(self, rows, clock: Clock, stop_at):
        self.rows = rows
        self.clock = clock
        self.stop_at = stop_at
        self.best: list[int] = []

    def run(self, candidates) -> bool:
        """Search all of ``candidates``; True when nothing was left out."""
        # One frame a chosen vertex, and one for the root: the candidates still open at that
        # depth, and the order in which they are tried, the best colour bound last.
        frames = [[candidates, self._colour(candidates)]]
        chosen: list[int] = []
        while frames:
            if len(self.best) >= self.stop_at or self.clock.expired:
                return False
            candidates, order = frames[-1]
            if not order or len(chosen) + order[-1][1] <= len(self.best):
                frames.pop()
                if chosen:
                    chosen.pop()
                continue
            vertex, _ = order.pop()
            frames[-1][0] = candidates & ~(1 << vertex)
            inner = frames[-1][0] & self.rows[vertex]
            chosen.append(vertex)
            if inner:
                frames.append([inner, self._colour(inner)])
                continue
            if len(chosen) > len(self.best):
                self.best = chosen.copy()
            chosen.pop()
        return True

    def _colour(self, candidates):
        """Candidates in colour classes, each with its colour's number: a bound on the clique."""
        order = []
        colour = 0
        while candidates:
            colour += 1
            independent = candidates
            while independent:
                vertex = (independent & -independent).bit_length() - 1
                bit = 1 << vertex
                candidates &= ~bit
                independent &= ~bit & ~self.rows[vertex]
                order.append((vertex, colour))
        return order


def _bit_rows(adjacency) -> list[int]:
    packed = np.packbits(adjacency, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _greedy_clique(adjacency) -> list[int]:
    """A maximal clique from each of a few starts, always adding the vertex that keeps the most."""
    n = len(adjacency)
    best: list[int] = []
    for start in np.linspace(0, n - 1, min(n, 8)).astype(int):
        clique = _extend(adjacency, [int(start)], np.arange(n))
        if len(clique) > len(best):
            best = clique
    return best


def _extend(adjacency, clique, allowed) -> list[int]:
    """``clique`` made maximal with vertices of ``allowed``."""
    clique = list(clique)
    candidates = allowed[adjacency[clique][:, allowed].all(axis=0)]
    while len(candidates):
        kept = adjacency[np.ix_(candidates, candidates)].sum(axis=1)
        vertex = candidates[kept.argmax()]
        clique.append(int(vertex))
        candidates = candidates[adjacency[vertex, candidates]]
    return clique


def edge_clique_cover(adjacency: np.ndarray) -> list[tuple[int, ...]]:
    """Cliques that together hold every edge, few of them, found greedily.

    ``sum_{q in Q} pi_q <= 1`` over each clique Q says the same of binary pi as one inequality an
    edge, and more of fractional pi.

    >>> edge_clique_cover(~np.eye(3, dtype=bool))
    [(0, 1, 2)]
    """
    n = len(adjacency)
    open_edges = np.triu(adjacency, 1)
    cover = []
    for i in range(n):
        while open_edges[i].any():
            clique = [i, int(open_edges[i].argmax())]
            candidates = np.flatnonzero(adjacency[clique].all(axis=0))
            while len(candidates):
                # Prefer vertices that close many open edges towards the clique.
                fresh = open_edges[np.ix_(clique, candidates)].sum(axis=0)
                fresh += open_edges[np.ix_(candidates, clique)].sum(axis=1)
                vertex = candidates[fresh.argmax()]
                clique.append(int(vertex))
                candidates = candidates[adjacency[vertex, candidates]]
            clique.sort()
            open_edges[np.ix_(clique, clique)] = False
            cover.append(tuple(clique))
    return cover
