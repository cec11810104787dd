"""Compiled searches for violated cuts (:mod:`radcluster.relaxation.engine.cuts`)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from radcluster.compiled import kernel
from radcluster.relaxation.engine.cuts import Cuts

KINDS = ("pair", "triangle", "clique", "star")
#: A star has at most this many pairs of groups that may share a cluster.
STAR_PAIRS = 15
#: A star is grown from each of this many nearest groups of its head.
STARTS = 4
#: Violations are sorted into this many classes, each twice as large as the last but eight.
_BINS = 400
_PER_OCTAVE = 8.0


def separate(
    z: np.ndarray,
    conflicts: np.ndarray,
    limit: int,
    tolerance: float,
    kinds: Collection[str] = KINDS,
) -> Cuts:
    """The most violated cuts at Z.

    Parameters
    ----------
    z : array (n, n)
        Symmetric and nonnegative.
    conflicts : bool array (n, n)
    limit : int
        At most this many triangles and pairs. Stars and cliques are at most one per head and
        start.
    tolerance : float
        A cut counts when its excess is more than this part of Z_ii.
    kinds : collection of {"pair", "triangle", "clique", "star"}
        Which cuts to look for.
    """
    order = np.argsort(-z, axis=1).astype(np.int32)
    found = np.empty((0, 3), dtype=np.int32)
    small = "pair" in kinds, "triangle" in kinds
    if any(small):
        counts = np.zeros(_BINS, dtype=np.int64)
        top = float(z.max())
        _triangles(z, order, tolerance, small, top, 0.0, counts, found)
        above = np.cumsum(counts)
        last = int(np.searchsorted(above, limit, side="right"))
        # The first class that does not fit is taken in part.
        least = 0.0 if last >= _BINS - 1 else top * 2.0 ** (-(last + 1) / _PER_OCTAVE)
        found = np.empty((min(int(above[-1]), limit), 3), dtype=np.int32)
        found = found[: _triangles(z, order, tolerance, small, top, least, counts, found)]
    cuts = _rows_of_triangles(found, conflicts)
    if "star" in kinds or "clique" in kinds:
        grown = _stars(z, order, conflicts, tolerance, "star" not in kinds)
        cuts = cuts.joined(_rows_of_stars(*grown, conflicts))
    return cuts


@kernel(nogil=True)
def _triangles(z, order, tolerance, wanted, top, least, counts, found):
    """Count violated pairs and triangles by size, or write those of at least ``least``.

    ``wanted`` says whether pairs and whether triangles are; a pair is written with its second
    member repeated. Returns how many were written.
    """
    n = len(z)
    write = len(found) > 0
    filled = 0
    for i in range(n):
        own = z[i, i]
        for a in range(n):
            j = order[i, a]
            if j == i:
                continue
            if 2.0 * z[i, j] <= own * (1.0 + tolerance):
                break
            for b in range(a, n):
                h = order[i, b]
                if h == i:
                    continue
                if not wanted[1 if b > a else 0]:
                    continue
                if b == a:
                    excess = z[i, j] - own
                else:
                    excess = z[i, j] + z[i, h] - own
                    if excess <= tolerance * own:
                        break
                    excess -= z[j, h]
                if excess <= tolerance * own or excess < least:
                    continue
                if not write:
                    place = int(np.log2(top / excess) * _PER_OCTAVE)
                    counts[min(max(place, 0), _BINS - 1)] += 1
                elif filled < len(found):
                    found[filled, 0], found[filled, 1], found[filled, 2] = i, j, h
                    filled += 1
    return filled


@kernel(nogil=True)
def _stars(z, order, conflicts, tolerance, cliques_only):
    """Stars with at least three rays, grown greedily from the nearest groups of each head.

    A clique has at least two rays.
    """
    n = len(z)
    start = [0]
    members = [0]
    members.pop()
    heads = [0]
    heads.pop()
    chosen = np.empty(n, np.int64)
    gain = np.empty(n)
    for i in range(n):
        last_sum = -1.0
        begun = 0
        for a in range(n):
            first = order[i, a]
            if begun == STARTS or z[i, first] <= tolerance * z[i, i]:
                break
            if first == i:
                continue
            begun += 1
            size, pairs = 0, 0
            excess = -z[i, i]
            for b in range(n):
                gain[b] = z[i, b]
            gain[i] = -1.0
            best = first
            while True:
                excess += gain[best]
                gain[best] = -1.0
                chosen[size] = best
                size += 1
                for b in range(n):
                    j = order[i, b]
                    if z[i, j] <= 0.0:
                        break
                    gain[j] -= z[best, j]
                    if cliques_only and not conflicts[best, j]:
                        gain[j] = -1.0
                nearest = -1
                for b in range(n):
                    j = order[i, b]
                    if z[i, j] <= 0.0:
                        break
                    if gain[j] > 0.0 and (nearest < 0 or gain[j] > gain[nearest]):
                        nearest = j
                if nearest < 0 or gain[nearest] <= 1e-3 * tolerance * z[i, i]:
                    break
                more = 0
                for b in range(size):
                    more += not conflicts[chosen[b], nearest]
                if pairs + more > STAR_PAIRS:
                    break
                pairs += more
                best = nearest
            if (
                size > (1 if cliques_only else 2)
                and excess > tolerance * z[i, i]
                and abs(excess - last_sum) > 1e-9 * z[i, i]
            ):
                last_sum = excess
                heads.append(i)
                for b in range(size):
                    members.append(chosen[b])
                start.append(len(members))
    return np.array(start), np.array(members), np.array(heads)


def _rows_of_triangles(found: np.ndarray, conflicts: np.ndarray) -> Cuts:
    """Triangle rows Z_ij + Z_ih - Z_jh - Z_ii <= 0; a conflict j, h drops its entry."""
    i, j, h = found.astype(np.int64).T
    pair = j == h
    row = np.column_stack([np.minimum(i, j), np.minimum(i, h), np.minimum(j, h), i])
    col = np.column_stack([np.maximum(i, j), np.maximum(i, h), np.maximum(j, h), i])
    coef = np.column_stack(
        [np.ones(len(i)), ~pair, -1.0 * ~(pair | conflicts[j, h]), -np.ones(len(i))]
    )
    return Cuts(np.arange(len(i) + 1) * 4, row.ravel(), col.ravel(), coef.ravel(), np.zeros(len(i)))


def _rows_of_stars(start, members, heads, conflicts) -> Cuts:
    row, col, coef, ends = [], [], [], [0]
    for c, i in enumerate(heads.tolist()):
        rays = np.sort(members[start[c] : start[c + 1]])
        a, b = np.triu_indices(len(rays), 1)
        a, b = rays[a], rays[b]
        open_ = ~conflicts[a, b]
        row += [np.minimum(rays, i), a[open_], [i]]
        col += [np.maximum(rays, i), b[open_], [i]]
        coef += [np.ones(len(rays)), -np.ones(int(open_.sum()) + 1)]
        ends.append(ends[-1] + len(rays) + int(open_.sum()) + 1)
    if not len(heads):
        return Cuts.none()
    return Cuts(
        np.array(ends, dtype=np.int64),
        np.concatenate(row).astype(np.int64),
        np.concatenate(col).astype(np.int64),
        np.concatenate(coef),
        np.zeros(len(heads)),
    )
