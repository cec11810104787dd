"""Faults of the machine, its folders, programs and licences, and the page of all faults."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from injected import FAULTS, listed
from surroundings import SIZED, SURROUNDINGS, hanging_program

from radcluster.solvers import registry


@pytest.mark.parametrize("fault", SURROUNDINGS, ids=lambda fault: fault.name)
def test_surrounding(fault, tmp_path, record_property):
    for name in SIZED:
        info = registry.get(name)
        if name in fault.name and info.installed and not info.free_size.applies():
            pytest.skip(f"{name} has a full licence here")
    came_out = fault.happens(tmp_path)
    record_property("injected faults", f"| {fault.name} | {came_out} |")
    assert came_out.startswith(fault.comes_out)


def test_a_program_that_hangs_leaves_no_process(tmp_path):
    hanging_program(tmp_path)
    fake = str(tmp_path / "bin" / "cbc")
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if fake.encode() in line]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "points.npy"]


def test_the_page_lists_every_fault_with_what_comes_out():
    rows = listed()
    for fault in (*FAULTS, *SURROUNDINGS):
        assert rows.pop(fault.name).startswith(fault.comes_out)
    assert not rows
