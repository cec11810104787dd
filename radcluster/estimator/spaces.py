"""What a metric means: how rows of data become an instance, where centres lie, who is how far.

A *vector space* has coordinates in which the metric is monotone in the Euclidean distance, so that
trees work and no N x N matrix is needed: the data themselves, or points of the globe. A *matrix
space* knows pairwise distances only; its centres are medoids.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.problem.partition import cluster_centers

#: Kilometres from the centre of the earth to its surface, on average.
EARTH_RADIUS = 6371.0088
#: Above this many rows a matrix of all distances is refused.
MAX_DENSE = 6000
#: Distances computed at a time.
BLOCK = 4_000_000


class Space(ABC):
    """The data of one fit, seen through a metric."""

    #: Whether there are coordinates with Euclidean distances.
    vectors: np.ndarray | None = None

    @property
    def keys(self) -> np.ndarray | None:
        """Rows that are equal where the data are the same place; None where that is not known."""
        return self.vectors

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def instance(self, rows, n_clusters, radius, **others) -> Instance:
        """The instance of these rows of the data; the radius is the metric's."""

    @abstractmethod
    def query(self, X) -> np.ndarray:
        """New rows as :meth:`to_centers` takes them: coordinates, or distances to the data."""

    def limit_from(self, radius):
        """The instance's radius for one of the metric."""
        return radius

    def radius_from(self, radius):
        """The metric's radius for one of the instance."""
        return radius

    def cost(self, rows, labels, weights, squares: float) -> float:
        """The metric's cost of a partition of ``rows`` that costs ``squares`` in the instance."""
        return squares

    @abstractmethod
    def centers(self, labels, n_clusters: int, weights) -> tuple[np.ndarray | None, np.ndarray]:
        """Centres as the user sees them, and what :meth:`to_centers` takes."""

    @abstractmethod
    def to_centers(self, queries, centers) -> np.ndarray:
        """Distances of queries to centres, shape (n_queries, n_clusters)."""


class Euclidean(Space):
    """Rows are points; centres are means."""

    def __init__(self, X):
        self.vectors = X

    def __len__(self):
        return len(self.vectors)

    def instance(self, rows, n_clusters, radius, **others):
        return Instance(self.vectors[rows], n_clusters, radius, **others)

    def query(self, X):
        return X

    def centers(self, labels, n_clusters, weights):
        found = cluster_centers(self.vectors, labels, n_clusters, weights)
        return found, found

    def to_centers(self, queries, centers):
        return cdist(queries, centers)


