"""Independent checks: what a partition costs, whether it is valid, whether a certificate proves.

Nothing here uses the code that finds partitions or certificates; it starts from the instance.
"""

from __future__ import annotations

import numpy as np

from radcluster.problem.instance import Instance, diameter_limit
from radcluster.problem.partition import sq_diameters


def violations(instance: Instance, labels) -> list[str]:
    """What is wrong with a partition, one sentence each; empty when it is valid.

    >>> violations(Instance([[0.0], [1.0], [5.0]], 2, radius=0.5), [0, 1, 1])
    ['cluster 1 has diameter 4, more than 2r = 1']
    """
    return examined(instance, labels)[0]


def examined(instance: Instance, labels) -> tuple[list[str], np.ndarray | None]:
    """What is wrong with a partition, and the squared diameters of its clusters if they exist."""
    labels = np.asarray(labels)
    if wrong := _malformed(instance, labels):
        return wrong, None
    widest = sq_diameters(instance, labels)
    return _broken(instance, labels, widest), widest


def _malformed(instance: Instance, labels: np.ndarray) -> list[str]:
    if labels.shape != (instance.n_points,):
        return [f"labels have shape {labels.shape}, not ({instance.n_points},)"]
    if labels.dtype.kind not in "iu":
        return [f"labels are {labels.dtype}, not whole numbers"]
    if labels.min() < 0 or labels.max() >= instance.n_clusters:
        return [
            f"labels run from {labels.min()} to {labels.max()}, not 0..{instance.n_clusters - 1}"
        ]
    return []


def _broken(instance: Instance, labels: np.ndarray, widest: np.ndarray) -> list[str]:
    sizes = np.bincount(labels, minlength=instance.n_clusters)
    wrong = [f"cluster {k} is empty" for k in np.flatnonzero(sizes == 0)]
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
