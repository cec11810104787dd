"""Plain k-means as a start: where it keeps the radius it is the answer, else it is repaired."""

from __future__ import annotations

import warnings

import numpy as np

from radcluster.clock import Clock
from radcluster.problem.instance import Instance

#: Coordinates times centres that one second of k-means gets through in one iteration, roughly.
PER_SECOND = 1e8
#: Iterations expected, for the estimate of its time.
ITERATIONS = 20
#: Above this much work k-means is run in batches.
MOST_WORK = 2e9


def kmeans_labels(
    instance: Instance, clock: Clock, seed: int = 0, n_init: int = 1
) -> np.ndarray | None:
    """Labels of scikit-learn's k-means; None when it would take too long or leaves labels out."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    n, dim = instance.points.shape
    work = float(n) * dim * instance.n_clusters
    left = np.inf if clock.left is None else clock.left
    options = {"n_clusters": instance.n_clusters, "n_init": n_init, "random_state": seed}
    if work <= MOST_WORK and ITERATIONS * work / PER_SECOND < left:
        model = KMeans(**options)
    elif 4 * work / PER_SECOND < left:
        model = MiniBatchKMeans(**options, batch_size=4096)
    else:
        return None
    with warnings.catch_warnings():
        # Fewer distinct points than clusters: seen below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(instance.points, sample_weight=instance.weights).labels_
    return labels.astype(np.int64) if len(np.unique(labels)) == instance.n_clusters else None
