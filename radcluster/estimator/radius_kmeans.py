"""k-means in which no cluster is wider than 2r, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.estimator import asking
from radcluster.estimator import rows as rows_of
from radcluster.estimator.collections import (
    fit_collection,
    is_dask,
    predict_collection,
    transform_collection,
)
from radcluster.estimator.graph_fit import fit_graph, is_listed
from radcluster.estimator.reach import MatrixReach, VectorReach, row_lookup
from radcluster.estimator.solving import (
    Start,
    solve_request,
)
from radcluster.estimator.spaces import Euclidean, make_space
from radcluster.estimator.sparse import GraphReach, NeighbourGraph, same_graph, same_rows
from radcluster.problem.instance import Instance
from radcluster.problem.partition import sq_diameters
from radcluster.result import Result, relative_gap
from radcluster.status import Status


class RadiusKMeans(TransformerMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, BaseEstimator):
    """k-means with a hard radius: no two points of a cluster lie more than ``2 * radius`` apart.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default="auto"
        ``"auto"``: the fewest clusters that the radius allows, or 8 (at most one per distinct
        point) without a radius. ``None``: always the fewest.
    radius : float, sequence of float or None, default=inf
        Half of the largest distance allowed within a cluster; one number, or one per cluster.
        ``None``: as small as ``n_clusters`` allows.
    method : str, default="auto"
        ``"heuristic"`` searches for a good partition, ``"exact"`` for the best one with a proof.
        ``"auto"`` is exact up to 25 distinct points and heuristic beyond; up to 300 it also looks
        for a bound, for .2 seconds. With a ``time_limit``, up to 300 points or with more than 100
        points per cluster, it tries to improve and to prove the partition for as long as that
        lasts. Any other method of :func:`radcluster.solve` may be named.
    metric : str, default="euclidean"
        ``"euclidean"``: centres are means. ``"haversine"``: columns are latitude and longitude
        in degrees, the radius is in km, centres are spherical means in degrees (the mean of the
        unit vectors, put back on the sphere). ``"precomputed"``: a matrix of distances, dense, or
        a sparse radius-neighbours graph in which what is not stored is too far. Other metrics of
        :func:`scipy.spatial.distance.cdist`, such as ``"cityblock"``, need all distances at once;
        their centres are medoids. The objective is the sum over clusters of
        ``1/(2 n) * sum of squared distances``, which for points is the usual sum of squares.
    solver : str, optional
        Name of the solver for the exact methods.
    time_limit : float, optional
        Seconds for the whole fit.
    rel_gap : float, default=1e-6
        ``status_`` is ``"optimal"`` when ``gap_`` is at most this.
    n_init : int or "auto", default="auto"
        Runs of the heuristic with different seeds; ``"auto"`` is one, which tries several starts.
    init : "k-means++" or array of labels, default="k-means++"
        Where the search starts. Labels must be a valid partition; the result is never worse.
    cannot_link, must_link : sequence of pairs of rows, optional
        Rows kept apart, or kept together.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Processes for the runs of ``n_init``.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each row. A row of weight 0 is not clustered; it gets the label that
        :meth:`predict` gives, which may be -1.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Means, spherical means or medoids; None for precomputed distances.
    medoid_indices_ : array of shape (n_clusters,)
        Rows of the medoids, where centres are medoids.
    inertia_ : float
        The objective, recomputed from the labels.
    lower_bound_, gap_ : float
        No valid partition into ``n_clusters_`` clusters costs less than ``lower_bound_``;
        ``gap_ = (inertia_ - lower_bound_) / inertia_``.
    n_clusters_ : int
    radius_ : float or array
        The radius that was kept.
    radii_ : array of shape (n_clusters,)
        Half of the diameter of each cluster; ``max_radius_`` is the largest.
    max_radius_ : float
    status_ : str
        ``"optimal"``, ``"feasible"`` or ``"time_limit"``.
    certificate_ : dict or None
        A proof that fewer clusters, or a smaller radius, do not suffice, where these were asked
        for and the proof is known.
    result_ : Result
        Everything that the solution is known by.
    n_iter_ : int
        Programs and searches that were run.
    n_features_in_ : int

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0], [9.0, 0.0]]
    >>> model = RadiusKMeans(radius=0.5).fit(X)
    >>> model.labels_.tolist(), model.inertia_, model.status_
    ([0, 0, 1, 1, 2], 1.0, 'optimal')
    >>> model.predict([[0.0, 0.5], [2.5, 0.5]]).tolist()
    [0, -1]
    """

    def __init__(
        self,
        n_clusters="auto",
        *,
        radius=np.inf,
        method="auto",
        metric="euclidean",
        solver=None,
        time_limit=None,
        rel_gap=1e-6,
        n_init="auto",
        init="k-means++",
        cannot_link=None,
        must_link=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.radius = radius
        self.method = method
        self.metric = metric
        self.solver = solver
        self.time_limit = time_limit
        self.rel_gap = rel_gap
        self.n_init = n_init
        self.init = init
        self.cannot_link = cannot_link
        self.must_link = must_link
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None) -> RadiusKMeans:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or distances for ``metric="precomputed"``
            A dask array or dataframe of at most three columns may be larger than memory: with a
            radius and ``n_clusters=None`` it is clustered in tiles of space, by the workers of the
            current dask client. ``labels_`` is then a dask array in the chunks of ``X``.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            A weight of w counts as w copies of the row; a row of weight 0 as none.

        Raises
        ------
        InfeasibleError
            When no partition keeps the radius; it says why, and what would be feasible.
        """
        clock = Clock(asking.checked_limit(self.time_limit))
        if is_dask(X):
            return self._fit_collection(X, sample_weight, clock)
        framed = hasattr(X, "index") and hasattr(X, "columns")
        self._names = (X.index, tuple(map(str, X.columns))) if framed else (None, None)
        X = self._validated(X, reset=True)
        space = make_space(X, self.metric)
        weights = rows_of.checked_weights(_check_sample_weight(sample_weight, X, dtype=float))
        request = asking.request_of(self, clock)
        if isinstance(space, NeighbourGraph) and is_listed(self, len(space)):
            fit_graph(self, X, space, weights, request)
            return self
        chosen = asking.chosen_rows(self, space, weights)
        start = asking.start_of(self, space, chosen, request)
        if start.infeasible:
            asking.refuse(self, space, chosen, start.certificate)
        result = solve_request(start, request)
        if result.status == Status.INFEASIBLE:
            asking.refuse(self, space, chosen, result.certificate)
        if not result.solved:
            raise SolverFailure("the time limit passed before a valid partition was found")
        self._keep(X, space, chosen, start, result, weights)
        return self

    def _fit_collection(self, X, sample_weight, clock):
        fit_collection(self, X, sample_weight, asking.request_of(self, clock).seed)
        return self

    def _validated(self, X, reset):
        sparse = ["csr"] if self.metric == "precomputed" else False
        return validate_data(self, X, reset=reset, dtype=np.float64, accept_sparse=sparse)

    def _keep(self, X, space, chosen: rows_of.Chosen, start: Start, result: Result, weights):
        """Set the attributes from a result on the chosen rows."""
        order = np.arange(result.n_clusters)
        if start.instance.uniform_radius:
            order = rows_of.first_seen(result.labels, result.n_clusters)
        of_points = order[result.labels]
        labels = chosen.expand(of_points)
        inside = labels >= 0
        self.n_clusters_ = result.n_clusters
        self.inertia_ = space.cost(chosen.rows, of_points, chosen.weights, result.objective)
        self.lower_bound_ = min(result.lower_bound, self.inertia_)
        self.gap_ = relative_gap(self.inertia_, self.lower_bound_)
        self.status_ = str(_status(result, self.gap_, self.rel_gap))
        self.certificate_ = None
        whole = self._whole(space, start, weights)
        if start.certificate is not None:
            self.certificate_ = chosen.in_rows(start.certificate)
            refuted = getattr(start.certificate, "instance", None)
            if whole is not None and refuted is not None:
                changes = {"n_clusters": refuted.n_clusters, "radius": refuted.radius}
                self.certificate_.about(whole.replace(**changes))
        self.cluster_centers_, self._centers = space.centers(
            np.where(inside, labels, 0), self.n_clusters_, np.where(inside, weights, 0.0)
        )
        if isinstance(self._centers, np.ndarray) and self._centers.ndim == 1:
            self.medoid_indices_ = self._centers
        self._space, self._fit_X = space, X
        self._shaping, self.labels_ = labels, labels.copy()
        self._set_radii(space, start, of_points)
        if not inside.all():
            outside = np.flatnonzero(~inside)
            self.labels_[outside] = self._reach().fitting(space.query(X[outside]))
        self._known_labels = self.labels_
        self.n_iter_ = max(1, len(result.steps))
        self.result_ = replace(
            result,
            labels=self.labels_,
            objective=self.inertia_,
            lower_bound=self.lower_bound_,
            status=Status(self.status_),
            max_radius=self.max_radius_,
            radius=self.radius_ if np.ndim(self.radius_) == 0 else tuple(self.radius_),
            centers=self.cluster_centers_,
            certificate=self.certificate_,
            instance=whole,
        )

    def _whole(self, space, start: Start, weights):
        """The instance over all rows, for figures and tables; None where rows are no points."""
        if type(space) is not Euclidean or weights.min() <= 0:
            return None
        links = {
            name: () if getattr(self, name) is None else getattr(self, name)
            for name in ("cannot_link", "must_link")
        }
        found = start.instance
        whole = Instance(
            space.vectors, found.n_clusters, found.radius, sample_weight=weights, **links
        )
        whole.index, whole.columns = self._names
        return whole

    def _set_radii(self, space, start: Start, labels):
        widest = sq_diameters(start.instance, labels)
        self.radii_ = space.radius_from(np.sqrt(widest) / 2)
        self.max_radius_ = float(self.radii_.max())
        self.radius_ = self.radius
        if self.radius is None:
            self.radius_ = float(space.radius_from(start.instance.radius))

    def _reach(self):
        limit = np.broadcast_to(self._space.limit_from(self.radius_), self.n_clusters_)
        if isinstance(self._space, NeighbourGraph):
            return GraphReach(self._shaping, self._centers, limit)
        if self._space.vectors is None:
            return MatrixReach(self._shaping, self._centers, limit)
        return VectorReach(self._space.vectors, self._shaping, self._centers, limit)

    def predict(self, X, *, outside="reject") -> np.ndarray:
        """The cluster of each row of ``X``, the radius kept.

        A row goes to the nearest cluster that it fits into: one in which no row of the data lies
        more than ``2 * radius`` from it. Rows of the training data keep their label.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        outside : {"reject", "nearest"}
            What becomes of a row that fits into no cluster: -1, or the nearest centre.
        """
        check_is_fitted(self)
        if outside not in ("reject", "nearest"):
            raise InputError(f"outside must be 'reject' or 'nearest', got {outside!r}")
        if is_dask(X):
            return predict_collection(self, X, outside)
        X = self._validated(X, reset=False)
        labels = self._known(X)
        fresh = np.flatnonzero(labels < 0)
        if len(fresh):
            reach, queries = self._reach(), self._space.query(X[fresh])
            choose = reach.fitting if outside == "reject" else reach.fitting_or_nearest
            labels[fresh] = choose(queries)
        return labels

    def _known(self, X) -> np.ndarray:
        """Labels of rows of the training data, -1 for other rows."""
        if X.shape == self._fit_X.shape:
            same = same_graph if issparse(X) and issparse(self._fit_X) else np.array_equal
            if issparse(X) == issparse(self._fit_X) and same(X, self._fit_X):
                return self._known_labels.copy()
        if issparse(X) != issparse(self._fit_X):
            return np.full(X.shape[0], -1, dtype=np.int64)
        hit = (same_rows if issparse(X) else row_lookup)(self._fit_X, X)
        return np.where(hit >= 0, self._known_labels[hit], -1)

    def fit_predict(self, X, y=None, sample_weight=None) -> np.ndarray:
        """Cluster the rows of ``X`` and return their labels."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X) -> np.ndarray:
        """Distances of rows to the centres, shape (n_samples, n_clusters)."""
        check_is_fitted(self)
        if is_dask(X):
            return transform_collection(self, X)
        X = self._validated(X, reset=False)
        return self._space.to_centers(self._space.query(X), self._centers)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Minus the weighted sum of squared distances to the centres of the rows' clusters.

        A row that fits into no cluster counts with its nearest centre.
        """
        labels = self.predict(X, outside="nearest")
        X = self._validated(X, reset=False)
        weights = _check_sample_weight(sample_weight, X, dtype=float)
        distances = self._space.to_centers(self._space.query(X), self._centers)
        return -float(weights @ np.square(distances[np.arange(len(labels)), labels]))

    @property
    def _n_features_out(self):
        return self.n_clusters_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


def _status(result: Result, gap: float, rel_gap: float) -> Status:
    if gap <= rel_gap:
        return Status.OPTIMAL
    return Status.FEASIBLE if result.status == Status.OPTIMAL else Status(result.status)
