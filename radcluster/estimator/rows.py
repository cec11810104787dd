"""Which rows of the data become points of an instance, and how its answers go back to rows.

Rows of weight 0 are left out. Equal rows become one point of their total weight: a weight of w is
w copies, and copies share a cluster at no cost. The points come in lexicographic order, so that
neither the order of rows nor their repetition changes what a search finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.errors import InputError
from radcluster.proof.certificate import Certificate
from radcluster.proof.certificates import certificate_of

#: Above this many rows, looking for equal ones costs more than it saves.
MAX_MERGED = 50_000


@dataclass(frozen=True)
class Chosen:
    """Points of an instance: row ``rows[p]`` stands for point p.

    ``point_of[i]`` is the point of row i, -1 for a row that is left out. Where equal rows are kept
    apart because more clusters than places are asked for, ``place[p]`` is the place of point p.
    """

    rows: np.ndarray
    weights: np.ndarray
    point_of: np.ndarray
    place: np.ndarray | None = None

    @property
    def n_places(self) -> int:
        """How many different places are known of: the points, where that is not looked at."""
        return len(self.rows) if self.place is None else int(self.place.max()) + 1

    @property
    def n_rows(self) -> int:
        return len(self.point_of)

    def expand(self, labels) -> np.ndarray:
        """Labels of the rows, -1 where a row was left out."""
        return np.where(self.point_of >= 0, np.asarray(labels)[self.point_of], -1).astype(np.int64)

    def pairs(self, pairs, name: str):
        """Pairs of rows as pairs of points."""
        if pairs is None:
            return ()
        try:
            array = np.asarray(pairs).reshape(-1, 2)
        except ValueError:
            raise InputError(f"{name} must be pairs of rows") from None
        if not array.size:
            return ()
        if array.dtype.kind not in "iu":
            raise InputError(f"{name} must hold whole numbers, got {array.dtype}")
        if array.min() < 0 or array.max() >= self.n_rows:
            raise InputError(f"{name} names a row that is not among 0 to {self.n_rows - 1}")
        points = self.point_of[array]
        if points.min() < 0:
            raise InputError(f"{name} names a row of weight 0")
        return points

    def in_rows(self, certificate: dict) -> Certificate:
        """A certificate with its points numbered by rows."""
        rows = self.rows.tolist()
        found = certificate_of(certificate)
        for key in ("points", "pair", "path", "anchors"):
            if key in found:
                found[key] = [rows[i] for i in found[key]]
        if "groups" in found:
            found["groups"] = [[rows[i] for i in group] for group in found["groups"]]
        if "forced" in found:
            found["forced"] = [[rows[i], k] for i, k in found["forced"]]
        if "point" in found:
            found["point"] = rows[found["point"]]
        return found


def checked_weights(weights: np.ndarray) -> np.ndarray:
    """Weights that are finite and not negative, and not all zero."""
    if not np.isfinite(weights).all():
        raise InputError("sample_weight must be finite numbers")
    if weights.min() < 0:
        row = int(weights.argmin())
        raise InputError(f"sample_weight[{row}] is {weights[row]:g}: negative weights are refused")
    if not weights.any():
        raise InputError("every weight is zero: there is nothing to cluster")
    return weights


def choose(space, weights: np.ndarray, *, merge: bool) -> Chosen:
    """The rows to cluster, equal ones merged where that is asked for and possible."""
    kept = np.flatnonzero(weights > 0)
    if not merge or space.keys is None or len(kept) > MAX_MERGED:
        point_of = np.full(len(weights), -1)
        point_of[kept] = np.arange(len(kept))
        return Chosen(kept, weights[kept], point_of)
    data = space.keys[kept]
    order = np.lexsort(data.T[::-1])
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (np.diff(data[order], axis=0) != 0).any(axis=1)
    number = np.cumsum(fresh) - 1
    point_of = np.full(len(weights), -1)
    point_of[kept[order]] = number
    return Chosen(kept[order][fresh], np.bincount(number, weights[kept[order]]), point_of)


def first_seen(labels, n_clusters: int) -> np.ndarray:
    """New numbers of the clusters, in the order of their first points."""
    _, first = np.unique(labels, return_index=True)
    order = np.empty(n_clusters, dtype=int)
    order[np.argsort(first)] = np.arange(n_clusters)
    return order
