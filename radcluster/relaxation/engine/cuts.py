"""Inequalities that every partition satisfies, stored as rows with their multipliers.

One family contains all that are used here. For a group i and a set S of other groups,

    star     sum_{j in S} Z_ij  <=  Z_ii + sum_{j < h in S} Z_jh          (Z_gh = Y_gh / (s_g s_h))

If t groups of S share a cluster with i, the left side is t and the right side at least
1 + t (t - 1) / 2 times the same number. With |S| = 1 it is the *pair* inequality, with |S| = 2 the
*triangle* inequality; when the groups of S conflict with one another, the last sum is zero and it
is the *clique* inequality. When S has K groups in mutual conflict, i shares a cluster with one of
them, and the clique inequality holds with equality: the reverse is the *cover* inequality.

Rows are kept in terms of Z, as lists of entries (g, h, coefficient) with g <= h. So groups can be
merged by renaming, and whatever that makes of a row is still valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.compiled import kernel


@dataclass(frozen=True)
class Cuts:
    """Rows sum_e coef_e Z[row_e, col_e] <= 0, compressed, each with its multiplier."""

    start: np.ndarray
    row: np.ndarray
    col: np.ndarray
    coef: np.ndarray
    multiplier: np.ndarray

    @classmethod
    def none(cls) -> Cuts:
        empty = np.empty(0, dtype=np.int64)
        return cls(np.zeros(1, dtype=np.int64), empty, empty, np.empty(0), np.empty(0))

    def __len__(self) -> int:
        return len(self.multiplier)

    def select(self, keep: np.ndarray) -> Cuts:
        """The cuts where a mask holds."""
        sizes = np.diff(self.start)
        entries = np.repeat(keep, sizes)
        start = np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64)
        return Cuts(
            start, self.row[entries], self.col[entries], self.coef[entries], self.multiplier[keep]
        )

    def joined(self, other: Cuts) -> Cuts:
        """These cuts, then the others."""
        return Cuts(
            np.concatenate([self.start, self.start[-1] + other.start[1:]]),
            np.concatenate([self.row, other.row]),
            np.concatenate([self.col, other.col]),
            np.concatenate([self.coef, other.coef]),
            np.concatenate([self.multiplier, other.multiplier]),
        )

    def renamed(self, group_of: np.ndarray) -> Cuts:
        """The cuts after groups were merged; those that became empty are dropped."""
        a, b = group_of[self.row], group_of[self.col]
        cuts = Cuts(
            self.start, np.minimum(a, b), np.maximum(a, b), self.coef.copy(), self.multiplier
        )
        _merge_entries(cuts.start, cuts.row, cuts.col, cuts.coef)
        positive = np.add.reduceat(np.maximum(cuts.coef, 0.0), cuts.start[:-1]) if len(cuts) else []
        return cuts.select(np.asarray(positive) > 0.0)

    def excess(self, z: np.ndarray) -> np.ndarray:
        """Left side of each row at Z."""
        if not len(self):
            return np.empty(0)
        return np.add.reduceat(self.coef * z[self.row, self.col], self.start[:-1])


@kernel(nogil=True)
def _merge_entries(start, row, col, coef):
    """Add up the coefficients of repeated entries; the repetitions keep 0."""
    for c in range(len(start) - 1):
        for e in range(start[c], start[c + 1]):
            for f in range(start[c], e):
                if row[f] == row[e] and col[f] == col[e]:
                    coef[f] += coef[e]
                    coef[e] = 0.0
                    break
