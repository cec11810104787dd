"""The README and every page are true: snippets run, commands print what is shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot as plt

from radcluster.cli.support.experiment import INSTANCE_KEYS
from radcluster.settings import Settings, read_toml

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    if path.exists() and not {"_build", "notebooks"} & set(path.parts)
)
SECONDS = 600


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


def name(path):
    return path.relative_to(ROOT).as_posix()


def having(language):
    return [path for path in PAGES if blocks(path, language)]


def words(text):
    return " ".join(text.split())


def run(command, folder):
    arguments = shlex.split(command)
    assert arguments[0] == "radcluster"
    program = [sys.executable, "-c", "from radcluster.cli import main; main()"]
    return subprocess.run(
        [*program, *arguments[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("path", having("python"), ids=name)
def test_python(path, tmp_path, monkeypatch):
    """The snippets of a page, one after the other, as a reader would type them."""
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for number, block in enumerate(blocks(path, "python"), 1):
        exec(compile(block, f"{name(path)}, snippet {number}", "exec"), namespace)
    plt.close("all")


@pytest.mark.parametrize("path", having("console"), ids=name)
def test_commands_print_what_is_shown(path, tmp_path):
    for block in blocks(path, "console"):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = example.partition("\n")
            done = run(command, tmp_path)
            assert done.returncode in (0, 3), f"{command}: {done.stderr}"
            for line in shown.splitlines():
                assert words(line) in words(done.stdout), f"{command}\n{done.stdout}"


@pytest.mark.parametrize("path", having("toml"), ids=name)
def test_settings(path, tmp_path):
    for block in blocks(path, "toml"):
        settings = tmp_path / "settings.toml"
        settings.write_text(block)
        keys = read_toml(settings)
        Settings.from_mapping({key: keys[key] for key in keys if key not in INSTANCE_KEYS})


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_and_images_exist(path):
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text()):
        folder = path.parent
        if target.startswith(("notebooks/", "../notebooks/")) and "docs" in path.parts:
            folder = ROOT / "docs" / "formulations"  # the site has them beside its pages
            target = "../../notebooks/" + target.rpartition("notebooks/")[2]
            target = target.replace("index.md", "README.md")
        assert (folder / target).exists(), target


def test_ci_calls_the_test_command_of_the_readme():
    (command,) = (block for block in blocks(ROOT / "README.md", "bash") if "pytest" in block)
    assert command in (ROOT / ".ci" / "run").read_text()
