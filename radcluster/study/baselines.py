"""The methods that the paper compares with, as scikit-learn estimators.

K-means is scikit-learn's own. The others are small: each sets ``labels_``, ``cluster_centers_``,
``n_features_in_`` and, where it iterates, ``n_iter_``, passes scikit-learn's checks of an
estimator, and takes its randomness from ``random_state``. The t-mixture variant is in
:mod:`radcluster.study.tkmeans`.
"""

from __future__ import annotations

import kmedoids
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from radcluster.errors import InputError, SolverFailure
from radcluster.metrics import voronoi_labels
from radcluster.models import cardinality
from radcluster.models.parts.assignment import labels_of
from radcluster.problem.partition import cluster_centers
from radcluster.solvers.mip import solve_model


def _check_count(n_clusters: int, X) -> None:
    """Refuse more clusters than points."""
    if n_clusters > len(X):
        raise InputError(f"n_clusters={n_clusters} exceeds n_samples = {len(X)}")


class KMedoids(ClusterMixin, BaseEstimator):
    """K-medoids by alternation from k-means++ seeds; the medoids are the centres."""

    def __init__(self, n_clusters=8, *, max_iter=300, random_state=None):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None) -> KMedoids:
        """Cluster the rows of ``X``; ``y`` is not used."""
        X = validate_data(self, X, dtype=np.float64)
        _check_count(self.n_clusters, X)
        rng = check_random_state(self.random_state)
        _, seeds = kmeans_plusplus(X, self.n_clusters, random_state=rng)
        found = kmedoids.alternating(cdist(X, X), seeds.astype(np.uint64), self.max_iter)
        self.medoid_indices_ = found.medoids.astype(int)
        self.cluster_centers_ = X[self.medoid_indices_]
        self.labels_ = found.labels.astype(int)
        self.inertia_ = float(found.loss)
        self.n_iter_ = max(1, int(found.n_iter))
        return self


class GreedyKCenter(ClusterMixin, BaseEstimator):
    """K-center by Gonzalez' farthest-point rule from a random start: within twice the optimum."""

    def __init__(self, n_clusters=8, *, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None) -> GreedyKCenter:
        """Cluster the rows of ``X``; ``y`` is not used."""
        X = validate_data(self, X, dtype=np.float64)
        _check_count(self.n_clusters, X)
        chosen = [int(check_random_state(self.random_state).randint(len(X)))]
        nearest = cdist(X, X[chosen]).ravel()
        while len(chosen) < self.n_clusters:
            chosen.append(int(nearest.argmax()))
            nearest = np.minimum(nearest, cdist(X, X[chosen[-1:]]).ravel())
        self.center_indices_ = np.array(chosen)
        self.cluster_centers_ = X[chosen]
        self.labels_ = voronoi_labels(X, self.cluster_centers_)
        self.n_iter_ = len(chosen)
        return self


