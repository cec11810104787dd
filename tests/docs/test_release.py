"""The version stands in one place; what repeats it for readers says the same."""

import re
import tomllib
from pathlib import Path

import pytest

import radcluster

ROOT = Path(__file__).parent.parent.parent


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "radcluster.__version__"}
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited.group(1) == radcluster.__version__
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest.group(1) == radcluster.__version__
    assert "radcluster.__version__" in (ROOT / "docs" / "conf.py").read_text()


@pytest.mark.parametrize(
    "step", [".ci/wheel", "sphinx-build -W docs", "gh-action-pypi-publish", "id-token: write"]
)
def test_the_release_tests_what_it_publishes(step):
    assert step in (ROOT / ".github" / "workflows" / "release.yml").read_text()
