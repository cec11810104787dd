"""Which files are collected, and how tests are sorted: unit, docs, paper."""

import importlib.util
import os
from pathlib import Path

import pytest

collect_ignore = []
# Ipopt's tests need Ipopt, except where its absence is to be a failure.
if importlib.util.find_spec("cyipopt") is None and not os.environ.get("RADCLUSTER_ALL_SOLVERS"):
    collect_ignore.append("conic/test_factorise.py")

#: Rooms whose tests are all of one sort. A test elsewhere is ``unit`` when its module says so.
SORTS = {
    "docs": "docs",
    "study": "paper",
    "graph": "unit",
    "problem": "unit",
    "proof": "unit",
    "views": "unit",
}
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if item.path.parent == TESTS:
            item.add_marker(pytest.mark.unit)
        elif folder in SORTS:
            item.add_marker(getattr(pytest.mark, SORTS[folder]))


def pytest_terminal_summary(terminalreporter):
    """Print the tables whose rows the tests recorded, as ``record_property(title, row)``.

    A row is one line of Markdown. They come from several processes, in any order.
    """
    found: dict[str, set[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for title, row in getattr(report, "user_properties", ()):
                found.setdefault(title, set()).add(row)
    for title, rows in found.items():
        terminalreporter.section(f"{title}: {len(rows)} rows")
        for row in sorted(rows):
            terminalreporter.line(row)
