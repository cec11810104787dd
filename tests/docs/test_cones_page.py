"""The page "Cones in Pyomo": its examples run, and its table is what the solvers' records say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
from scipy.linalg import solve_continuous_lyapunov

from radcluster.conic.plugin.table import backends_table

ROOT = Path(__file__).parent.parent.parent
PAGE, README = ROOT / "docs" / "cones.md", ROOT / "README.md"


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)


def test_there_are_five_examples_and_they_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = examples()
    assert len(found) == 5
    names: dict = {}
    for number, example in enumerate(found):
        assert "assert" in example
        exec(compile(example, f"{PAGE.name}, example {number + 1}", "exec"), names)


def test_the_readme_states_a_matrix_inequality_in_six_lines():
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.S)
    data, statement, result = next(text for text in snippets if "PSDVar" in text).rsplit("\n\n", 2)
    assert len(statement.splitlines()) == 6
    names = {"pyo": pyo}
    exec(f"{data}\n{statement}", names)
    solution = solve_continuous_lyapunov(names["A"].T, -np.eye(2))
    np.testing.assert_allclose(names["m"].P.matrix(), solution, atol=1e-5)
    assert result == "print(m.P.matrix())\n"


def test_the_table_of_backends_is_up_to_date():
    text = re.search(r"<!-- backends: .*? -->\n(.*?)\n<!-- end -->", PAGE.read_text(), flags=re.S)
    assert text.group(1) == backends_table()
