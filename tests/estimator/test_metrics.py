"""Metrics: the radius bounds the metric's diameter, the objective is the pairwise form."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances
from sklearn.neighbors import radius_neighbors_graph

from radcluster import InfeasibleError, InputError, RadiusKMeans, SolverFailure
from radcluster.estimator import graph_fit, spaces
from radcluster.estimator.spaces import EARTH_RADIUS

SEEDS = range(3)


def stops(seed, n=80):
    """Latitudes and longitudes in a box of some 50 km."""
    rng = np.random.default_rng(seed)
    return np.column_stack([48 + 0.4 * rng.random(n), 2 + 0.6 * rng.random(n)])


def arcs(A, B):
    return EARTH_RADIUS * haversine_distances(np.radians(A), np.radians(B))


def pairwise_cost(distances, labels, weights=None):
    weights = np.ones(len(labels)) if weights is None else weights
    total = 0.0
    for k in np.unique(labels):
        m = labels == k
        total += weights[m] @ distances[np.ix_(m, m)] ** 2 @ weights[m] / (2 * weights[m].sum())
    return total


def widest(distances, labels):
    return max(distances[np.ix_(labels == k, labels == k)].max() for k in np.unique(labels))


@pytest.mark.parametrize("seed", SEEDS)
def test_haversine_is_in_kilometres(seed):
    X = stops(seed, n=30)
    D = arcs(X, X)
    weights = np.random.default_rng(seed).uniform(0.5, 3.0, len(X))
    model = RadiusKMeans(radius=6.0, metric="haversine", random_state=0)
    model.fit(X, sample_weight=weights)
    assert widest(D, model.labels_) <= 12.0 * (1 + 1e-9), f"seed {seed}"
    assert model.max_radius_ == pytest.approx(widest(D, model.labels_) / 2)
    assert model.inertia_ == pytest.approx(pairwise_cost(D, model.labels_, weights), rel=1e-7)
    assert np.allclose(model.transform(X), arcs(X, model.cluster_centers_), atol=1e-6)
    assert np.array_equal(model.predict(X), model.labels_)
    same = RadiusKMeans(model.n_clusters_, radius=6.0, metric="precomputed", method="exact")
    exact = same.fit(D, sample_weight=weights)
    assert model.lower_bound_ <= exact.inertia_ <= model.inertia_ * (1 + 1e-6), f"seed {seed}"


def test_haversine_crosses_the_date_line_and_the_pole():
    X = np.array([[0.0, 179.99], [0.0, -179.99], [89.99, 0.0], [89.99, 180.0]])
    model = RadiusKMeans(radius=5.0, metric="haversine").fit(X)
    assert model.labels_[0] == model.labels_[1] and model.labels_[2] == model.labels_[3]
    assert model.n_clusters_ == 2
    at = model.cluster_centers_[model.labels_[0]]
    assert at[0] == pytest.approx(0.0, abs=1e-9) and abs(at[1]) == pytest.approx(180.0)
    assert RadiusKMeans(None, radius=3e4, metric="haversine").fit(X).n_clusters_ == 1


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[91.0, 0.0], [0.0, 0.0]], "latitude of row 0 is 91"),
        ([[0.0, 0.0], [0.0, 400.0]], "longitude of row 1 is 400"),
        ([[0.0], [1.0]], "two columns"),
    ],
)
def test_bad_coordinates(X, message):
    with pytest.raises(InputError, match=message):
        RadiusKMeans(radius=1.0, metric="haversine").fit(X)


def test_haversine_infeasible_in_kilometres():
    X = [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]
    with pytest.raises(InfeasibleError) as caught:
        RadiusKMeans(2, radius=10.0, metric="haversine").fit(X)
    degree = np.pi * EARTH_RADIUS / 180
    assert caught.value.smallest_radius == pytest.approx(degree / 2)
    assert caught.value.fewest_clusters == 3


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine", "braycurtis"])
def test_scipy_metrics(metric):
    X = np.random.default_rng(1).random((60, 3)) + 0.1
    D = cdist(X, X, metric)
    radius = float(np.quantile(D, 0.2)) / 2
    model = RadiusKMeans(radius=radius, metric=metric, random_state=0).fit(X)
    assert widest(D, model.labels_) <= 2 * radius * (1 + 1e-9)
    assert model.inertia_ == pytest.approx(pairwise_cost(D, model.labels_))
    assert np.array_equal(model.cluster_centers_, X[model.medoid_indices_])
    assert np.array_equal(model.labels_[model.medoid_indices_], np.arange(model.n_clusters_))
    assert np.allclose(model.transform(X[:5]), D[:5, model.medoid_indices_])
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict(X[9:20]), model.labels_[9:20])
    # Rows with coordinates are clustered in lexicographic order, so that theirs plays no part.
    order = np.lexsort(X.T[::-1])
    D, labels = D[np.ix_(order, order)], model.labels_[order]
    precomputed = RadiusKMeans(radius=radius, metric="precomputed", random_state=0).fit(D)
    together = precomputed.labels_[:, None] == precomputed.labels_
    assert np.array_equal(together, labels[:, None] == labels)
    assert precomputed.cluster_centers_ is None
    assert np.array_equal(precomputed.predict(D[3:9]), precomputed.labels_[3:9])


def test_medoids_have_the_least_weighted_cost():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = RadiusKMeans(1, metric="cityblock").fit(X, sample_weight=[9, 1, 1, 1])
    assert model.medoid_indices_.tolist() == [0]


@pytest.mark.parametrize("seed", SEEDS)
def test_sparse_graph_equals_dense_matrix(seed):
    X = np.random.default_rng(seed).random((90, 2))
    X[5] = X[6]  # a stored distance of zero
    graph = radius_neighbors_graph(X, 0.4, mode="distance")
    dense = RadiusKMeans(radius=0.15, metric="precomputed", random_state=0).fit(cdist(X, X))
    model = RadiusKMeans(radius=0.15, metric="precomputed", random_state=0).fit(graph)
    assert model.n_clusters_ == dense.n_clusters_, f"seed {seed}"
    assert widest(cdist(X, X), model.labels_) <= 0.3, f"seed {seed}"
    assert model.inertia_ == pytest.approx(pairwise_cost(cdist(X, X), model.labels_))
    assert np.array_equal(model.predict(graph), model.labels_)


@pytest.mark.parametrize("seed", SEEDS)
def test_large_graphs_are_searched_by_their_stored_pairs(seed, monkeypatch):
    monkeypatch.setattr(graph_fit, "MAX_DENSE", 100)
    rng = np.random.default_rng(seed)
    X, weights = rng.random((400, 2)), rng.integers(0, 4, 400)
    X[5] = X[6]
    D, radius = cdist(X, X), 0.1
    graph = radius_neighbors_graph(X, 0.3, mode="distance")
    model = RadiusKMeans(None, radius=radius, metric="precomputed", random_state=0)
    model.fit(graph, sample_weight=weights)
    labels, clustered = model.labels_, weights > 0
    assert labels[clustered].min() == 0, f"seed {seed}"
    inside = np.where(clustered, labels, -1)
    kept = np.ix_(clustered, clustered)
    assert widest(D[kept], labels[clustered]) <= 2 * radius * (1 + 1e-9), f"seed {seed}"
    assert model.max_radius_ == pytest.approx(widest(D[kept], labels[clustered]) / 2)
    cost = pairwise_cost(D[kept], labels[clustered], weights[clustered].astype(float))
    assert model.inertia_ == pytest.approx(cost), f"seed {seed}"
    assert np.array_equal(inside[model.medoid_indices_], np.arange(model.n_clusters_))
    assert np.array_equal(model.predict(graph), labels)
    assert np.array_equal(model.predict(graph[30:60]), labels[30:60])
    points = RadiusKMeans(None, radius=radius, method="heuristic").fit(X[clustered])
    assert model.n_clusters_ <= 1.1 * points.n_clusters_, f"seed {seed}"
    more = RadiusKMeans(150, radius=radius, metric="precomputed", random_state=0).fit(graph)
    assert more.n_clusters_ == 150 and more.labels_.max() == 149
    assert more.inertia_ == pytest.approx(pairwise_cost(D, more.labels_))
    with pytest.raises(SolverFailure, match="proves nothing"):
        RadiusKMeans(3, radius=radius, metric="precomputed").fit(graph)
    with pytest.raises(InputError, match="links"):
        RadiusKMeans(radius=radius, metric="precomputed", must_link=[(0, 1)]).fit(graph)


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_of_a_graph_as_of_a_dense_matrix(seed):
    rng = np.random.default_rng(seed)
    X, Q = rng.random((90, 2)), rng.random((40, 2)) * 1.2 - 0.1
    Q[0] = X[3]
    D = cdist(X, X)
    graph = radius_neighbors_graph(X, 0.31, mode="distance")
    model = RadiusKMeans(None, radius=0.15, metric="precomputed", random_state=0).fit(graph)
    far = cdist(Q, X)
    takes = np.array([(far[:, model.labels_ == k] <= 0.3).all(1) for k in range(model.n_clusters_)])
    gaps = np.where(takes.T, far[:, model.medoid_indices_], np.inf)
    expected = np.where(takes.T.any(axis=1), gaps.argmin(axis=1), -1)
    near = csr_array(np.where(far <= 0.31, far + 1e-300, 0.0))
    assert np.array_equal(model.predict(near), expected), f"seed {seed}"
    assert np.array_equal(model.predict(far), expected), f"seed {seed}"
    assert model.predict(near, outside="nearest").min() >= 0
    dense = RadiusKMeans(None, radius=0.15, metric="precomputed", random_state=0).fit(D)
    with pytest.raises(InputError, match="dense rows"):
        dense.predict(near)


@pytest.mark.parametrize("metric", ["cityblock", "haversine", "euclidean"])
def test_weights_are_copies_in_every_metric(metric):
    X, weights = stops(4, n=30), np.random.default_rng(4).integers(1, 4, 30)
    parameters = {"radius": 8.0 if metric == "haversine" else 0.1, "metric": metric}
    weighted = RadiusKMeans(**parameters, random_state=0).fit(X, sample_weight=weights)
    copies = np.repeat(np.arange(30), weights)
    copied = RadiusKMeans(**parameters, random_state=0).fit(X[copies])
    assert np.array_equal(copied.labels_, weighted.labels_[copies])
    assert copied.inertia_ == pytest.approx(weighted.inertia_)


def test_what_is_not_stored_is_too_far():
    graph = csr_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(4, 4))
    model = RadiusKMeans(None, metric="precomputed").fit(graph)
    assert model.labels_.tolist() == [0, 0, 1, 1] and model.inertia_ == 0.5
    query = csr_array(([0.5, 0.7, 0.2], ([0, 0, 1], [0, 1, 2])), shape=(2, 4))
    assert model.predict(query).tolist() == [0, -1]
    with pytest.raises(InfeasibleError):
        RadiusKMeans(1, metric="precomputed").fit(graph)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 3)), "square"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[1.0, 1.0], [1.0, 0.0]]), "to itself"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "negative"),
        (csr_array(np.array([[0.0, 1.0, 0.0]])), "square"),
        (csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])), "symmetric"),
        (csr_array(np.array([[3.0, 1.0], [1.0, 0.0]])), "to itself"),
    ],
)
def test_bad_precomputed_distances(X, message):
    with pytest.raises(InputError, match=message):
        RadiusKMeans(radius=1.0, metric="precomputed").fit(X)


def test_too_many_rows_for_a_matrix(monkeypatch):
    monkeypatch.setattr(spaces, "MAX_DENSE", 20)
    with pytest.raises(InputError, match="refused above 20 rows"):
        RadiusKMeans(2, metric="cityblock").fit(np.zeros((21, 2)))


def test_sparse_coordinates_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        RadiusKMeans(2).fit(csr_array(np.eye(4)))
