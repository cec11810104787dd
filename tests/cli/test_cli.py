"""The command line: exit codes, the two streams, what they say."""

import json

import numpy as np
import pytest
from cases import MOONS_OPTIMA, moons
from cases import RESULT_KEYS as KEYS
from commands import called, started

from radcluster import InputError, Result
from radcluster.cli import main
from radcluster.cli.support.files import read_points
from radcluster.proof.verify import violations
from radcluster.solvers.registry import SolverInfo


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    np.savetxt(folder / "moons.csv", moons().points, delimiter=",", fmt="%.17g")
    np.save(folder / "moons.npy", moons().points)
    np.save(folder / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    texts = {
        "header.csv": "x,y\n0,0\n1,0\n9,9\n",
        "semicolon.csv": "0;0\n1;0\n9;9\n",
        "spaces.csv": "0 0\n 1  0\n9 9\n",
        "line.csv": "0\n1\n5\n6\n",
        "word.csv": "0,0\n1,zero\n",
        "word_first.csv": "0,zero\n1,1\n",
        "ragged.csv": "0,0\n1\n",
        "empty.csv": "",
        "pandas.csv": ",x,y\n0,1,2\n1,3,4\n",
        "quoted.csv": '"0"\n"1"\n"9"\n',
        "missing_first.csv": "NA,NA\n0,0\n1,1\n",
        "only_header.csv": "x,y\n",
        "nan.csv": "0,0\nnan,1\n",
        "links.csv": "0,1\n",
        "far_links.csv": "0,3\n",
        "bad_links.csv": "0,9\n",
        "self_links.csv": "2,2\n",
        "three_links.csv": "0,1,2\n",
        "nan_links.csv": "0,nan\n",
        "text.npy": "0,1\n",
        "misspelt.toml": 'metod = "milp"\n',
        "pipeline.toml": 'method = "pipeline"\nstep1 = "kcenter"\n[solver]\nstep2 = "scip"\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    return folder


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_solve_the_moons(folder, solver):
    run = started(
        folder, "solve", "moons.csv", "-k", 16, "-r", 0.189, "--method", "milp",
        "--solver", solver, "--json", "--verbose",
    )  # fmt: skip
    assert run.returncode == 0
    data = json.loads(run.stdout)
    assert set(data) == KEYS
    assert data["status"] == "optimal"
    assert data["objective"] == pytest.approx(MOONS_OPTIMA[16, 0.189], abs=1e-9)
    assert data["gap"] <= 1e-6
    assert data["steps"][0]["solver"] == solver
    result = Result.from_json(run.stdout, points=moons().points)
    assert violations(moons(), result.labels) == []


def test_default_method_proves_the_moons(folder):
    run = started(folder, "solve", "moons.npy", "-k", 16, "-r", 0.18, "--out", "labels.csv")
    assert run.returncode == 0
    assert "optimal" in run.stdout
    assert "1.34417927" in run.stdout
    labels = np.loadtxt(folder / "labels.csv", dtype=int)
    assert violations(moons(16, 0.18), labels) == []


def test_infeasible_in_json(folder):
    run = started(folder, "solve", "moons.csv", "-k", 15, "-r", 0.189, "--json")
    assert run.returncode == 3
    data = json.loads(run.stdout)
    assert set(data) == KEYS
    assert (data["status"], data["labels"]) == ("infeasible", None)
    assert data["certificate"]["kind"] == "clique"
    assert len(data["certificate"]["points"]) == 16
    assert data["certificate"]["fewest_clusters"] == 16
    assert data["certificate"]["smallest_radius"] == pytest.approx(0.19276, abs=1e-5)


def test_infeasible_in_words(folder):
    run = called(folder, "solve", "moons.csv", "-k", 15, "-r", 0.189)
    assert run.returncode == 3
    assert "pairwise more than 0.378 apart" in run.stdout
    assert "Fewest clusters: 16" in run.stdout


def test_must_link_in_conflict(folder):
    run = called(
        folder, "solve", "line.csv", "-k", 2, "-r", 1, "--must-link", "far_links.csv", "--json"
    )
    assert run.returncode == 3
    certificate = json.loads(run.stdout)["certificate"]
    assert (certificate["kind"], certificate["pair"]) == ("must_link", [0, 3])


def test_links(folder):
    run = called(
        folder, "solve", "line.csv", "-k", 3, "-r", 1, "--cannot-link", "links.csv", "--json"
    )
    labels = json.loads(run.stdout)["labels"]
    assert labels[0] != labels[1]
    assert labels[2] == labels[3]


def test_without_k_the_fewest_clusters(folder):
    run = called(folder, "solve", "moons.csv", "-r", 0.189, "--json")
    assert run.returncode == 0
    assert json.loads(run.stdout)["n_clusters"] == 16


def test_without_k_but_with_links_that_contradict(folder):
    run = called(folder, "solve", "line.csv", "-r", 1, "--must-link", "far_links.csv", "--json")
    assert run.returncode == 3
    assert json.loads(run.stdout)["certificate"]["pair"] == [0, 3]


def test_radius_defaults_to_infinity(folder):
    run = called(folder, "solve", "header.csv", "-k", 2, "--json")
    data = json.loads(run.stdout)
    assert (data["radius"], data["objective"]) == (None, 0.5)


def test_radius_per_cluster(folder):
    run = called(folder, "solve", "line.csv", "-k", 2, "-r", "0.5,0.5", "--json")
    assert json.loads(run.stdout)["objective"] == pytest.approx(1.0)
    run = called(
        folder, "solve", "line.csv", "-k", 3, "-r", "0.1,0.5,0.5", "--method", "milp", "--json"
    )
    assert json.loads(run.stdout)["radius"] == [0.1, 0.5, 0.5]


@pytest.mark.parametrize("name", ["semicolon.csv", "spaces.csv", "quoted.csv"])
def test_other_marks_between_columns(folder, name):
    run = called(folder, "solve", name, "-k", 2, "--json")
    assert json.loads(run.stdout)["objective"] == 0.5


def test_configuration_file_and_override(folder):
    arguments = ("solve", "moons.csv", "-k", 16, "-r", 0.189, "--config", "pipeline.toml", "--json")
    data = json.loads(called(folder, *arguments).stdout)
    assert (data["method"], data["steps"][1]["solver"]) == ("pipeline", "scip")
    data = json.loads(called(folder, *arguments, "--solver", "step2=highs").stdout)
    assert data["steps"][1]["solver"] == "highs"


def test_time_limit_without_a_solution(folder):
    run = called(
        folder, "solve", "moons.csv", "-k", 17, "-r", 0.18, "--method", "minlp",
        "--time-limit", 0.05, "--json",
    )  # fmt: skip
    assert run.returncode == 4
    data = json.loads(run.stdout)
    assert (data["status"], data["labels"]) == ("time_limit", None)


BAD = [
    (("none.csv", "-k", 2), "cannot read none.csv"),
    ((".", "-k", 2), "cannot read"),
    (("word.csv", "-k", 2), "row 2, column 2 is not a number: 'zero'"),
    (("word_first.csv", "-k", 2), "row 1, column 2 is not a number: 'zero'"),
    (("ragged.csv", "-k", 2), "row 2 has 1 columns"),
    (("empty.csv", "-k", 2), "no rows of numbers"),
    (("pandas.csv", "-k", 2), "the first column, which has no name,"),
    (("missing_first.csv", "-k", 2), "row 1, column 1 is not a number: 'NA'"),
    (("moons.csv", "-k", 16, "--step1", "sdp:paper"), "step1 is for method 'pipeline'"),
    (("moons.csv", "-k", 16, "--method", "pipeline", "--sdp", "rlt"), "--sdp takes KEY=VALUE"),
    (
        ("moons.csv", "-k", 16, "--method", "pipeline", "--step1", "sdp:paper")
        + ("--sdp", "cardinalities=a,b"),
        "cardinalities must be numbers",
    ),
    (
        ("moons.csv", "-k", 16, "--method", "pipeline", "--solver", "step1=scs")
        + ("--solver", "step1=clarabel"),
        "several solvers for one step",
    ),
    (("only_header.csv", "-k", 2), "no rows of numbers"),
    (("nan.csv", "-k", 2), "points[1, 0] is nan"),
    (("binary.csv", "-k", 2), "not a text file"),
    (("objects.npy", "-k", 2), "one array of numbers"),
    (("line.csv", "-k", 0), "at least 1"),
    (("line.csv", "-k", 5), "exceeds the number of points"),
    (("line.csv", "-k", 1.5), "not a valid integer"),
    (("line.csv", "-k", 2, "-r", -1), "radius"),
    (("line.csv", "-k", 2, "-r", "nan"), "radius"),
    (("line.csv", "-k", 2, "-r", "wide"), "radius"),
    (("line.csv", "-k", 2, "-r", "1,2,3"), "one per cluster (2)"),
    (("line.csv", "-k", 2, "--must-link", "bad_links.csv"), "out of range"),
    (("line.csv", "-k", 2, "--cannot-link", "self_links.csv"), "joins a point to itself"),
    (("line.csv", "-k", 2, "--cannot-link", "three_links.csv"), "two point indices"),
    (("line.csv", "-k", 2, "--must-link", "none.csv"), "cannot read none.csv"),
    (("line.csv", "-k", 2, "--config", "misspelt.toml"), "Did you mean 'method'"),
    (("line.csv", "-k", 2, "--config", "none.toml"), "cannot read none.toml"),
    (("line.csv", "-k", 2, "--method", "mlip"), "Did you mean 'milp'"),
    (("line.csv", "-k", 2, "--solver", "highz"), "Installed solvers: highs, scip"),
    (("line.csv", "-k", 2, "--method", "minlp", "--solver", "highs"), "needs MINLP"),
    (("line.csv", "-k", 2, "--out", "no/such/folder.csv"), "cannot write"),
    (("line.csv", "-k", 2, "--native", "highs"), "SOLVER.KEY=VALUE"),
    (("line.csv", "-k", 2, "--no-such-option"), "no-such-option"),
    (("line.csv",), "-k"),
    (("line.csv", "-k", 2, "--out", "."), "it is a folder"),
    (("line.csv", "-k", 2, "--must-link", "nan_links.csv"), "whole numbers"),
    (("text.npy", "-k", 2), "it is no .npy file"),
    (("line.csv", "-k", 2, "--method", "pipeline", "--step1", "sdp:foo"), "sdp:perspective"),
    (("line.csv", "-k", 2, "--solver", "step1=scs"), "for method 'pipeline'"),
    (("line.csv", "-k", 2, "--constraints", "foo"), "constraints"),
]


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("x;y\n0,5;1,5\n", "Write a point for the decimal comma"),
        ("x,y\n1,\n2,3\n", "Fill it in, or leave the row out"),
        ("town,y\nhere,1\n", "Choose the coordinates by --columns"),
    ],
)
def test_a_cell_that_is_no_number_comes_with_a_cure(tmp_path, text, cure):
    (tmp_path / "cells.csv").write_text(text)
    with pytest.raises(InputError, match=f"row 2, column . is not a number.*{cure}"):
        read_points(tmp_path / "cells.csv")


