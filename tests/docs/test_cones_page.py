"""The page "Cones in Pyomo": its examples run, and its table is what the solvers' records say."""

from __future__ import annotations

import re
from pathlib import Path

from radcluster.conic.plugin.table import backends_table

PAGE = Path(__file__).parent.parent.parent / "docs" / "cones.md"


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


def test_the_table_of_backends_is_up_to_date():
    text = re.search(r"<!-- backends: .*? -->\n(.*?)\n<!-- end -->", PAGE.read_text(), flags=re.S)
    assert text.group(1) == backends_table()
