"""The problem: points, a number of clusters, a radius, and links. Validated at the door.

Minimise  sum_k 1/(2 n_k) sum_{i,j in k} w_i w_j d_ij  over partitions of N points into K non-empty
clusters such that  d_ij <= 4 r_k^2  for every two points of cluster k, where d_ij is the squared
distance of points i and j, w_i the weight of point i, and n_k the total weight of cluster k (the
number of its points when all weights are 1, as in the paper).

A point of weight w is w copies of it that stay together. For Euclidean distances that changes
nothing, because splitting the copies never pays: if a mass t of them lies in cluster A and the rest
in B, the cost is the least, over centres a and b, of a sum that is linear in t. So it is concave in
t, and all copies in A or all copies in B cost no more. If that empties a cluster, another cluster
with two different points is split, which never costs more; K <= N says that there is one. Other
distances, given as a matrix, may reward a split; there too a weight keeps its copies together.
"""

from __future__ import annotations

import operator
import warnings
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from radcluster import show
from radcluster.errors import InputError

#: Two points are in conflict when d_ij > 4 r^2 (1 + DIAMETER_TOL). The slack only absorbs the
#: rounding of a square root, so that a radius computed as sqrt(d_ij) / 2 admits its own pair.
DIAMETER_TOL = 1e-12


def diameter_limit(radius):
    """Largest squared distance that may occur inside a cluster of this radius."""
    with np.errstate(over="ignore"):  # a radius whose square overflows is as good as none
        return 4.0 * np.square(radius) * (1.0 + DIAMETER_TOL)


#: Between these, lengths have squares, and sums of squares, that are ordinary numbers.
SMALLEST = 1e-120
LARGEST = 1e120


class Instance:
    """Radius-constrained k-means on N points.

    Parameters
    ----------
    points : array or data frame of shape (N, m)
        One row per point, finite numbers.
    n_clusters : int
        K, with 1 <= K <= N; every cluster is non-empty.
    radius : float or sequence of K floats, default inf
        No two points of cluster k lie more than ``2 * radius[k]`` apart. One number holds for
        all clusters; ``inf`` is plain k-means.
    cannot_link : iterable of (i, j)
        Pairs of points that may not share a cluster, by their positions from 0.
    must_link : iterable of (i, j)
        Pairs of points that share a cluster.
    sample_weight : array of N positive numbers, optional
        Weight of each point in the objective; 1 each by default. A weight of 3 counts as three
        copies of the point. The radius does not depend on weights.

    Examples
    --------
    >>> instance = Instance([[0.0], [1.0], [5.0]], n_clusters=2, radius=0.5)
    >>> instance.n_points, instance.n_clusters, float(instance.sq_distances[0, 2])
    (3, 2, 25.0)
    """

    #: Names of the rows and of the columns, where the points came as a data frame.
    index = None
    columns: tuple[str, ...] | None = None

    def __init__(
        self,
        points,
        n_clusters,
        radius=np.inf,
        *,
        cannot_link=(),
        must_link=(),
        sample_weight=None,
    ):
        self.points = _check_points(points)
        n_points = len(self.points)
        if hasattr(points, "index") and hasattr(points, "columns"):
            self.index, self.columns = points.index, tuple(map(str, points.columns))
        self._set_rest(n_points, n_clusters, radius, cannot_link, must_link, sample_weight)

    @classmethod
    def from_distances(
        cls,
        sq_distances,
        n_clusters,
        radius=np.inf,
        *,
        cannot_link=(),
        must_link=(),
        sample_weight=None,
    ):
        """An instance known only by its N x N matrix of *squared* distances."""
        self = cls.__new__(cls)
        self.points = None
        self.__dict__["sq_distances"] = _check_sq_distances(sq_distances)
        n_points = len(self.sq_distances)
        self._set_rest(n_points, n_clusters, radius, cannot_link, must_link, sample_weight)
        return self

    def _set_rest(self, n_points, n_clusters, radius, cannot_link, must_link, sample_weight):
        self.n_points = n_points
        self.n_clusters = _check_n_clusters(n_clusters, n_points)
        self.radii = _check_radius(radius, self.n_clusters)
        self.cannot_link = _check_pairs(cannot_link, n_points, "cannot_link")
        self.must_link = _check_pairs(must_link, n_points, "must_link")
        self.weights = _check_weights(sample_weight, n_points)

    @cached_property
    def is_weighted(self) -> bool:
        """Whether some weight is not 1."""
        return bool(np.any(self.weights != 1.0))

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
        """N x N matrix of squared distances d_ij, read-only."""
        # Differences, not the Gram expansion: |x|^2 - 2xy + |y|^2 loses the digits that decide
        # whether a pair lies within 2r.
        distances = cdist(self.points, self.points, "sqeuclidean")
        if not np.isfinite(distances).all():
            raise InputError("points lie so far apart that their squared distances overflow")
        distances.setflags(write=False)
        return distances

    def replace(self, **changes) -> Instance:
        """The same points with some of n_clusters, radius, links, sample_weight changed."""
        return self._derive(self.points, self.__dict__.get("sq_distances"), **changes)

    def scaled(self, unit: float) -> Instance:
        """The instance with all lengths, the radius too, times ``unit``."""
        points = None if self.points is None else self.points * unit
        return self._derive(points, self.sq_distances * unit**2, radius=self.radii * unit)

    def _derive(self, points, sq_distances, **changes):
        new = Instance.__new__(Instance)
        new.points = points
        new.index, new.columns = self.index, self.columns
        if sq_distances is not None:
            sq_distances.setflags(write=False)
            new.__dict__["sq_distances"] = sq_distances
        kwargs = {
            "n_clusters": self.n_clusters,
            "radius": self.radius,
            "cannot_link": self.cannot_link,
            "must_link": self.must_link,
            "sample_weight": self.weights,
        }
        new._set_rest(self.n_points, **(kwargs | changes))
        return new

    def __getstate__(self):
        # Distances follow from the points: a copy on another process computes them anew.
        state = dict(self.__dict__)
        if self.points is not None:
            state.pop("sq_distances", None)
        return state

    def plot(self, ax=None, title: str | None = None):
        """Draw the points, and the radius to scale. In more than two dimensions: principal axes."""
        return show.view("results", "plot_instance")(self, ax, title)

    def _repr_html_(self):
        shape = "distances only" if self.points is None else f"{self.points.shape[1]} coordinates"
        facts = [
            ("points", f"{self.n_points} ({shape})"),
            ("clusters", self.n_clusters),
            ("radius", f"{self.radius}, so no two points of a cluster more than 2r apart"),
            ("cannot_link", len(self.cannot_link) or None),
            ("must_link", len(self.must_link) or None),
            ("weights", f"{self.weights.min():g} to {self.weights.max():g}"),
        ]
        return show.card("radcluster instance", [fact for fact in facts if fact[1] is not None])

    def __repr__(self):
        links = "".join(
            f", {len(pairs)} {name}"
            for name, pairs in (("cannot_link", self.cannot_link), ("must_link", self.must_link))
            if len(pairs)
        )
        weighted = ", weighted" if self.is_weighted else ""
        return (
            f"Instance({self.n_points} points, K={self.n_clusters}, r={self.radius}"
            f"{links}{weighted})"
        )


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
    extent = float(np.max(array.max(axis=0) / 2 - array.min(axis=0) / 2))
    if not (extent == 0 or SMALLEST < extent < LARGEST):
        raise InputError(
            f"points extend over {2 * extent:.3g}: squared distances overflow or vanish. "
            "Choose another unit of length."
        )
    array.setflags(write=False)
    return array


