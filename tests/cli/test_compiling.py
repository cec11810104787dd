"""Compiling is announced, counts in the time limit, and leaves an answer where one is at hand."""

import json
import os
import subprocess
import sys

import numpy as np

LIMIT = 0.5


def run(tmp_path, points, *arguments):
    path = tmp_path / "points.csv"
    np.savetxt(path, points, delimiter=",")
    command = [sys.executable, "-c", "from radcluster.cli import main; main()"]
    return subprocess.run(
        [*command, "solve", path, "--method", "heuristic", "--json", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
    )


def test_a_limit_that_passes_while_kernels_are_compiled(tmp_path):
    points = np.random.default_rng(0).normal(size=(60, 3)) + 50 * (np.arange(60)[:, None] // 20)
    done = run(tmp_path, points, "-k", "3", "-r", "15", "--time-limit", str(LIMIT))
    assert "compiling, once on this machine" in done.stderr
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"]) == (0, "time_limit")
    assert len(set(result["labels"])) == 3, "k-means keeps this radius and needs no kernels"
    assert result["steps"][0]["step"] == "compile"


def test_no_answer_at_hand(tmp_path):
    # 30 points on a line in sets of 3 that only the right partition keeps within 2r.
    points = np.random.default_rng(1).permutation(np.arange(30.0))[:, None]
    done = run(tmp_path, points, "-k", "10", "-r", "1", "--time-limit", str(LIMIT))
    assert json.loads(done.stdout)["status"] == "time_limit"
    assert done.returncode in (0, 4)
