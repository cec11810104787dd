"""Columns by name, one file per experiment, starts, Algorithm 1 as printed."""

import json

import numpy as np
import pytest
from cases import moons
from commands import called

from radcluster import InputError, solve
from radcluster.proof.verify import violations
from radcluster.settings import AS_PRINTED, Settings

LINE = [[0.0, 3.0], [1.0, 3.0], [5.0, 4.0], [6.0, 4.0]]
WITH_ID = "id,x,y,town\n" + "".join(f"{i},{x},{y},t{i}\n" for i, (x, y) in enumerate(LINE))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "line.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in LINE))
    (tmp_path / "towns.csv").write_text(WITH_ID)
    (tmp_path / "numbered.csv").write_text("id,x\n7,0\n8,1\n9,5\n")
    (tmp_path / "pandas.csv").write_text(",x\n0,0\n1,1\n2,5\n")
    (tmp_path / "labels.csv").write_text("0\n0\n1\n1\n")
    np.save(tmp_path / "line.npy", np.column_stack([np.arange(4), LINE]))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "towns.csv", "-k", 2, "--method", "milp", "--columns", "x,y"),
        ("solve", "towns.csv", "-k", 2, "--method", "milp", "--columns", "1,2"),
        ("solve", "line.npy", "-k", 2, "--method", "milp", "--columns", "1,2"),
        ("min-clusters", "towns.csv", "-r", 1, "--columns", "x"),
        ("min-radius", "towns.csv", "-k", 2, "--columns", "y,x"),
    ],
)
def test_columns_by_name_and_number(folder, arguments):
    run = called(folder, *arguments, "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["labels"] == [0, 0, 1, 1]
    if arguments[1].endswith(".csv"):
        used = "y, x" if arguments[-1] == "y,x" else "x"
        assert f"towns.csv: using columns {used}" in run.stderr


def test_a_header_is_answered_with_the_columns_used(folder):
    run = called(folder, "min-clusters", "line.csv", "-r", 1, "--json")
    assert run.stderr == "radcluster: line.csv: using columns x, y\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("numbered.csv",), "column 'id' seems to number the rows. Choose the coordinates: --col"),
        (("pandas.csv",), "the first column, which has no name, seems to number the rows"),
        (("towns.csv",), "column 'id' seems to number the rows"),
        (("towns.csv", "--columns", "x,town"), "row 2, column 4 is not a number: 't0'"),
        (("towns.csv", "--columns", "x,z"), "no column 'z': columns are id, x, y, town"),
        (("line.npy", "--columns", "1,3"), "no column '3': columns are 0 to 2"),
        (("line.csv", "--columns", "x,x"), "columns must be different ones"),
    ],
)
def test_columns_that_cannot_be_used(folder, arguments, message):
    run = called(folder, "min-clusters", *arguments, "-r", 1)
    assert run.returncode == 2
    assert message in run.stderr.splitlines()[-1]


EXPERIMENT = """
points = "towns.csv"
columns = ["x", "y"]
n_clusters = 2
radius = 1.0
cannot_link = [[0, 3]]
method = "milp"
solver = "HiGHS"
"""


def test_one_file_is_one_experiment(folder):
    """Paths in the file are beside it, wherever the command is called."""
    (folder / "deep").mkdir()
    (folder / "experiment.toml").write_text(EXPERIMENT)
    run = called(folder / "deep", "run", "../experiment.toml", "--json", "--out", "found.csv")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert (answer["status"], answer["method"]) == ("optimal", "milp")
    assert answer["labels"] == [0, 0, 1, 1]
    assert (folder / "deep" / "found.csv").read_text().split() == list("0011")


def test_the_command_line_overrides_the_file(folder):
    (folder / "experiment.toml").write_text(EXPERIMENT)
    run = called(folder, "solve", "--config", "experiment.toml", "-k", 4, "--json")
    assert json.loads(run.stdout)["n_clusters"] == 4
    missing = called(folder, "solve", "-k", 2)
    assert (missing.returncode, "no points" in missing.stderr) == (2, True)


@pytest.mark.parametrize("method", ["milp", "colgen", "heuristic", "pipeline"])
def test_a_partition_to_start_from(folder, method):
    arguments = ("line.csv", "-k", 2, "--method", method, "--initial", "labels.csv", "--json")
    run = called(folder, "solve", *arguments)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["objective"] == pytest.approx(1.0)


def test_the_result_is_never_worse_than_the_start():
    best = solve(moons(), "colgen")
    for method in ("milp", "heuristic", "pipeline"):
        result = solve(moons(), method, initial=best.labels)
        assert result.objective <= best.objective * (1 + 1e-9)
    with pytest.raises(InputError, match="initial is not a valid partition"):
        solve(moons(), initial=np.zeros(100, dtype=int))


def test_as_printed_is_one_switch():
    settings = Settings.from_mapping({"as_printed": True, "method": "exact"})
    assert {key: getattr(settings, key) for key in AS_PRINTED} == AS_PRINTED
    with pytest.raises(InputError, match="as_printed means step1='sdp:paper'"):
        Settings.from_mapping({"as_printed": True, "step1": "kcenter"})


def test_as_printed_on_the_papers_instance(folder):
    """Step 1 says the same of every point, and Step 2 is left with a pure feasibility problem."""
    np.savetxt(folder / "moons.csv", moons().points, delimiter=",", fmt="%.17g")
    run = called(folder, "solve", "moons.csv", "-k", 16, "-r", 0.189, "--as-printed", "--json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert (answer["method"], answer["status"]) == ("pipeline", "feasible")
    step1, step2, step4 = answer["steps"]
    assert (step1["model"], step2["model"]) == ("sdp:paper", "rounding:step2")
    assert step4["model"] == "rounding:step4"
    assert step2["objective"] == pytest.approx(-87.5, abs=1e-3)
    assert violations(moons(), np.array(answer["labels"])) == []
    assert answer["lower_bound"] == 0.0
