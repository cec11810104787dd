"""Each sentence of the README about what is guaranteed names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def guarantees() -> list[str]:
    text = (ROOT / "README.md").read_text()
    section = text.split("## What is guaranteed\n")[1].split("\n## ")[0]
    return [" ".join(item.split()) for item in section.split("\n- ")[1:]]


def test_each_guarantee_names_a_test():
    assert len(guarantees()) >= 8
    for sentence in guarantees():
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", sentence)
        assert named, sentence
        for path, function in named:
            tree = ast.parse((ROOT / path).read_text())
            tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            tests = {name for name in tests if name.startswith("test_")}
            assert function in tests if function else tests, (path, function)