class CardinalityKMeans(ClusterMixin, BaseEstimator):
    """K-means with bounds on the sizes of the clusters (Bradley, Bennett & Demiriz 2000).

    Means and the exact size-bounded assignment alternate until the assignment repeats.

    Parameters
    ----------
    size_min, size_max : int
        Bounds on every cluster's size; ``size_max=None`` is no bound.
    n_init : int
        Starts from k-means++ seeds; the best result by sum of squares is kept.
    solver : str, optional
        Name of the LP solver for the Pyomo model of :mod:`radcluster.models.cardinality`. By
        default scipy solves the same program without building it.
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        size_min=1,
        size_max=None,
        n_init=10,
        max_iter=100,
        solver=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.size_min = size_min
        self.size_max = size_max
        self.n_init = n_init
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state

    def fit(self, X, y=None) -> CardinalityKMeans:
        """Cluster the rows of ``X``; ``y`` is not used."""
        X = validate_data(self, X, dtype=np.float64)
        _check_count(self.n_clusters, X)
        rng = check_random_state(self.random_state)
        self.inertia_ = np.inf
        for _ in range(self.n_init):
            centers, _ = kmeans_plusplus(X, self.n_clusters, random_state=rng)
            labels, centers, n_iter = self._alternate(X, centers)
            inertia = float(np.square(X - centers[labels]).sum())
            if inertia < self.inertia_:
                self.inertia_, self.labels_, self.cluster_centers_ = inertia, labels, centers
                self.n_iter_ = n_iter
        return self

    def _alternate(self, X, centers):
        size_max = len(X) if self.size_max is None else self.size_max
        labels, n_iter = None, 0
        for _ in range(self.max_iter):
            before, n_iter = labels, n_iter + 1
            costs = cdist(X, centers, "sqeuclidean")
            labels = bounded_assignment(costs, self.size_min, size_max, self.solver)
            if before is not None and np.array_equal(labels, before):
                break
            filled = np.bincount(labels, minlength=self.n_clusters) > 0
            _, members = np.unique(labels, return_inverse=True)
            centers = centers.copy()
            centers[filled] = cluster_centers(X, members, int(filled.sum()))
        return labels, centers, n_iter


def bounded_assignment(
    costs, size_min: int, size_max: int, solver: str | None = None
) -> np.ndarray:
    """Cheapest assignment with every cluster's size between the bounds, exact.

    With a solver's name, the Pyomo model goes to that solver; otherwise scipy solves it, and only
    when the nearest centres break a bound (if they do not, they are the optimum).

    >>> bounded_assignment([[0.0, 9.0], [1.0, 5.0], [2.0, 3.0]], 1, 2).tolist()
    [0, 0, 1]
    """
    costs = np.asarray(costs, dtype=float)
    n_points, n_clusters = costs.shape
    if solver is not None:
        model = cardinality.build(costs, size_min, size_max)
        solve_model(model, solver, problem_class=cardinality.PROBLEM_CLASS)
        labels = labels_of(model)
    else:
        cardinality.check_sizes(n_points, n_clusters, size_min, size_max)
        labels = costs.argmin(axis=1)
        if not _within(labels, n_clusters, size_min, size_max):
            labels = _transport(costs, size_min, size_max)
    if not _within(labels, n_clusters, size_min, size_max):
        raise SolverFailure(f"{solver or 'scipy'} returned no assignment within the size bounds")
    return labels


def _within(labels, n_clusters, size_min, size_max):
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    return labels.min() >= 0 and sizes.min() >= size_min and sizes.max() <= size_max


def _transport(costs, size_min, size_max):
    """The linear program of models/cardinality.py, its rows written with Kronecker products."""
    n_points, n_clusters = costs.shape
    in_point = kron(eye_array(n_points), np.ones((1, n_clusters)), format="csr")
    in_cluster = kron(np.ones((1, n_points)), eye_array(n_clusters), format="csr")
    sizes = np.concatenate([np.full(n_clusters, size_max), np.full(n_clusters, -size_min)])
    # A vertex is wanted, since only vertices are assignments: the dual simplex ends in one.
    found = linprog(
        costs.ravel(),
        A_ub=vstack([in_cluster, -in_cluster]),
        b_ub=sizes,
        A_eq=in_point,
        b_eq=np.ones(n_points),
        bounds=(0, 1),
        method="highs-ds",
    )
    return found.x.reshape(costs.shape).argmax(axis=1)


class CompleteLinkage(ClusterMixin, BaseEstimator):
    """Complete linkage: cut at a diameter of 2r, or into a number of clusters.

    The cut at 2r keeps the radius, with as many clusters as it happens to need.
    """

    def __init__(self, n_clusters=None, *, radius=None):
        self.n_clusters = n_clusters
        self.radius = radius

    def fit(self, X, y=None) -> CompleteLinkage:
        """Cluster the rows of ``X``; ``y`` is not used."""
        X = validate_data(self, X, dtype=np.float64)
        if len(X) == 1:
            self.labels_, self.cluster_centers_ = np.zeros(1, dtype=int), X.copy()
            return self
        # Merging stops at linkage distances >= the threshold; a diameter of exactly 2r is allowed.
        threshold = None if self.radius is None else np.nextafter(2 * self.radius, np.inf)
        tree = AgglomerativeClustering(
            n_clusters=None if threshold is not None else self.n_clusters,
            linkage="complete",
            distance_threshold=threshold,
        ).fit(X)
        self.labels_ = tree.labels_
        self.cluster_centers_ = cluster_centers(X, self.labels_, self.labels_.max() + 1)
        return self