class Haversine(Euclidean):
    """Rows are latitude and longitude in degrees; distances are arcs in km.

    Points become vectors of length :data:`EARTH_RADIUS`. A chord c and its arc a satisfy
    c = 2 R sin(a / 2R), so a bound on arcs is one on chords. Chords are a little shorter: with
    kappa = (r/R) / sin(r/R), every valid partition has cost(chords) <= cost(arcs) <= kappa^2
    cost(chords). So a bound on the cost in chords is one on the cost in arcs.
    """

    def __init__(self, X):
        self.vectors = self.query(X)

    def query(self, X):
        X = np.asarray(X, dtype=float)
        if X.shape[1] != 2:
            raise InputError(
                f"metric='haversine' takes two columns, latitude and longitude in degrees, "
                f"got {X.shape[1]}"
            )
        if np.abs(X[:, 0]).max() > 90:
            row = int(np.abs(X[:, 0]).argmax())
            raise InputError(f"the latitude of row {row} is {X[row, 0]:g}: beyond 90 degrees")
        if np.abs(X[:, 1]).max() > 360:
            row = int(np.abs(X[:, 1]).argmax())
            raise InputError(f"the longitude of row {row} is {X[row, 1]:g}: beyond 360 degrees")
        latitude, longitude = np.radians(X).T
        return EARTH_RADIUS * np.column_stack(
            [
                np.cos(latitude) * np.cos(longitude),
                np.cos(latitude) * np.sin(longitude),
                np.sin(latitude),
            ]
        )

    def limit_from(self, radius):
        angle = np.asarray(radius, dtype=float) / EARTH_RADIUS
        inside = angle < np.pi / 2
        chord = EARTH_RADIUS * np.sin(np.where(inside, angle, 0.0))
        found = np.where(inside, chord, np.inf)
        return found if found.ndim else float(found)

    def radius_from(self, radius):
        return _arcs(2 * radius) / 2

    def instance(self, rows, n_clusters, radius, **others):
        return Instance(self.vectors[rows], n_clusters, self.limit_from(radius), **others)

    def cost(self, rows, labels, weights, squares):
        vectors = self.vectors[rows]
        order = np.argsort(labels, kind="stable")
        total = 0.0
        for members in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
            w = weights[members]
            step = max(1, BLOCK // len(members))
            for first in range(0, len(members), step):
                part = members[first : first + step]
                arcs = _arcs(cdist(vectors[part], vectors[members]))
                total += weights[part] @ np.square(arcs) @ w / (2 * w.sum())
        return float(total)

    def centers(self, labels, n_clusters, weights):
        means = cluster_centers(self.vectors, labels, n_clusters, weights)
        length = np.linalg.norm(means, axis=1, keepdims=True)
        on_surface = EARTH_RADIUS * means / np.where(length > 0, length, 1.0)
        x, y, z = on_surface.T
        degrees = np.degrees([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]).T
        return degrees, on_surface

    def to_centers(self, queries, centers):
        return _arcs(cdist(queries, centers))


def _arcs(chords):
    """Arcs in km that belong to chords in km."""
    return 2 * EARTH_RADIUS * np.arcsin(np.minimum(chords / (2 * EARTH_RADIUS), 1.0))


class Matrix(Space):
    """Rows with a metric of scipy, or a precomputed matrix of distances; centres are medoids."""

    def __init__(self, X, metric: str):
        self.X, self.metric = X, metric
        n = X.shape[0]
        if n > MAX_DENSE:
            raise InputError(
                f"metric={metric!r} needs all {n} x {n} distances at once, which is refused above "
                f"{MAX_DENSE} rows: take metric='euclidean' or 'haversine', or "
                "metric='precomputed' with a sparse radius-neighbours graph"
            )
        self.distances = precomputed(X) if metric == "precomputed" else self.query(X)
        self.distances = np.maximum(self.distances, self.distances.T)
        np.fill_diagonal(self.distances, 0.0)

    def __len__(self):
        return len(self.distances)

    @property
    def keys(self):
        return None if self.metric == "precomputed" else self.X

    def query(self, X):
        if self.metric == "precomputed":
            if issparse(X):
                raise InputError("the fit saw a dense matrix of distances: give dense rows")
            return np.asarray(X, dtype=float)
        try:
            found = cdist(X, self.X, self.metric)
        except ValueError as error:
            raise InputError(f"metric {self.metric!r}: {error}") from None
        if not np.isfinite(found).all():
            raise InputError(f"metric {self.metric!r} gives distances that are not finite")
        return found

    def instance(self, rows, n_clusters, radius, **others):
        squares = np.square(self.distances[np.ix_(rows, rows)])
        return Instance.from_distances(squares, n_clusters, radius, **others)

    def centers(self, labels, n_clusters, weights):
        medoids = np.empty(n_clusters, dtype=int)
        for k in range(n_clusters):
            members = np.flatnonzero((labels == k) & (weights > 0))
            within = np.square(self.distances[np.ix_(members, members)]) @ weights[members]
            medoids[k] = members[within.argmin()]
        points = None if self.metric == "precomputed" else self.X[medoids]
        return points, medoids

    def to_centers(self, queries, centers):
        return queries[:, centers]


def precomputed(X) -> np.ndarray:
    """A dense matrix of distances, checked."""
    if X.shape[0] != X.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of distances, got shape {X.shape}"
        )
    # Metrics computed by dot products are off by this much.
    rounding = 1e-12 * float(X.max())
    if X.min() < -rounding:
        raise InputError("Negative values in data: a precomputed distance is negative")
    if np.abs(np.diagonal(X)).max() > rounding:
        row = int(np.abs(np.diagonal(X)).argmax())
        raise InputError(f"the precomputed distance of row {row} to itself is {X[row, row]:g}")
    if not np.allclose(X, X.T, rtol=1e-9, atol=rounding):
        row, column = np.unravel_index(np.abs(X - X.T).argmax(), X.shape)
        raise InputError(
            f"the precomputed distances are not symmetric: entry ({row}, {column}) is "
            f"{X[row, column]:g}, entry ({column}, {row}) is {X[column, row]:g}"
        )
    return np.maximum(X, 0.0)


def make_space(X, metric: str) -> Space:
    """The data seen through the metric of this name."""
    if metric == "euclidean":
        return Euclidean(X)
    if metric == "haversine":
        return Haversine(X)
    if metric == "precomputed" and issparse(X):
        from radcluster.estimator.sparse import NeighbourGraph

        return NeighbourGraph(X)
    return Matrix(X, metric)
