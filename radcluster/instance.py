"""The problem: points, a number of clusters, a radius, and links. Validated at the door.

Minimise  sum_k 1/(2 n_k) sum_{i,j in k} d_ij  over partitions of N points into K non-empty
clusters such that  d_ij <= 4 r_k^2  for every two points of cluster k, where d_ij is the
squared distance of points i and j.
"""

from __future__ import annotations

import operator
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from radcluster.errors import InputError

#: Two points are in conflict when d_ij > 4 r^2 (1 + DIAMETER_TOL). The slack only absorbs the
#: rounding of a square root, so that a radius computed as sqrt(d_ij) / 2 admits its own pair.
DIAMETER_TOL = 1e-12


def diameter_limit(radius):
    """Largest squared distance that may occur inside a cluster of this radius."""
    return 4.0 * np.square(radius) * (1.0 + DIAMETER_TOL)


class Instance:
    """Radius-constrained k-means on N points.

    Parameters
    ----------
    points : array of shape (N, m)
        One row a point, finite numbers.
    n_clusters : int
        K, with 1 <= K <= N; every cluster is non-empty.
    radius : float or sequence of K floats, default inf
        No two points of cluster k lie more than ``2 * radius[k]`` apart. One number holds for
        all clusters; ``inf`` is plain k-means.
    cannot_link, must_link : iterable of (i, j)
        Pairs of 0-based point indices kept apart, or kept together.

    Examples
    --------
    >>> instance = Instance([[0.0], [1.0], [5.0]], n_clusters=2, radius=0.5)
    >>> instance.n_points, instance.n_clusters, float(instance.sq_distances[0, 2])
    (3, 2, 25.0)
    """

    def __init__(self, points, n_clusters, radius=np.inf, *, cannot_link=(), must_link=()):
        self.points = _check_points(points)
        self._set_rest(len(self.points), n_clusters, radius, cannot_link, must_link)

    @classmethod
    def from_distances(
        cls, sq_distances, n_clusters, radius=np.inf, *, cannot_link=(), must_link=()
    ):
        """An instance known only by its N x N matrix of *squared* distances."""
        self = cls.__new__(cls)
        self.points = None
        self.__dict__["sq_distances"] = _check_sq_distances(sq_distances)
        self._set_rest(len(self.sq_distances), n_clusters, radius, cannot_link, must_link)
        return self

    def _set_rest(self, n_points, n_clusters, radius, cannot_link, must_link):
        self.n_points = n_points
        self.n_clusters = _check_n_clusters(n_clusters, n_points)
        self.radii = _check_radius(radius, self.n_clusters)
        self.cannot_link = _check_pairs(cannot_link, n_points, "cannot_link")
        self.must_link = _check_pairs(must_link, n_points, "must_link")

    @property
    def uniform_radius(self) -> bool:
        """Whether all clusters share one radius, so that their labels are interchangeable."""
        return bool(np.all(self.radii == self.radii[0]))

    @property
    def radius(self) -> float | tuple[float, ...]:
        """The radius as it was given: one number, or one per cluster."""
        return float(self.radii[0]) if self.uniform_radius else tuple(self.radii.tolist())

    @cached_property
    def sq_distances(self) -> np.ndarray:
        """N x N matrix of squared distances d_ij."""
        # Differences, not the Gram expansion: |x|^2 - 2xy + |y|^2 loses the digits that decide
        # whether a pair lies within 2r.
        distances = cdist(self.points, self.points, "sqeuclidean")
        if not np.isfinite(distances).all():
            raise InputError("points lie so far apart that their squared distances overflow")
        return distances

    def replace(self, **changes) -> Instance:
        """The same points with some of n_clusters, radius, cannot_link, must_link changed."""
        return self._derive(self.points, self.__dict__.get("sq_distances"), **changes)

    def scaled(self, unit: float) -> Instance:
        """The instance with all lengths, the radius too, times ``unit``."""
        points = None if self.points is None else self.points * unit
        return self._derive(points, self.sq_distances * unit**2, radius=self.radii * unit)

    def _derive(self, points, sq_distances, **changes):
        new = Instance.__new__(Instance)
        new.points = points
        if sq_distances is not None:
            new.__dict__["sq_distances"] = sq_distances
        kwargs = {
            "n_clusters": self.n_clusters,
            "radius": self.radius,
            "cannot_link": self.cannot_link,
            "must_link": self.must_link,
        }
        new._set_rest(self.n_points, **(kwargs | changes))
        return new

    def __repr__(self):
        links = "".join(
            f", {len(pairs)} {name}"
            for name, pairs in (("cannot_link", self.cannot_link), ("must_link", self.must_link))
            if len(pairs)
        )
        return f"Instance({self.n_points} points, K={self.n_clusters}, r={self.radius}{links})"


