"""Ryan-Foster branching: two points together, or apart.

In a partition two points share a cluster or do not. A fractional solution that covers every
point exactly once has two points a, b with 0 < sum of z_t over the columns holding both < 1. One
branch merges them into a weighted point, the other makes them conflict; neither adds a row.

The master covers points *at least* once. Columns that cover a point beyond once give it up
(:func:`trimmed`): a subset costs no more, so the exact cover is as good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.methods.colgen.columns import Columns

#: A value this close to a whole number counts as whole.
INTEGRAL = 1e-6


@dataclass(frozen=True)
class Decisions:
    """What a node of the tree has decided: pairs of points joined, and pairs separated."""

    together: tuple[tuple[int, int], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()

    def children(self, pair: tuple[int, int]) -> tuple[Decisions, Decisions]:
        """The two ways to decide a pair."""
        return (
            Decisions((*self.together, pair), self.apart),
            Decisions(self.together, (*self.apart, pair)),
        )


def trimmed(
    columns: Columns, values: np.ndarray, group_of: np.ndarray
) -> dict[tuple[int, ...], float]:
    """An exact cover that costs no more: sets with their values.

    What a node has joined, the atoms of one group in ``group_of``, leaves a column together.
    """
    cover: dict[tuple[int, ...], float] = {}
    total = np.zeros(len(group_of))
    for t in np.flatnonzero(values > INTEGRAL):
        key = tuple(np.sort(columns[t]).tolist())
        cover[key] = cover.get(key, 0.0) + float(values[t])
        total[columns[t]] += values[t]
    for a in np.flatnonzero(total > 1 + INTEGRAL):
        if group_of[a] in group_of[:a]:
            continue
        excess = total[a] - 1
        for key in [key for key in cover if a in key]:
            moved = min(excess, cover[key])
            if moved <= INTEGRAL:
                break
            cover[key] -= moved
            rest = tuple(b for b in key if group_of[b] != group_of[a])
            if rest:
                cover[rest] = cover.get(rest, 0.0) + moved
            if cover[key] <= INTEGRAL:
                del cover[key]
            excess -= moved
    return cover


def fractional_pair(cover: dict[tuple[int, ...], float], n_groups: int) -> tuple[int, int] | None:
    """The pair whose shared value is nearest to one half; None when the cover is integral."""
    split = [(key, value) for key, value in cover.items() if value < 1 - INTEGRAL]
    if not split:
        return None
    incidence = Columns.of([key for key, _ in split]).incidence(n_groups)
    weights = np.array([value for _, value in split])
    shared = (incidence.T @ (incidence * weights[:, None])).tocoo()
    a, b = shared.coords
    open_ = (a < b) & (shared.data > INTEGRAL) & (shared.data < 1 - INTEGRAL)
    if not open_.any():
        return None
    a, b, value = a[open_], b[open_], shared.data[open_]
    best = np.lexsort((b, a, np.round(np.abs(value - 0.5), 9)))[0]
    return int(a[best]), int(b[best])
