"""``radcluster bench``: the measurements of benchmarks/."""

from __future__ import annotations

import importlib
import importlib.util

import click
from rich.console import Console

from radcluster.errors import InputError

SUITES = ("foundation", "sdp", "exact", "scale")


@click.command()
@click.argument("suite", type=click.Choice([*SUITES, "all"]), default="all")
@click.option(
    "--only", default="", metavar="TEXT", help="exact, scale: rows whose names contain it."
)
@click.option(
    "--proofs",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="scale: small instances on which the heuristic is put beside a proof.",
)
def command(suite, only, proofs):
    """Run a benchmark suite and print its table."""
    # Wide enough for the tables, in a pipe too.
    console = Console(width=max(Console().width, 110))
    if suite in ("sdp", "all") and importlib.util.find_spec("cvxpy") is None:
        raise InputError("the suite sdp compares with CVXPY: pip install cvxpy")
    for name in SUITES if suite == "all" else (suite,):
        console.rule(name)
        options = {"only": only} if name in ("exact", "scale") else {}
        if name == "scale":
            options["proofs"] = proofs
        importlib.import_module(f"radcluster.benchmarks.{name}").run(console, **options)
