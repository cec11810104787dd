"""The README is true: its snippets run, its commands print what it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from radcluster.config import Settings, read_toml

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def words(text):
    return " ".join(text.split())


def run(command, folder):
    arguments = shlex.split(command)
    assert arguments[0] == "radcluster"
    return subprocess.run(
        [sys.executable, "-c", "from radcluster.cli import main; main()", *arguments[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.split("\n")[0])
def test_python(block, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_commands_print_what_the_readme_shows(tmp_path):
    assert blocks("console")
    for block in blocks("console"):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = example.partition("\n")
            done = run(command, tmp_path)
            assert done.returncode in (0, 3), f"{command}: {done.stderr}"
            for line in shown.splitlines():
                assert words(line) in words(done.stdout), f"{command}\n{done.stdout}"


def test_settings(tmp_path):
    for block in blocks("toml"):
        path = tmp_path / "settings.toml"
        path.write_text(block)
        Settings.from_mapping(read_toml(path))


def test_ci_calls_the_test_command_of_the_readme():
    (command,) = (block for block in blocks("bash") if "pytest" in block)
    assert command in (ROOT / ".ci" / "run").read_text()


def test_links_and_images_exist():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
