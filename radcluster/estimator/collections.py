"""What :class:`RadiusKMeans` does with a dask array or dataframe."""

from __future__ import annotations

import numpy as np

from radcluster.errors import InputError
from radcluster.estimator.dask_fit import as_array, cluster
from radcluster.estimator.spaces import Euclidean
from radcluster.result import Result, relative_gap
from radcluster.status import Status


def is_dask(X) -> bool:
    """Whether X is a dask array or dataframe."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def fit_collection(model, X, sample_weight, seed: int) -> None:
    """Cluster a dask collection and set the estimator's attributes."""
    _check(model, sample_weight)
    model.n_features_in_ = len(X.columns) if hasattr(X, "columns") else int(X.shape[1])
    if hasattr(X, "columns"):
        model.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
    array = as_array(X)
    radius = float(model.radius)
    found = cluster(array, radius, seed)
    model._collection = _name(X)
    model.labels_ = found.labels
    model.cluster_centers_ = model._centers = found.centers
    model.n_clusters_ = len(found.centers)
    model.inertia_, model.lower_bound_ = found.inertia, 0.0
    model.gap_ = relative_gap(found.inertia, 0.0)
    model.status_ = str(Status.OPTIMAL if found.inertia == 0 else Status.FEASIBLE)
    model.radius_, model.radii_ = radius, found.radii
    model.max_radius_ = float(found.radii.max())
    model.certificate_ = {"kind": "clique", "points": sorted(found.clique.tolist())}
    model.n_iter_ = 1
    # The corners stand for the data: the farthest point of a cluster is one of them.
    model._space, model._fit_X = Euclidean(found.corners), found.corners
    model._shaping = model._known_labels = found.corner_labels
    model.result_ = Result(
        Status(model.status_),
        model.n_clusters_,
        radius,
        "heuristic",
        labels=found.labels,
        objective=found.inertia,
        max_radius=model.max_radius_,
        certificate=model.certificate_,
        centers=found.centers,
    )


def predict_collection(model, X, outside: str):
    """Labels of a dask collection, as a dask array in its chunks."""
    if _name(X) == getattr(model, "_collection", None):
        return model.labels_
    reach = model._reach()
    choose = reach.fitting if outside == "reject" else reach.fitting_or_nearest
    array = as_array(X)
    _check_columns(model, array)
    return array.map_blocks(choose, dtype=np.int64, drop_axis=1)


def transform_collection(model, X):
    """Distances of a dask collection to the centres, as a dask array in its chunks."""
    array = as_array(X)
    _check_columns(model, array)
    return array.map_blocks(
        model._space.to_centers,
        model._centers,
        dtype=float,
        chunks=(array.chunks[0], (model.n_clusters_,)),
    )


def _name(X) -> str:
    return X.name if hasattr(X, "name") else X._name


def _check_columns(model, array) -> None:
    if array.shape[1] != model.n_features_in_:
        raise InputError(
            f"X has {array.shape[1]} features, but RadiusKMeans is expecting "
            f"{model.n_features_in_} features as input"
        )


def _check(model, sample_weight) -> None:
    """Refuse what tiles of space cannot do."""
    if model.metric != "euclidean":
        raise InputError(f"a dask collection takes metric='euclidean', not {model.metric!r}")
    if model.n_clusters is not None and not isinstance(model.n_clusters, str):
        raise InputError("a dask collection is clustered with n_clusters=None: as few as possible")
    if model.radius is None or np.ndim(model.radius) or not 0 < model.radius < np.inf:
        raise InputError(f"a dask collection needs one positive radius, got {model.radius!r}")
    if sample_weight is not None:
        raise InputError("a dask collection takes no sample_weight")
    if model.cannot_link is not None or model.must_link is not None:
        raise InputError("a dask collection takes no links between rows")
    if not isinstance(model.init, str):
        raise InputError("a dask collection takes no labels to start from")
    if model.method not in ("auto", "heuristic"):
        raise InputError(f"a dask collection takes method 'auto' or 'heuristic': {model.method!r}")
