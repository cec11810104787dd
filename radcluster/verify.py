"""Independent checks: what a partition costs, whether it is valid, whether a certificate proves.

Nothing here uses the code that finds partitions or certificates; it starts from the instance.
"""

from __future__ import annotations

import numpy as np

from radcluster.instance import Instance, diameter_limit


def cluster_centers(points, labels, n_clusters: int) -> np.ndarray:
    """Mean of each cluster, shape (K, m)."""
    points = np.asarray(points, dtype=float)
    sums = np.zeros((n_clusters, points.shape[1]))
    np.add.at(sums, labels, points)
    return sums / np.bincount(labels, minlength=n_clusters)[:, None]


def objective_of(instance: Instance, labels) -> float:
    """sum_k 1/(2 n_k) sum_{i,j in k} d_ij: the sum of squares within clusters."""
    labels = np.asarray(labels)
    if instance.points is not None:
        # From the first member of each cluster, so that far-off clusters lose no digits and
        # duplicates cost exactly nothing.
        _, first = np.unique(labels, return_index=True)
        offsets = instance.points - instance.points[first][labels]
        centers = cluster_centers(offsets, labels, instance.n_clusters)
        return float(np.square(offsets - centers[labels]).sum())
    total = 0.0
    for k in range(instance.n_clusters):
        members = np.flatnonzero(labels == k)
        total += instance.sq_distances[np.ix_(members, members)].sum() / (2 * len(members))
    return float(total)


def sq_center_distances(instance: Instance, labels) -> np.ndarray:
    """Squared distance of every point to every cluster's centroid, shape (N, K).

    From distances alone: ||x_i - gamma_k||^2 = 1/n sum_j d_ij - 1/(2 n^2) sum_jl d_jl, j, l in k.
    """
    labels = np.asarray(labels)
    d = instance.sq_distances
    columns = []
    for k in range(instance.n_clusters):
        members = np.flatnonzero(labels == k)
        spread = d[np.ix_(members, members)].mean() / 2
        columns.append(d[:, members].mean(axis=1) - spread)
    return np.column_stack(columns)


def sq_diameters(instance: Instance, labels) -> np.ndarray:
    """Largest squared distance inside each cluster."""
    labels = np.asarray(labels)
    widest = np.zeros(instance.n_clusters)
    for k in range(instance.n_clusters):
        members = np.flatnonzero(labels == k)
        if len(members) > 1:
            widest[k] = _sq_distances(instance, members).max()
    return widest


def _sq_distances(instance, members):
    if instance.points is None:
        return instance.sq_distances[np.ix_(members, members)]
    points = instance.points[members]
    return np.square(points[:, None, :] - points[None, :, :]).sum(axis=2)


def violations(instance: Instance, labels) -> list[str]:
    """What is wrong with a partition, one sentence each; empty when it is valid.

    >>> violations(Instance([[0.0], [1.0], [5.0]], 2, radius=0.5), [0, 1, 1])
    ['cluster 1 has diameter 4, more than 2r = 1']
    """
    labels = np.asarray(labels)
    if labels.shape != (instance.n_points,):
        return [f"labels have shape {labels.shape}, not ({instance.n_points},)"]
    if labels.dtype.kind not in "iu":
        return [f"labels are {labels.dtype}, not whole numbers"]
    if labels.min() < 0 or labels.max() >= instance.n_clusters:
        return [
            f"labels run from {labels.min()} to {labels.max()}, not 0..{instance.n_clusters - 1}"
        ]
    sizes = np.bincount(labels, minlength=instance.n_clusters)
    wrong = [f"cluster {k} is empty" for k in np.flatnonzero(sizes == 0)]
    widest = sq_diameters(instance, labels)
    wrong += [
        f"cluster {k} has diameter {np.sqrt(widest[k]):g}, more than 2r = {2 * instance.radii[k]:g}"
        for k in np.flatnonzero(widest > diameter_limit(instance.radii))
    ]
    wrong += [
        f"points {i} and {j} share cluster {labels[i]} but are cannot-linked"
        for i, j in instance.cannot_link
        if labels[i] == labels[j]
    ]
    wrong += [
        f"points {i} and {j} are must-linked but lie in clusters {labels[i]} and {labels[j]}"
        for i, j in instance.must_link
        if labels[i] != labels[j]
    ]
    return wrong
