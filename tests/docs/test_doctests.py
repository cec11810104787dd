"""Every example in a docstring of radcluster/ and models/ runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import radcluster

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> list[str]:
    """Names of all modules, those of models/ as radcluster.models."""
    names = ["radcluster.models", "radcluster.benchmarks"]
    packages = [radcluster, *map(importlib.import_module, names)]
    found = [
        info.name
        for package in packages
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    ]
    return sorted({"radcluster", *found})


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


def test_there_are_examples_to_run():
    finder = doctest.DocTestFinder()
    examples = sum(
        bool(test.examples)
        for name in ("radcluster.api", "radcluster.problem.instance", "radcluster.models.milp")
        for test in finder.find(importlib.import_module(name))
    )
    assert examples >= 4
