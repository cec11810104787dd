"""RadiusKMeans: what it promises beyond scikit-learn's contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
from cases import MOONS_OPTIMA
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from radcluster import InfeasibleError, InputError, RadiusKMeans, SolverFailure
from radcluster.datasets import two_moons
from radcluster.metrics import wcss

ATTRIBUTES = (
    "labels_ cluster_centers_ inertia_ lower_bound_ gap_ n_clusters_ max_radius_ radii_ status_ "
    "certificate_ result_ n_iter_ n_features_in_ radius_"
).split()


def half_diameters(X, labels):
    return np.array([pdist(X[labels == k]).max(initial=0.0) / 2 for k in range(labels.max() + 1)])


def test_fewest_clusters_and_all_attributes():
    X = two_moons()[0]
    model = RadiusKMeans(radius=0.189, random_state=0).fit(X)
    assert model.n_clusters_ == 16 and model.certificate_["kind"] == "clique"
    assert len(model.certificate_["points"]) == 16
    assert pdist(X[model.certificate_["points"]]).min() > 2 * 0.189
    for name in ATTRIBUTES:
        assert hasattr(model, name), name
    assert np.allclose(model.radii_, half_diameters(X, model.labels_))
    assert model.max_radius_ == model.radii_.max() <= 0.189
    assert model.inertia_ == pytest.approx(wcss(X, model.labels_))
    assert model.lower_bound_ <= MOONS_OPTIMA[16, 0.189] * (1 + 1e-6)
    assert model.inertia_ >= MOONS_OPTIMA[16, 0.189] * (1 - 1e-6)
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.inertia_)
    assert model.result_.labels is model.labels_ and model.result_.objective == model.inertia_
    assert set(model.get_params()) == {
        "n_clusters", "radius", "method", "metric", "solver", "time_limit", "rel_gap", "n_init",
        "init", "cannot_link", "must_link", "random_state", "n_jobs", "verbose",
    }  # fmt: skip


def test_exact_proves():
    model = RadiusKMeans(16, radius=0.189, method="exact").fit(two_moons()[0])
    assert model.status_ == "optimal" and model.gap_ <= 1e-6
    assert model.inertia_ == pytest.approx(MOONS_OPTIMA[16, 0.189], rel=1e-6)


def test_fewer_clusters_than_complete_linkage():
    X = two_moons()[0]
    linkage = AgglomerativeClustering(None, linkage="complete", distance_threshold=0.3).fit(X)
    assert RadiusKMeans(None, radius=0.15).fit(X).n_clusters_ < linkage.n_clusters_


def test_number_of_clusters():
    X = np.random.default_rng(0).random((40, 2))
    assert RadiusKMeans().fit(X).n_clusters_ == 8
    assert RadiusKMeans(None).fit(X).n_clusters_ == 1
    assert RadiusKMeans(5).fit(X).n_clusters_ == 5
    assert RadiusKMeans().fit(X[:3]).n_clusters_ == 3


def test_smallest_radius():
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    model = RadiusKMeans(2, radius=None).fit(X)
    assert model.radius_ == model.max_radius_ == 1.0 and model.labels_.tolist() == [0, 0, 0, 1]
    assert model.certificate_["radius"] == 0.5
    with pytest.raises(InputError, match="give n_clusters"):
        RadiusKMeans(radius=None).fit(X)


def test_infeasible_says_why_and_what_would_do():
    X = np.repeat([[0.0, 0.0], [3.0, 0.0], [9.0, 0.0]], 4, axis=0)
    with pytest.raises(InfeasibleError, match="pairwise more than 1 apart") as caught:
        RadiusKMeans(2, radius=0.5).fit(X)
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, ValueError)
    assert (error.fewest_clusters, error.smallest_radius) == (3, 1.5)
    assert sorted(i // 4 for i in error.certificate["points"]) == [0, 1, 2]
    assert str(error) == str(caught.value)


def test_contradicting_links_are_infeasible():
    with pytest.raises(InfeasibleError, match="must-linked"):
        RadiusKMeans(radius=1.0, must_link=[(0, 1)]).fit([[0.0], [9.0], [9.5]])


def test_predict_keeps_the_radius():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [5.0, 0.0]])
    model = RadiusKMeans(2, radius=0.75).fit(X)
    queries = [[0.5, 0.0], [1.6, 0.0], [-0.5, 0.0], [3.6, 0.0], [2.5, 0.0]]
    assert model.predict(queries).tolist() == [0, -1, 0, 1, -1]
    assert model.predict(queries, outside="nearest").tolist()[1] == 0
    with pytest.raises(InputError, match="reject"):
        model.predict(queries, outside="somewhere")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_predict_against_all_distances(seed, dimension):
    rng = np.random.default_rng(seed)
    X, Q = rng.random((300, dimension)), rng.random((200, dimension)) * 1.4 - 0.2
    model = RadiusKMeans(radius=0.3, method="heuristic", random_state=seed).fit(X)
    far = np.array(
        [
            np.linalg.norm(Q[:, None] - X[model.labels_ == k][None], axis=2).max(axis=1)
            for k in range(model.n_clusters_)
        ]
    ).T
    gaps = np.where(far <= 0.6, model.transform(Q), np.inf)
    expected = np.where(np.isfinite(gaps).any(axis=1), gaps.argmin(axis=1), -1)
    assert np.array_equal(model.predict(Q), expected), f"seed {seed}"
    assert np.array_equal(model.predict(X), model.labels_), f"seed {seed}"
    assert np.array_equal(model.predict(X[7:40]), model.labels_[7:40]), f"seed {seed}"


def test_predict_returns_the_labels_of_duplicates_that_were_split():
    X = np.zeros((6, 2))
    model = RadiusKMeans(3).fit(X)
    assert model.n_clusters_ == 3 and model.inertia_ == 0.0
    assert np.array_equal(model.predict(X), model.labels_)


def test_transform_score_names_and_frames():
    frame = pd.DataFrame(
        two_moons()[0], columns=["east", "north"], index=[f"p{i}" for i in range(100)]
    )
    model = RadiusKMeans(16, radius=0.189, random_state=0).set_output(transform="pandas")
    distances = model.fit_transform(frame)
    assert list(distances.columns) == [f"radiuskmeans{k}" for k in range(16)]
    assert distances.index.equals(frame.index)
    assert list(model.feature_names_in_) == ["east", "north"]
    assert model.score(frame) == pytest.approx(-model.inertia_)
    assert "RadiusKMeans" in model._repr_html_()


def test_pipeline_grid_search_clone_and_pickle():
    X, _ = make_blobs(60, centers=3, random_state=0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RadiusKMeans(random_state=0)),
        {"radiuskmeans__n_clusters": [2, 3, 4]},
        cv=2,
    ).fit(X)
    model = search.best_estimator_[-1]
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    Z = search.best_estimator_[0].transform(X)
    assert np.array_equal(again.predict(Z), model.predict(Z))


def test_same_labels_in_any_order_and_with_any_repetition():
    rng = np.random.default_rng(3)
    X = rng.random((80, 2))
    model = RadiusKMeans(6, radius=0.4, random_state=0).fit(X)
    order = np.r_[rng.permutation(80), 5, 5, 17]
    again = RadiusKMeans(6, radius=0.4, random_state=0)
    again.fit(X, sample_weight=np.bincount(order))
    copies = RadiusKMeans(6, radius=0.4, random_state=0).fit(X[order])
    assert np.array_equal(copies.labels_, again.labels_[order])
    assert copies.inertia_ == pytest.approx(again.inertia_)
    permuted = RadiusKMeans(6, radius=0.4, random_state=0).fit(X[order[:80]])
    assert np.array_equal(permuted.labels_, model.labels_[order[:80]])


def test_a_weight_of_zero_counts_for_nothing():
    X = np.array([[0.0], [1.0], [50.0], [0.5]])
    model = RadiusKMeans(radius=0.5).fit(X, sample_weight=[1, 1, 0, 0])
    assert model.labels_.tolist() == [0, 0, -1, 0] and model.n_clusters_ == 1
    assert model.cluster_centers_.tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, -1, 1], "negative"), ([0, 0, 0], "zero"), ([1, np.nan, 1], "NaN|finite")],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        RadiusKMeans(2).fit([[0.0], [1.0], [2.0]], sample_weight=weights)


def test_init_labels_and_links():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    linked = RadiusKMeans(2, radius=0.75, must_link=[(1, 2)], cannot_link=[(0, 1)])
    with pytest.raises(InfeasibleError):
        linked.fit(X)
    model = RadiusKMeans(3, radius=0.75, must_link=[(1, 2)], cannot_link=[(0, 1)]).fit(X)
    assert model.labels_.tolist() == [0, 1, 1, 2]
    start = RadiusKMeans(2, method="heuristic", init=[1, 1, 0, 0]).fit(X)
    assert start.inertia_ <= 1.0
    with pytest.raises(InputError, match="4 labels"):
        RadiusKMeans(2, init=[0, 1]).fit(X)
    with pytest.raises(InputError, match="not a valid partition"):
        RadiusKMeans(2, radius=0.5, init=[0, 1, 0, 1]).fit(X)


def test_one_radius_per_cluster():
    X = np.array([[0.0], [4.0], [10.0], [11.0]])
    model = RadiusKMeans(2, radius=[2.0, 0.5]).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1]


def test_odd_data():
    assert RadiusKMeans().fit([[1.0, 2.0]]).labels_.tolist() == [0]
    constant = RadiusKMeans(radius=1.0).fit(np.ones((3000, 2)))
    assert constant.n_clusters_ == 1 and constant.inertia_ == 0.0
    whole = RadiusKMeans(radius=1).fit(np.arange(10).reshape(-1, 1))
    assert whole.max_radius_ <= 1 and whole.n_clusters_ == 4
    single = RadiusKMeans(3).fit(np.random.default_rng(0).random((30, 2)).astype(np.float32))
    assert single.labels_.max() == 2
    with pytest.raises(ValueError, match="exceeds"):
        RadiusKMeans(4).fit([[0.0], [1.0]])


def test_more_clusters_than_places():
    X = np.repeat(np.random.default_rng(0).random((20, 2)), 200, axis=0)
    model = RadiusKMeans(30, random_state=0).fit(X)
    assert model.n_clusters_ == 30 and np.array_equal(np.unique(model.labels_), np.arange(30))
    assert model.inertia_ == pytest.approx(0.0, abs=1e-20) and model.status_ == "optimal"
    assert model.max_radius_ == 0.0 and np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": "many"}, "n_clusters"),
        ({"n_clusters": 0}, "at least 1"),
        ({"n_clusters": 2.5}, "whole number"),
        ({"radius": -1.0, "n_clusters": 2}, "radius"),
        ({"method": "magic"}, "magic"),
        ({"metric": "nonsense"}, "nonsense"),
        ({"init": "random"}, "init"),
        ({"n_init": 0}, "n_init"),
        ({"time_limit": "long"}, "time_limit"),
        ({"time_limit": -1}, "time_limit"),
        ({"cannot_link": [(0, 9)]}, "row"),
        ({"cannot_link": [(0.5, 1)]}, "whole numbers"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        RadiusKMeans(**parameters).fit([[0.0], [1.0], [2.0]])


def test_plain_k_means_is_matched():
    X, _ = make_blobs(150, centers=5, n_features=4, random_state=1)
    ours = RadiusKMeans(5, random_state=0).fit(X)
    theirs = KMeans(5, n_init=10, random_state=0).fit(X)
    assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-6)


def test_more_starts_are_no_worse():
    X = np.random.default_rng(5).random((120, 2))
    one = RadiusKMeans(20, radius=0.2, method="heuristic", random_state=1).fit(X)
    many = RadiusKMeans(20, radius=0.2, method="heuristic", n_init=4, random_state=1).fit(X)
    assert many.inertia_ <= one.inertia_


def test_a_time_limit_is_kept():
    X = np.random.default_rng(0).random((200, 6))
    model = RadiusKMeans(8, time_limit=1.0).fit(X)
    assert model.status_ in ("optimal", "time_limit") and model.result_.seconds <= 2.1


def test_the_result_knows_all_rows_and_their_names():
    frame = pd.DataFrame({"east": [0.0, 1.0, 5.0, 5.0], "north": [0.0] * 4}, index=list("abcd"))
    model = RadiusKMeans(radius=0.5).fit(frame)
    table = model.result_.to_frame()
    assert list(table.index) == list("abcd") and list(table["label"]) == [0, 0, 1, 1]
    assert {"east", "north"} <= set(table.columns)
    assert model.result_.instance.n_points == 4


def test_running_out_of_time_is_no_proof():
    X = np.random.default_rng(0).random((1500, 2))
    model = RadiusKMeans(None, radius=0.02, time_limit=1e-6)
    try:
        model.fit(X)
    except SolverFailure as error:
        assert "time limit" in str(error)
    else:
        assert model.max_radius_ <= 0.02
