"""What a partition costs, where its centres lie, how wide its clusters are."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from radcluster.problem.diameters import sq_diameter
from radcluster.problem.instance import Instance


def cluster_centers(points, labels, n_clusters: int, weights=None) -> np.ndarray:
    """Weighted mean of each cluster, shape (K, m); all weights are 1 by default."""
    points = np.asarray(points, dtype=float)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=float)
    member = csr_array((weights, (labels, np.arange(len(points)))), shape=(n_clusters, len(points)))
    return (member @ points) / np.asarray(member.sum(axis=1)).reshape(-1, 1)


def objective_of(instance: Instance, labels) -> float:
    """sum_k 1/(2 n_k) sum_{i,j in k} w_i w_j d_ij, n_k the weight of cluster k.

    For points this is the weighted sum of squares within clusters.
    """
    labels = np.asarray(labels)
    weights = instance.weights
    if instance.points is not None:
        # From the first member of each cluster, so that far-off clusters lose no digits and
        # duplicates cost exactly nothing.
        _, first = np.unique(labels, return_index=True)
        offsets = instance.points - instance.points[first][labels]
        centers = cluster_centers(offsets, labels, instance.n_clusters, weights)
        return float(weights @ np.square(offsets - centers[labels]).sum(axis=1))
    total = 0.0
    for k in range(instance.n_clusters):
        members = np.flatnonzero(labels == k)
        w = weights[members]
        total += w @ instance.sq_distances[np.ix_(members, members)] @ w / (2 * w.sum())
    return float(total)


def sq_center_distances(instance: Instance, labels) -> np.ndarray:
    """Squared distance of every point to every cluster's centroid, shape (N, K).

    From distances alone, with the shares s_j = w_j / n of the members j, l of cluster k:
    ||x_i - gamma_k||^2 = sum_j s_j d_ij - 1/2 sum_jl s_j s_l d_jl.
    """
    labels = np.asarray(labels)
    d = instance.sq_distances
    columns = []
    for k in range(instance.n_clusters):
        members = np.flatnonzero(labels == k)
        share = instance.weights[members] / instance.weights[members].sum()
        spread = share @ d[np.ix_(members, members)] @ share / 2
        columns.append(d[:, members] @ share - spread)
    return np.column_stack(columns)


def sq_diameters(instance: Instance, labels) -> np.ndarray:
    """Largest squared distance inside each cluster."""
    labels = np.asarray(labels)
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.arange(instance.n_clusters + 1))
    widest = np.zeros(instance.n_clusters)
    for k in range(instance.n_clusters):
        members = order[first[k] : first[k + 1]]
        if len(members) < 2:
            continue
        if instance.points is None:
            widest[k] = instance.sq_distances[np.ix_(members, members)].max()
        else:
            widest[k] = sq_diameter(instance.points[members])
    return widest
