"""What the paper measures on a partition, and what else one wants to know.

With clusters Gamma_k and centres gamma_k,

- the *partition radius* of k is half the largest distance between two of its points;
- the *k-radius* of k is the largest distance from gamma_k to one of its points.

The authors take both on the Voronoi partition of the centres, which is not the partition that a
constrained method returns: its points need not be nearest to their own centre.
:func:`summary` reports both.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.cluster import contingency_matrix

from radcluster.problem.partition import cluster_centers


def voronoi_labels(points, centers) -> np.ndarray:
    """Each point's nearest centre."""
    return cdist(points, centers).argmin(axis=1)


def partition_radii(points, labels, n_clusters: int | None = None) -> np.ndarray:
    """Half the diameter of each cluster; 0 for a cluster of one point or none.

    >>> partition_radii([[0.0], [1.0], [4.0]], [0, 0, 1]).tolist()
    [0.5, 0.0]
    """
    points, labels = np.asarray(points, dtype=float), np.asarray(labels)
    n_clusters = labels.max() + 1 if n_clusters is None else n_clusters
    members = (points[labels == k] for k in range(n_clusters))
    return np.array([pdist(cluster).max() / 2 if len(cluster) > 1 else 0.0 for cluster in members])


def k_radii(points, labels, centers) -> np.ndarray:
    """Largest distance from each centre to a point of its cluster; 0 for an empty cluster.

    >>> k_radii([[0.0], [1.0], [4.0]], [0, 0, 1], [[0.25], [4.0]]).tolist()
    [0.75, 0.0]
    """
    points, labels, centers = np.asarray(points), np.asarray(labels), np.asarray(centers)
    radii = np.zeros(len(centers))
    np.maximum.at(radii, labels, np.linalg.norm(points - centers[labels], axis=1))
    return radii


def wcss(points, labels) -> float:
    """Sum of squared distances to the means of the clusters: the paper's Eq. 1."""
    points = np.asarray(points, dtype=float)
    names, labels = np.unique(labels, return_inverse=True)
    return float(np.square(points - cluster_centers(points, labels, len(names))[labels]).sum())


def majority_classes(labels, classes) -> np.ndarray:
    """The most frequent class of each non-empty cluster (the smallest of several)."""
    counts = contingency_matrix(classes, labels).T
    return np.unique(classes)[counts.argmax(axis=1)]


def clusters_in_class(labels, classes, wanted) -> int:
    """How many clusters belong, by majority, to one class: the paper's k in Omega."""
    return int((majority_classes(labels, classes) == wanted).sum())


def coverage(labels, classes, wanted) -> int:
    """How many of the classes ``wanted`` are the majority of some cluster."""
    return int(np.isin(list(wanted), majority_classes(labels, classes)).sum())


def prototype_accuracy(points, labels, centers, classes) -> float:
    """Balanced accuracy of the nearest centre as a classifier.

    A centre stands for the majority class of its cluster; centres without members for none.
    """
    used = np.unique(labels)
    majority = majority_classes(labels, classes)
    nearest = voronoi_labels(points, np.asarray(centers)[used])
    return float(balanced_accuracy_score(classes, majority[nearest]))


def misassigned(labels, classes) -> int:
    """Points outside the cluster matched to their class, over the best one-to-one matching.

    >>> misassigned([0, 0, 1, 1, 1], [5, 5, 5, 7, 7])
    1
    """
    counts = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return int(len(labels) - counts[rows, columns].sum())


def summary(points, labels, centers=None, classes=None, wanted=None) -> dict[str, float]:
    """Maximal radii on the Voronoi and on the assigned partition, WCSS, clusters in a class.

    ``centers`` default to the means of the clusters. The plain names are the paper's: they are
    taken on the Voronoi partition; ``assigned_*`` are taken on ``labels``.
    """
    labels = np.asarray(labels)
    if centers is None:
        centers = cluster_centers(points, labels, labels.max() + 1)
    nearest = voronoi_labels(points, centers)
    row = {
        "partition_radius": float(partition_radii(points, nearest).max()),
        "k_radius": float(k_radii(points, nearest, centers).max()),
        "assigned_partition_radius": float(partition_radii(points, labels).max()),
        "assigned_k_radius": float(k_radii(points, labels, centers).max()),
        "wcss": wcss(points, labels),
    }
    if classes is not None and wanted is not None:
        row["k_in_class"] = clusters_in_class(labels, classes, wanted)
    return row
