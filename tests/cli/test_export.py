"""Names of rows, weights, shapes on a map, and the table of clusters."""

import csv
import json

import numpy as np
import pytest

from radcluster import InputError, Instance, solve
from radcluster.cli import main
from radcluster.cli.support.export import shapes

STOPS = """stop,lat,lon,parcels
north,49.0,2.0,1
centre,48.9,2.0,3
centre-2,48.9,2.05,1
south,47.0,2.2,2
"""


def call(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    return ended.value.code


@pytest.fixture
def stops(tmp_path):
    path = tmp_path / "stops.csv"
    path.write_text(STOPS)
    return path


def test_labels_with_names_and_weights(stops, tmp_path, capsys):
    out = tmp_path / "labels.csv"
    options = ("-k", 2, "-r", 1, "--id-column", "stop", "--weights", "parcels", "--out", out)
    assert call("solve", stops, *options, "--json") == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["stop"] for row in rows] == ["north", "centre", "centre-2", "south"]
    found = json.loads(capsys.readouterr().out)
    assert [int(row["label"]) for row in rows] == found["labels"]
    points = np.array([[49.0, 2.0], [48.9, 2.0], [48.9, 2.05], [47.0, 2.2]])
    expected = solve(Instance(points, 2, 1.0, sample_weight=[1, 3, 1, 2]))
    assert found["objective"] == pytest.approx(expected.objective)


def test_shapes_have_the_longitude_first(stops, tmp_path):
    path = tmp_path / "clusters.geojson"
    options = ("-k", 2, "-r", 1, "--columns", "lat,lon", "--geojson", path)
    assert call("solve", stops, *options) == 0
    found = json.loads(path.read_text())
    assert found["type"] == "FeatureCollection" and len(found["features"]) == 2
    kinds = {f["properties"]["size"]: f for f in found["features"]}
    assert kinds[1]["geometry"] == {"type": "Point", "coordinates": [2.2, 47.0]}
    ring = kinds[3]["geometry"]["coordinates"][0]
    assert kinds[3]["geometry"]["type"] == "Polygon" and ring[0] == ring[-1] and len(ring) == 4
    assert [2.0, 49.0] in ring
    assert kinds[3]["properties"]["center"] == pytest.approx([2.05 / 3 + 4 / 3, 146.8 / 3])


def test_shapes_of_degenerate_clusters():
    line = Instance([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [9.0, 9.0], [9.0, 9.0]], 2, 2.0)
    found = shapes(line, solve(line))
    assert [f["geometry"]["type"] for f in found["features"]] == ["LineString", "Point"]
    assert found["features"][0]["properties"]["radius"] == pytest.approx(np.sqrt(2))
    with pytest.raises(InputError, match="plane"):
        one = Instance([[0.0], [1.0]], 1)
        shapes(one, solve(one))


def test_the_table_of_clusters(stops, capsys):
    assert call("solve", stops, "-k", 2, "--columns", "lat,lon", "--clusters") == 0
    printed = capsys.readouterr().out
    assert "diameter" in printed and "cost" in printed and "size" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--id-column", "name"), "no column 'name'"),
        (("--weights", "stop", "--columns", "lat,lon"), "no numbers"),
        (("--geojson", "nowhere/x.geojson", "--columns", "lat,lon"), "cannot write"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(stops, capsys, options, message):
    assert call("solve", stops, "-k", 2, *options) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
