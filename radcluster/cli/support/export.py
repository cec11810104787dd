"""What ``radcluster solve`` writes besides labels: rows by name, clusters as shapes on a map."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from radcluster.cli.support.files import other_columns, read_column
from radcluster.cli.support.writing import check_writable, write_labels, write_text
from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.problem.partition import sq_diameters
from radcluster.result import Result

#: Names of columns of degrees; GeoJSON wants the longitude first.
LATITUDES = ("lat", "latitude")


@dataclass(frozen=True)
class Export:
    """Where labels and shapes go, and what the rows are called.

    Attributes
    ----------
    out, geojson : path, or None
    id_column : str or None
        The column whose entries name the rows.
    ids : list of str, or None
    columns : names of the columns of coordinates, where the file has names
    clusters : bool
        Whether a table of the clusters is printed.
    """

    out: str | None = None
    geojson: str | None = None
    id_column: str | None = None
    ids: list[str] | None = None
    columns: Sequence[str] | None = None
    clusters: bool = False

    def write(self, instance: Instance, result: Result) -> None:
        """Write the files of a solved instance."""
        if self.out:
            write_table(self.out, result.labels, self.id_column, self.ids)
        if self.geojson:
            text = json.dumps(shapes(instance, result, _latitude_first(self.columns)))
            write_text(self.geojson, text)


def prepare(given: dict[str, Any], **options) -> tuple[dict[str, Any], Export]:
    """What the command line says, with the columns of names and of weights taken out.

    >>> prepare({"points": "moons.csv"}, out=None, geojson=None, clusters=True)[1].clusters
    True
    """
    weights, id_column = options.pop("weights", None), options.get("id_column")
    for path in (options.get("out"), options.get("geojson")):
        if path:
            check_writable(path)
    named = [name for name in (id_column, weights) if name is not None]
    if not named:
        return given, Export(**options, columns=_split(given.get("columns")))
    points = given.get("points")
    if points is None or Path(points).suffix == ".npy":
        raise InputError("--id-column and --weights name columns of a CSV file of POINTS")
    given = dict(given)
    if "columns" not in given:
        given["columns"] = other_columns(points, named)
    if weights is not None:
        given["sample_weight"] = _numbers(points, weights)
    ids = None if id_column is None else read_column(points, id_column)
    return given, Export(**options, ids=ids, columns=_split(given["columns"]))


def _split(columns):
    return columns.split(",") if isinstance(columns, str) else columns


def _numbers(path, name) -> list[float]:
    cells = read_column(path, name)
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        raise InputError(f"{path}: column {name!r} holds weights that are no numbers") from None


def _latitude_first(columns) -> bool:
    return bool(columns) and str(columns[0]).strip().lower() in LATITUDES


def write_table(path, labels, id_column: str | None = None, ids=None) -> None:
    """One label per line, in the order of the points; with names, a table of two columns."""
    if ids is None:
        write_labels(path, labels)
        return
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([id_column, "label"])
    writer.writerows(zip(ids, labels, strict=True))
    write_text(path, file.getvalue())


def shapes(instance: Instance, result: Result, latitude_first: bool = False) -> Mapping[str, Any]:
    """A GeoJSON collection: for each cluster its hull, centre, size, radius and cost."""
    points, labels = instance.points, np.asarray(result.labels)
    if points is None or points.shape[1] != 2:
        raise InputError("--geojson draws in the plane: choose two columns of coordinates")
    radii = np.sqrt(sq_diameters(instance, labels)) / 2
    order = [1, 0] if latitude_first else [0, 1]
    features = []
    for k in range(result.n_clusters):
        members = points[labels == k]
        weights = instance.weights[labels == k]
        center = weights @ members / weights.sum()
        cost = weights @ np.square(members - center).sum(axis=1)
        facts = {
            "cluster": k,
            "size": len(members),
            "weight": float(weights.sum()),
            "center": center[order].tolist(),
            "radius": float(radii[k]),
            "cost": float(cost),
        }
        shape = _outline(members[:, order])
        features.append({"type": "Feature", "geometry": shape, "properties": facts})
    return {"type": "FeatureCollection", "features": features}


def _outline(members) -> dict[str, Any]:
    """The hull of a cluster, or the segment or point that it degenerates to."""
    members = np.unique(members, axis=0)
    if len(members) > 2:
        try:
            ring = members[ConvexHull(members).vertices].tolist()
            return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        except QhullError:  # on a line: its two ends, first and last in sorted order
            members = members[[0, -1]]
    if len(members) == 1:
        return {"type": "Point", "coordinates": members[0].tolist()}
    return {"type": "LineString", "coordinates": members.tolist()}