def as_instance(
    data,
    n_clusters: int | None = None,
    radius=None,
    *,
    metric: str = "euclidean",
    cannot_link=(),
    must_link=(),
) -> Instance:
    """An instance from what a public function was given.

    Parameters
    ----------
    data : array of shape (N, m), Instance, or array of shape (N, N)
        Points; or a whole instance, which brings its own links; or, with
        ``metric="precomputed"``, *squared* distances as in :meth:`Instance.from_distances`.
    n_clusters, radius
        None: those of the instance; else 1 cluster and no radius.

    Examples
    --------
    >>> as_instance([[0.0, 4.0], [4.0, 0.0]], 1, 1.0, metric="precomputed")
    Instance(2 points, K=1, r=1.0)
    """
    links = {"cannot_link": cannot_link, "must_link": must_link}
    if isinstance(data, Instance):
        if len(cannot_link) or len(must_link):
            raise InputError("an Instance brings its own links: give none beside it")
        given = {"n_clusters": n_clusters, "radius": radius}
        return data.replace(**{key: value for key, value in given.items() if value is not None})
    n_clusters = 1 if n_clusters is None else n_clusters
    radius = np.inf if radius is None else radius
    if metric == "precomputed":
        return Instance.from_distances(data, n_clusters, radius, **links)
    if metric != "euclidean":
        raise InputError(f"metric must be 'euclidean' or 'precomputed', got {metric!r}")
    instance = Instance(data, n_clusters, radius, **links)
    if _looks_like_distances(instance.points):
        warnings.warn(
            f"points of shape {instance.points.shape} are symmetric with a zero diagonal: if they "
            "are squared distances, say so by metric='precomputed' or Instance.from_distances",
            stacklevel=3,
        )
    return instance


def _looks_like_distances(points: np.ndarray) -> bool:
    """Whether points are a matrix that nobody would call points."""
    n, m = points.shape
    return n == m > 2 and not np.diag(points).any() and np.array_equal(points, points.T)


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
    if not (array.max() == 0 or SMALLEST**2 < array.max() < LARGEST**2):
        raise InputError(
            f"sq_distances of up to {array.max():.3g} overflow or vanish: choose another unit"
        )
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


def _check_weights(sample_weight, n_points):
    if sample_weight is None:
        weights = np.ones(n_points)
    else:
        weights = _as_floats(sample_weight, "sample_weight")
    if weights.shape != (n_points,):
        raise InputError(
            f"sample_weight must have shape ({n_points},), one number per point, "
            f"got {weights.shape}"
        )
    wrong = ~(np.isfinite(weights) & (weights > 0))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(f"sample_weight[{i}] is {weights[i]}: weights must be positive and finite")
    weights.setflags(write=False)
    return weights


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
