"""Dask collections: tiles on the workers, borders repaired, everything verified."""

import os

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import distributed
from dying import counted_chunk
from scipy.spatial.distance import pdist

from radcluster import InputError, RadiusKMeans
from radcluster.datasets import two_moons
from radcluster.estimator import dask_fit, tiles

RADIUS = 0.05


def moons(n, seed=0):
    X = two_moons(n=(n // 2, n - n // 2))[0]
    return X[np.random.default_rng(seed).permutation(n)]


def check(model, X):
    """The labels of a collection are a partition that keeps the radius, with a true bound."""
    labels = np.asarray(model.labels_)
    assert labels.shape == (len(X),)
    assert np.array_equal(np.unique(labels), np.arange(model.n_clusters_))
    radii = [pdist(X[labels == k]).max(initial=0.0) / 2 for k in range(model.n_clusters_)]
    assert np.allclose(model.radii_, radii) and max(radii) <= model.radius * (1 + 1e-9)
    means = np.array([X[labels == k].mean(axis=0) for k in range(model.n_clusters_)])
    assert np.allclose(model.cluster_centers_, means)
    assert model.inertia_ == pytest.approx(np.square(X - means[labels]).sum())
    clique = X[model.certificate_["points"]]
    assert len(clique) <= model.n_clusters_ and pdist(clique).min() > 2 * model.radius


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_tiles_add_up(dimension, monkeypatch):
    monkeypatch.setattr(dask_fit, "TILE_POINTS", 300)
    X = np.random.default_rng(dimension).random((2000, dimension)) * [9.0, 5.0, 2.0][:dimension]
    radius = [0.05, 0.1, 0.2][dimension - 1]
    with dask.config.set(scheduler="synchronous"):
        model = RadiusKMeans(None, radius=radius).fit(da.from_array(X, chunks=(300, dimension)))
    check(model, X)
    whole = RadiusKMeans(None, radius=radius).fit(X)
    assert model.n_clusters_ <= 1.1 * whole.n_clusters_
    assert len(model.certificate_["points"]) >= 0.5 * whole.n_clusters_


def test_the_tree_cuts_space_into_tiles():
    rng = np.random.default_rng(0)
    points = rng.random((5000, 2)) * [10, 3]
    cells, counts = tiles.count_cells(points, 0.5)
    tree = tiles.cut(cells, counts, 0.5, most=400)
    number = tree.tile_of(points)
    assert np.bincount(number).max() <= 400
    for tile in tree.tiles():
        inside = points[number == tile.number]
        assert (inside >= tile.lower).all() and (inside <= tile.upper).all()
    assert len({node.number for node in tree.nodes()}) == 2 * len(tree.tiles()) - 1


def test_a_dataframe_keeps_its_names_and_chunks():
    frame = pd.DataFrame(moons(1200), columns=["east", "north"])
    collection = dd.from_pandas(frame, npartitions=3)
    with dask.config.set(scheduler="synchronous"):
        model = RadiusKMeans(radius=RADIUS).fit(collection)
        check(model, frame.to_numpy())
        assert list(model.feature_names_in_) == ["east", "north"]
        assert model.labels_.numblocks == (3,)
        assert model.predict(collection) is model.labels_
        shifted = collection + 0.001
        ours = model.predict(shifted).compute()
        assert np.array_equal(ours, model.predict(frame + 0.001))
        assert model.predict(shifted, outside="nearest").compute().min() >= 0
        assert model.transform(collection).compute().shape == (1200, model.n_clusters_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 3, "radius": 1.0}, "n_clusters=None"),
        ({"n_clusters": None}, "positive radius"),
        ({"radius": 1.0, "metric": "haversine"}, "euclidean"),
        ({"radius": 1.0, "must_link": [(0, 1)]}, "links"),
        ({"radius": 1.0, "method": "exact"}, "heuristic"),
    ],
)
def test_what_tiles_cannot_do_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        RadiusKMeans(**parameters).fit(da.zeros((10, 2)))


def test_bad_collections():
    with pytest.raises(InputError, match="at most 3"):
        RadiusKMeans(radius=1.0).fit(da.zeros((10, 4)))
    with pytest.raises(InputError, match="NaN"):
        RadiusKMeans(radius=1.0).fit(da.full((10, 2), np.nan))
    with pytest.raises(InputError, match="sample_weight"):
        RadiusKMeans(radius=1.0).fit(da.zeros((10, 2)), sample_weight=np.ones(10))


@pytest.mark.parametrize("killed", [False, True], ids=["two-workers", "one-killed"])
def test_two_worker_processes(tmp_path, killed):
    X = moons(6000)
    data = da.from_array(X, chunks=(1000, 2))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = {worker["pid"] for worker in _workers(client)}
        if killed:
            data = data.map_blocks(counted_chunk, str(tmp_path), dtype=float, meta=np.empty((0, 2)))
        model = RadiusKMeans(None, radius=RADIUS).fit(data)
        check(model, X)
        if killed:
            assert {worker["pid"] for worker in _workers(client)} != before
    assert model.n_clusters_ <= 1.1 * RadiusKMeans(None, radius=RADIUS).fit(X).n_clusters_


def _workers(client):
    return [{"pid": pid} for pid in client.run(os.getpid).values()]
