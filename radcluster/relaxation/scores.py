"""Scores of points for clusters, read off a matrix without labels."""

from __future__ import annotations

import numpy as np


def spread(z: np.ndarray, count: int, given=()) -> np.ndarray:
    """Scores of the rows of Z for ``count`` clusters, by representatives.

    Representatives chosen here, not given, are put in the order of the first row that each
    attracts most, which is how models order clusters that nothing else tells apart.
    """
    diagonal = np.maximum(np.diag(z), 1e-12)
    chosen = list(given)
    while len(chosen) < count:
        covered = (z[:, chosen] / diagonal[chosen]).sum(axis=1)
        covered[chosen] = np.inf
        # Among the least covered, prefer the row that the relaxation has decided most.
        chosen.append(int(np.lexsort((-(z**2).sum(axis=1), np.round(covered, 3)))[0]))
    scores = np.clip(z[:, chosen] / diagonal[chosen], 0.0, 1.0)
    favourite = scores.argmax(axis=1)
    free = np.arange(len(given), count)
    first = [np.flatnonzero(favourite == c).min(initial=len(z)) for c in free]
    scores[:, free] = scores[:, free[np.argsort(first, kind="stable")]]
    return scores
