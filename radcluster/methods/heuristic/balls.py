"""Clusters in any dimension, without lists of neighbours: distances are computed when needed.

Points within r of one place are compatible with each other. Around a centre these form the
*core*; points further out join while they are within 2r of all that joined before. Products of
blocks of coordinates decide clear cases, differences of coordinates the close ones.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from radcluster.clock import Clock

#: Numbers in one block of distances.
BLOCK = 2_000_000
#: Newcomers of one cluster that are compared with each other at once.
MOST_NEW = 2000
#: Distances from products of coordinates are off by less than this part of the squares.
ROUNDING = 1e-9
#: A point that fits nowhere near tries so many centres.
CENTRES_TRIED = 8
#: Points of a cluster that are placed before all are, to see whether it can be dissolved.
FIRST_TRIED = 16


class Balls:
    """Points, the largest squared distance ``limit`` inside a cluster, and centred products."""

    def __init__(self, points: np.ndarray, limit: float, clock: Clock):
        self.points = points
        self.limit = limit
        self.clock = clock
        self.centred = points - points.mean(axis=0)
        self.norms = np.square(self.centred).sum(axis=1)

    def look(self) -> None:
        if self.clock.expired:
            raise TimeoutError("the time limit passed while clusters were formed")

    def near(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Whether these two points may share a cluster, as a matrix."""
        squared = self.norms[rows, None] + self.norms[None, columns]
        squared -= 2 * (self.centred[rows] @ self.centred[columns].T)
        margin = (
            ROUNDING * 2 * max(self.norms[rows].max(initial=0), self.norms[columns].max(initial=0))
        )
        result = squared <= self.limit
        i, j = np.nonzero(np.abs(squared - self.limit) <= margin)
        if len(i):
            exact = np.square(self.points[rows[i]] - self.points[columns[j]]).sum(axis=1)
            result[i, j] = exact <= self.limit
        return result

    def fit(self, candidates: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Whether each candidate is within reach of all members."""
        fits = np.ones(len(candidates), dtype=bool)
        if not len(members) or not len(candidates):
            return fits
        # Members far from their middle exclude the most candidates: those first.
        middle = self.centred[members].mean(axis=0)
        away = np.square(self.centred[members] - middle).sum(axis=1)
        members = members[np.argsort(-away, kind="stable")]
        first, size = 0, 64
        while first < len(members) and fits.any():
            self.look()
            alive = np.flatnonzero(fits)
            size = max(1, min(size, BLOCK // len(alive)))
            block = members[first : first + size]
            for part in np.array_split(alive, len(alive) * size // BLOCK + 1):
                if len(part):
                    fits[part] = self.near(candidates[part], block).all(axis=1)
            first += size
            size *= 4
        return fits

    def mutual(self, candidates: np.ndarray) -> np.ndarray:
        """Which candidates stay when those in conflict leave, the worst first."""
        candidates = np.asarray(candidates)
        if len(candidates) > MOST_NEW:
            chosen = self.mutual(candidates[:MOST_NEW])
            taken = candidates[:MOST_NEW][chosen]
            rest = candidates[MOST_NEW:]
            fitting = np.flatnonzero(self.fit(rest, taken))
            kept = np.zeros(len(rest), dtype=bool)
            kept[fitting[self.mutual(rest[fitting])]] = True
            return np.concatenate([chosen, kept])
        conflict = ~self.near(candidates, candidates)
        np.fill_diagonal(conflict, False)
        stays = np.ones(len(candidates), dtype=bool)
        clashes = conflict.sum(axis=1)
        while len(clashes) and clashes.max() > 0:
            worst = int(clashes.argmax())
            stays[worst] = False
            clashes -= conflict[worst]
            clashes[worst] = 0
            conflict[worst] = conflict[:, worst] = False
        return stays

    def carve(self, candidates: np.ndarray, middle: np.ndarray) -> np.ndarray:
        """A compatible subset of the candidates around this place."""
        away = np.square(self.points[candidates] - middle).sum(axis=1)
        # A hair less than r, so that rounding cannot let two points of the core conflict.
        inside = away <= self.limit / 4 * (1 - ROUNDING)
        core, outer = candidates[inside], candidates[~inside]
        outer = outer[np.argsort(away[~inside], kind="stable")]
        outer = outer[self.fit(outer, core)]
        return np.concatenate([core, outer[self.mutual(outer)]])


def repaired(balls: Balls, labels: np.ndarray, centers: np.ndarray, wide: Iterable[int]):
    """Labels in which the clusters ``wide`` keep a compatible subset, and the rest moves.

    Points that fit into no cluster near them form clusters of their own, so that the labels may
    exceed those of ``centers``.
    """
    labels = labels.copy()
    for k in wide:
        members = np.flatnonzero(labels == k)
        labels[members] = -1
        labels[balls.carve(members, centers[k])] = k
    place(balls, labels, centers)
    used = len(centers)
    while len(free := np.flatnonzero(labels < 0)):
        balls.look()
        # The free point farthest from all centres has the fewest clusters to be in.
        known = centers if len(centers) else balls.points.mean(axis=0, keepdims=True)
        seed = free[_gaps(balls.points[free], known).min(axis=1).argmax()]
        candidates = free[balls.fit(free, np.array([seed]))]
        middle = balls.points[candidates].mean(axis=0)
        middle = balls.points[seed] + (middle - balls.points[seed]) / 2
        chosen = balls.carve(candidates[candidates != seed], middle)
        chosen = np.append(chosen[balls.fit(chosen, np.array([seed]))], seed)
        labels[chosen] = used
        centers = np.vstack([centers, balls.points[chosen].mean(axis=0)])
        used += 1
    return labels


def place(balls: Balls, labels: np.ndarray, centers: np.ndarray, clusters=None, free=None) -> None:
    """Put free points into clusters near them that they fit into, where there are any.

    ``clusters`` says which clusters are open, ``free`` which points are placed; all by default.
    """
    free = np.flatnonzero(labels < 0) if free is None else free
    clusters = np.arange(len(centers)) if clusters is None else clusters
    if not len(free) or not len(clusters):
        return
    gaps = _gaps(balls.points[free], centers[clusters])
    tried = min(CENTRES_TRIED, len(clusters))
    nearest = clusters[np.argsort(gaps, axis=1)[:, :tried]]
    for turn in range(tried):
        target = nearest[:, turn]
        for k in np.unique(target[labels[free] < 0]):
            newcomers = free[(target == k) & (labels[free] < 0)]
            newcomers = newcomers[balls.fit(newcomers, np.flatnonzero(labels == k))]
            labels[newcomers[balls.mutual(newcomers)]] = k


def _gaps(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    gaps = np.square(points).sum(axis=1)[:, None] + np.square(centers).sum(axis=1)
    return np.maximum(gaps - 2 * points @ centers.T, 0.0)


def merged(balls: Balls, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Fewer clusters: dissolve the smallest while their points fit elsewhere."""
    labels = np.unique(labels, return_inverse=True)[1]
    size = np.bincount(labels)
    alive = len(size)
    centers = np.array([balls.points[labels == k].mean(axis=0) for k in range(len(size))])
    for k in np.argsort(size, kind="stable"):
        if alive <= n_clusters:
            break
        trial = _dissolved(balls, labels, centers, k)
        if trial is not None:
            labels = trial
            alive -= 1
    return np.unique(labels, return_inverse=True)[1]


def _dissolved(balls: Balls, labels: np.ndarray, centers: np.ndarray, k: int) -> np.ndarray | None:
    """The labels with cluster k's points in other clusters; None when they do not all fit."""
    members = np.flatnonzero(labels == k)
    others = np.setdiff1d(np.unique(labels), [k])
    if not len(others):
        return None
    # A few points first, those farthest from the other centres: most failures show there.
    gaps = _gaps(balls.points[members], centers[others]).min(axis=1)
    hardest = members[np.argsort(-gaps, kind="stable")[:FIRST_TRIED]]
    for tried in (hardest, members):
        balls.look()
        trial = labels.copy()
        trial[members] = -1
        place(balls, trial, centers, others, tried)
        if trial[tried].min() < 0:
            return None
    return trial


def lloyd(balls: Balls, labels: np.ndarray, weights: np.ndarray, sweeps: int) -> np.ndarray:
    """Points move to the nearest centre whose cluster takes them, until none gains."""
    labels = labels.copy()
    n_clusters = int(labels.max()) + 1
    for _ in range(sweeps):
        total = np.bincount(labels, weights, minlength=n_clusters)
        centers = np.column_stack(
            [np.bincount(labels, weights * x, minlength=n_clusters) / total for x in balls.points.T]
        )
        moved = 0
        for part in np.array_split(np.arange(len(labels)), len(labels) * n_clusters // BLOCK + 1):
            gaps = _gaps(balls.points[part], centers)
            target = gaps.argmin(axis=1)
            own = gaps[np.arange(len(part)), labels[part]]
            wish = gaps.min(axis=1) < own * (1 - ROUNDING)
            try:
                moved += _move(balls, labels, part[wish], target[wish])
            except TimeoutError:
                return labels
        if not moved:
            break
    return labels


def _move(balls: Balls, labels: np.ndarray, points: np.ndarray, target: np.ndarray) -> int:
    """Move those points that fit, and leave no cluster empty; how many moved."""
    moved = 0
    for k in np.unique(target):
        newcomers = points[target == k]
        newcomers = newcomers[np.bincount(labels)[labels[newcomers]] > len(newcomers)]
        newcomers = newcomers[balls.fit(newcomers, np.flatnonzero(labels == k))]
        newcomers = newcomers[balls.mutual(newcomers)]
        labels[newcomers] = k
        moved += len(newcomers)
    return moved
