"""Points of any kind as points of the plane, so that they can be drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.problem.instance import Instance


@dataclass(frozen=True)
class Flat:
    """Coordinates in the plane.

    ``exact`` says whether distances in the picture are the instance's own; ``axes`` names the two
    axes where they are not.
    """

    points: np.ndarray
    exact: bool
    axes: tuple[str, str] = ("", "")


def flatten(instance: Instance) -> Flat:
    """The points as they are in one or two dimensions, else along their principal axes.

    An instance that is known by distances only is placed by classical scaling: the leading
    eigenvectors of the doubly centred matrix of squared distances.
    """
    if instance.points is None:
        return Flat(_classical_scaling(instance.sq_distances), False, ("scaling 1", "scaling 2"))
    points = instance.points
    if points.shape[1] == 1:
        return Flat(np.column_stack([points[:, 0], np.zeros(len(points))]), True)
    if points.shape[1] == 2:
        return Flat(points, True)
    centred = points - points.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return Flat(centred @ directions[:2].T, False, ("principal axis 1", "principal axis 2"))


def _classical_scaling(sq_distances) -> np.ndarray:
    centred = sq_distances - sq_distances.mean(axis=0)
    gram = -(centred - centred.mean(axis=1)[:, None]) / 2
    values, vectors = np.linalg.eigh(gram)
    leading = np.clip(values[::-1][:2], 0, None)
    flat = vectors[:, ::-1][:, :2] * np.sqrt(leading)
    return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
