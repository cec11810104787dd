"""Arguments that several commands share: the points, the links, where the labels go."""

from __future__ import annotations

from functools import partial

import click

from radcluster.cli.support.files import read_pairs, read_points
from radcluster.cli.support.writing import check_writable

_SHARED = (
    click.option(
        "--columns", metavar="A,B", help="Coordinates: names in the header, or numbers from 0."
    ),
    click.option("--time-limit", type=float, metavar="S", help="Seconds for the whole run."),
    click.option("--cannot-link", type=click.Path(), metavar="PAIRS.csv", help="Pairs kept apart."),
    click.option("--must-link", type=click.Path(), metavar="PAIRS.csv", help="Kept together."),
    click.option("--out", type=click.Path(), metavar="FILE.csv", help="Write one label per line."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else."),
)


def shared(function=None, *, points_required: bool = True):
    """Give a command the shared arguments, below its own in the help."""
    if function is None:
        return partial(shared, points_required=points_required)
    for decorate in reversed(_SHARED):
        function = decorate(function)
    return click.argument("points", type=click.Path(), required=points_required)(function)


def read_problem(points, columns, cannot_link, must_link, out) -> tuple:
    """The points and the links, once it is known that the labels can be written."""
    if out:
        check_writable(out)
    links = {
        "cannot_link": read_pairs(cannot_link) if cannot_link else (),
        "must_link": read_pairs(must_link) if must_link else (),
    }
    return load_points(points, columns), links


def links_of(instance) -> dict:
    """The links of an instance, as a certificate's file carries them."""
    return {
        "cannot_link": instance.cannot_link.tolist(),
        "must_link": instance.must_link.tolist(),
        "sample_weight": instance.weights.tolist() if instance.is_weighted else None,
    }


def load_points(path, columns=None):
    """The coordinates in a file; a line on standard error says which columns they come from."""
    if isinstance(columns, str):
        columns = columns.split(",")
    read = read_points(path, columns)
    if read.columns is not None:
        click.echo(f"radcluster: {path}: using columns {', '.join(read.columns)}", err=True)
    return read.values
