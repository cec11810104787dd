"""Notebooks run from a clean kernel, and are stored with the outputs of such a run."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_all_notebooks_are_here():
    assert [path.name[:2] for path in NOTEBOOKS] == [f"0{number}" for number in range(1, 10)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    # An error in any cell is raised here; nothing is written back.
    NotebookClient(
        notebook,
        timeout=480,  # seconds for a cell; the nine notebooks together take less on a quiet machine
        startup_timeout=240,  # a kernel that starts slowly on a busy machine is no fault
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_as_it_ran(path):
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]
    assert str(FOLDER.parent) not in path.read_text()
