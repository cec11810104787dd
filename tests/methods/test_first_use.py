"""The first run on a machine: compiling is announced and counted, and ends with the limit."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from cases import moons


@pytest.fixture
def cold(tmp_path):
    """An environment whose cache of compiled kernels is empty."""
    np.savetxt(tmp_path / "moons.csv", moons().points, delimiter=",", fmt="%.17g")
    return tmp_path, {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}


def test_a_short_limit_holds_while_nothing_is_compiled(cold):
    folder, environment = cold
    command = "from radcluster.cli import main; main()"
    arguments = ["solve", "moons.csv", "-k", "16", "-r", "0.189", "--time-limit", "1", "--json"]
    start = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    whole = time.perf_counter() - start
    answer = json.loads(run.stdout)
    assert (run.returncode, answer["status"]) == (0, "time_limit"), run.stderr
    assert len(set(answer["labels"])) == 16, "a colouring needs no kernels"
    assert 1.0 <= answer["seconds"] <= 1.1 * 1.0 + 1.0
    assert whole >= answer["seconds"]
    assert "compil" in run.stderr


def test_the_route_of_exact_does_not_depend_on_the_cache(cold):
    """The same routes in the same order, whether or not their kernels lie on disk."""
    folder, environment = cold
    code = (
        "import numpy as np\n"
        "from radcluster import Instance\n"
        "from radcluster.methods.exact import routes\n"
        "points = np.loadtxt('moons.csv', delimiter=',')\n"
        "print([route.__module__ for route in routes(Instance(points, 16, 0.189))])\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=True,
        ).stdout
        for env in (environment, dict(os.environ))
    }  # fmt: skip
    assert len(answers) == 1 and "radcluster.methods.colgen.solve" in answers.pop()
