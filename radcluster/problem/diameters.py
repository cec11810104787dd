"""The largest distance inside a set of points, exactly, without a large matrix.

Up to :data:`SMALL` points all pairs are compared. In the plane only corners of the convex hull can
be farthest apart; elsewhere pairs are taken in blocks, those far from the middle first, until no
pair left can beat the best: |x - y| <= |x - m| + |y - m|.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist, pdist

#: Up to this many points all pairs are compared at once.
SMALL = 200
#: Rows of a block.
ROWS = 512
#: Directions in which the farthest points are taken, to leave out those between them.
DIRECTIONS = 32
#: A product of coordinates is off by at most this part of the squares it is made of.
ROUNDING = 1e-12


def sq_diameter(points: np.ndarray) -> float:
    """Largest squared distance of two of the points.

    >>> sq_diameter(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]))
    25.0
    """
    if len(points) < 2:
        return 0.0
    if points.shape[1] == 1:
        return float(np.square(points.max() - points.min()))
    if len(points) > SMALL and points.shape[1] == 2:
        points = _outer(points)
    if len(points) <= SMALL:
        return float(pdist(points, "sqeuclidean").max())
    return _by_blocks(points)


def _outer(points: np.ndarray) -> np.ndarray:
    """The points of the plane but for those strictly inside a polygon of extreme points.

    A point inside a polygon of other points is no corner of the hull.
    """
    angle = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
    middle = points.mean(axis=0)
    centred = points - middle
    corners = centred[(centred @ np.stack([np.cos(angle), np.sin(angle)])).argmax(axis=0)]
    edge = np.roll(corners, -1, axis=0) - corners
    # Left of every edge by a clear margin: inside. Edges of no length say nothing.
    normal = np.column_stack([-edge[:, 1], edge[:, 0]])
    depth = centred @ normal.T - np.sum(corners * normal, axis=1)
    margin = 1e-9 * np.square(centred).sum(axis=1).max()
    real = np.square(edge).sum(axis=1) > 0
    inside = (
        (depth[:, real] > margin).all(axis=1) if real.sum() > 2 else np.zeros(len(points), bool)
    )
    return points[~inside]


def _by_blocks(points: np.ndarray) -> float:
    centred = points - points.mean(axis=0)
    norms = np.square(centred).sum(axis=1)
    order = np.argsort(-norms, kind="stable")
    centred, norms, points = centred[order], norms[order], points[order]
    reach = np.sqrt(norms)
    best = float(cdist(points[:1], points, "sqeuclidean").max())
    for first in range(0, len(points), ROWS):
        # Rows and columns are sorted: those further on lie closer to the middle.
        root = np.sqrt(best) * (1 - ROUNDING)
        columns = int(np.searchsorted(-(reach + reach[first]), -root, "right"))
        if columns <= first:
            break
        rows = slice(first, min(first + ROWS, columns))
        product = norms[rows, None] + norms[None, first:columns]
        product -= 2 * (centred[rows] @ centred[first:columns].T)
        # Products lose digits: they only say which pairs must be compared exactly.
        near = product > best - 1e3 * ROUNDING * norms[0]
        i, j = np.nonzero(near)
        while len(i):
            top = np.argsort(-product[i, j], kind="stable")[: 4 * ROWS]
            i_top, j_top = i[top] + first, j[top] + first
            exact = np.square(points[i_top] - points[j_top]).sum(axis=1)
            best = max(best, float(exact.max()))
            product[i[top], j[top]] = -np.inf
            keep = product[i, j] > best - 1e3 * ROUNDING * norms[0]
            i, j = i[keep], j[keep]
    return best