def _as_floats(values, name):
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}") from None
    return array


def _check_points(points):
    array = _as_floats(points, "points")
    if array.ndim == 1 and array.size:
        raise InputError(
            f"points must have shape (N, m), got {array.shape}: "
            "for one-dimensional data use points.reshape(-1, 1)"
        )
    if array.ndim != 2 and array.size:
        raise InputError(f"points must have shape (N, m), got {array.shape}")
    if array.size == 0:
        raise InputError("points is empty: at least one point with one coordinate is needed")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InputError(f"points[{row}, {column}] is {array[row, column]}: must be finite")
    array.setflags(write=False)
    return array


def _check_sq_distances(sq_distances):
    array = _as_floats(sq_distances, "sq_distances")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InputError(f"sq_distances must be a square matrix, got shape {array.shape}")
    if array.size == 0:
        raise InputError("sq_distances is empty: at least one point is needed")
    if not np.isfinite(array).all():
        raise InputError("sq_distances must be finite")
    if array.min() < 0:
        row, column = np.argwhere(array < 0)[0]
        raise InputError(f"sq_distances[{row}, {column}] is negative: {array[row, column]}")
    if np.diag(array).any():
        raise InputError("sq_distances must have a zero diagonal")
    if not np.allclose(array, array.T, rtol=1e-9, atol=0):
        row, column = np.unravel_index(np.abs(array - array.T).argmax(), array.shape)
        raise InputError(
            f"sq_distances must be symmetric: entry ({row}, {column}) is {array[row, column]}, "
            f"entry ({column}, {row}) is {array[column, row]}"
        )
    array = np.maximum(array, array.T)
    array.setflags(write=False)
    return array


def _check_n_clusters(n_clusters, n_points):
    try:
        if isinstance(n_clusters, (bool, np.bool_)):
            raise TypeError
        k = operator.index(n_clusters)
    except TypeError:
        raise InputError(f"n_clusters must be a whole number, got {n_clusters!r}") from None
    if k < 1:
        raise InputError(f"n_clusters must be at least 1, got {k}")
    if k > n_points:
        raise InputError(
            f"n_clusters={k} exceeds the number of points, {n_points}: clusters are non-empty"
        )
    return k


def _check_radius(radius, n_clusters):
    radii = _as_floats(radius, "radius")
    if radii.ndim > 1 or (radii.ndim == 1 and radii.size != n_clusters):
        raise InputError(
            f"radius must be one number or one per cluster ({n_clusters}), got shape {radii.shape}"
        )
    if np.isnan(radii).any() or (radii < 0).any():
        raise InputError(f"radius must be a number >= 0, got {radius!r}")
    radii = np.array(np.broadcast_to(radii, n_clusters))
    radii.setflags(write=False)
    return radii


def _check_pairs(pairs, n_points, name):
    try:
        array = np.asarray([tuple(pair) for pair in pairs])
    except (TypeError, ValueError):
        raise InputError(f"{name} must be pairs of point indices") from None
    if array.size == 0:
        return np.empty((0, 2), dtype=int)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{name} must be pairs of point indices, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must hold whole numbers, got {array.dtype}")
    for i, j in array.tolist():
        if not (0 <= i < n_points and 0 <= j < n_points):
            raise InputError(
                f"{name} pair ({i}, {j}) is out of range: indices run from 0 to {n_points - 1}"
            )
        if i == j:
            raise InputError(f"{name} pair ({i}, {j}) joins a point to itself")
    array = np.unique(np.sort(array.astype(int), axis=1), axis=0)
    array.setflags(write=False)
    return array
