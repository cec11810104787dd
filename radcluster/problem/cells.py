"""The quickest valid partition: cells of a grid so small that no two of their points conflict."""

from __future__ import annotations

import numpy as np

from radcluster.problem.grid import MOST_CELLS, Cells, Reach


def cell_labels(points: np.ndarray, side: float) -> np.ndarray:
    """The cell of each point, numbered in the order of cells."""
    cells = Cells(points, side)
    labels = np.empty(len(points), np.int64)
    labels[cells.order] = np.repeat(np.arange(len(cells.first) - 1), np.diff(cells.first))
    return labels


def cell_order(points: np.ndarray, limit: float) -> np.ndarray:
    """The points in the order in which their neighbours are sought."""
    if limit <= 0 or not np.isfinite(limit):
        return np.arange(len(points))
    return Reach(points, limit).order


def compatible_cells(points: np.ndarray, limit: float) -> np.ndarray | None:
    """Labels of cells whose points are within ``limit`` (squared); None beyond three dimensions.

    In more dimensions such cells hold hardly more than one point each.
    """
    dim = points.shape[1]
    if dim > 3 or limit <= 0:
        return None
    # The diagonal of a cell is a hair shorter than the reach.
    side = np.sqrt(limit / dim) * (1 - 1e-9)
    if (points.max(axis=0) - points.min(axis=0)).max() / side > MOST_CELLS / 2:
        return None
    return cell_labels(points, side)
