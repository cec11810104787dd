"""The cache of compiled kernels only saves time: without it, or with a damaged one, all works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import radcluster

ROOT = Path(radcluster.__file__).parent
#: A kernel in a file of its own, so that its cache is small and its compilation quick.
SOURCE = """
from radcluster.compiled import kernel

@kernel
def double(x):
    return 2 * x

print(double(21))
"""


def run(path: Path, cache: Path) -> str:
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "HOME": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, str(path)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout.strip()


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "source" / "one_kernel.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_truncated_cache_file(script, tmp_path, suffix):
    assert run(script, tmp_path / "cache") == "42"
    (damaged,) = (tmp_path / "cache").rglob(f"*{suffix}")
    damaged.write_bytes(damaged.read_bytes()[:20])
    assert run(script, tmp_path / "cache") == "42"
    # It was replaced by a whole one.
    assert damaged.stat().st_size > 20


def test_no_folder_for_a_cache(script):
    # A path below a file can neither be made nor written, whoever asks.
    assert run(script, script / "below") == "42"


def test_every_cached_kernel_is_of_that_kind():
    """``numba.njit(cache=True)`` would fail on import where no cache can be written."""
    others = [
        path.name
        for path in ROOT.rglob("*.py")
        if path.name != "compiled.py" and "cache=True" in path.read_text()
    ]
    assert others == []