def test_a_header_as_numpy_writes_it(tmp_path):
    np.savetxt(tmp_path / "n.csv", [[0.0, 1.0], [2.0, 3.0]], delimiter=",", header="x,y")
    assert read_points(tmp_path / "n.csv", ["y"]).values.tolist() == [[1.0], [3.0]]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[str(case[0]) for case in BAD])
def test_bad_input_is_one_line_and_exit_code_2(folder, arguments, message):
    run = called(folder, "solve", *arguments, "--json")
    assert run.returncode == 2
    assert run.stdout == ""
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
    assert "Traceback" not in run.stderr


def test_absent_solver_is_exit_code_5(folder, monkeypatch, capsys):
    core = ("highs", "scip", "clarabel", "scs")
    monkeypatch.setattr(SolverInfo, "installed", property(lambda info: info.name in core))
    arguments = ["solve", str(folder / "line.csv"), "-k", "2", "--method", "pipeline"]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--solver", "sdpa"])
    assert stop.value.code == 5
    stderr = capsys.readouterr().err
    assert "pip install" in stderr and stderr.count("\n") == 1


def test_unknown_command(folder):
    run = started(folder, "slove")
    assert run.returncode == 2
    assert "unknown command 'slove'" in run.stderr


def test_demo(folder):
    run = started(folder, "demo", "--out", "demo.png")
    assert run.returncode == 0
    assert "1.336692738" in run.stdout
    assert "optimal" in run.stdout
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "command", ["", "demo", "solve", "min-clusters", "min-radius", "solvers", "reproduce", "bench"]
)
def test_help(folder, command):
    run = called(folder, *([command] if command else []), "--help")
    assert run.returncode == 0
    assert run.stdout.startswith("Usage: radcluster")
