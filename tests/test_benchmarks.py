"""What the benchmark of many dimensions writes, from runs that were made up."""

import csv

import numpy as np
import pytest
from matplotlib import pyplot as plt

from radcluster.benchmarks import dimensions
from radcluster.progress import Progress
from radcluster.result import Result, StepReport


def run(name, bounds):
    """A run whose best partition costs 10 and whose bound rises as told, a second each."""
    trace = [Progress(i, 0, 10.0, bound, i + 1.0, 1) for i, bound in enumerate(bounds)]
    note = "what it did; gave the bound and the partition"
    result = Result(
        "feasible", 2, 1.0, "exact", np.array([0, 1]), 10.0, max(bounds), seconds=len(bounds) + 1.0,
        steps=(StepReport("sdp_tree", "sdp", note=note),),
    )  # fmt: skip
    return dimensions.Run(dimensions.CASES[name], result, trace)


def test_every_instance_has_a_panel():
    cases = dimensions.CASES.values()
    assert {case.panel for case in cases} == set(dimensions.PANELS.values())
    assert len({(case.panel, case.curve) for case in cases}) == len(cases)  # none hides another


def test_table_gaps_and_figure(tmp_path):
    runs = [run("iris, K=3", [5.0, 9.0, 8.0, 10.0]), run("blobs, 5000 x 12, K=8", [9.9])]
    table, gaps, picture = dimensions.write(runs, tmp_path / "results")
    columns, *rows = csv.reader(table.read_text().splitlines())
    assert tuple(columns) == dimensions.COLUMNS and len(rows) == 2
    assert rows[0][:2] == ["iris, K=3", "proven in 20 s"] and rows[0][-2:] == ["sdp_tree"] * 2
    assert float(rows[1][4]) == pytest.approx(0.01)
    lines = list(csv.DictReader(gaps.read_text().splitlines()))
    assert [float(line["gap"]) for line in lines[:3]] == [0.5, 0.1, dimensions.PROVEN]
    assert picture.read_bytes().startswith(b"\x89PNG")
    titles = {ax.get_title() for ax in plt.gcf().axes if ax.has_data()}
    assert titles == {runs[0].case.panel, runs[1].case.panel}
    (curve,) = plt.gcf().axes[0].lines
    drawn = np.array([0.5, 0.1, dimensions.PROVEN, dimensions.PROVEN])  # it never rises
    assert np.allclose(curve.get_ydata(), drawn)
    plt.close("all")


def test_what_is_not_measured_again_is_kept(tmp_path):
    dimensions.write([run("iris, K=3", [5.0]), run("blobs, 5000 x 12, K=8", [9.9])], tmp_path)
    table, gaps, _ = dimensions.write([run("iris, K=3", [9.0])], tmp_path)
    plt.close("all")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [float(row["gap"]) for row in rows] == pytest.approx([0.1, 0.01])
    lines = list(csv.DictReader(gaps.read_text().splitlines()))
    assert [line["instance"] for line in lines] == ["iris, K=3"] * 2 + [rows[1]["instance"]] * 2
