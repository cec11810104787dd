"""Arguments that several commands share: the points, the links, where the labels go."""

from __future__ import annotations

import click

from radcluster.cli.files import check_writable, read_pairs, read_points

_SHARED = (
    click.argument("points", type=click.Path()),
    click.option("--time-limit", type=float, metavar="S", help="Seconds for the whole run."),
    click.option("--cannot-link", type=click.Path(), metavar="PAIRS.csv", help="Pairs kept apart."),
    click.option("--must-link", type=click.Path(), metavar="PAIRS.csv", help="Kept together."),
    click.option("--out", type=click.Path(), metavar="LABELS.csv", help="Write one label a line."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else."),
)


def shared(function):
    """Give a command the shared arguments, below its own in the help."""
    for decorate in reversed(_SHARED):
        function = decorate(function)
    return function


def read_problem(points, cannot_link, must_link, out) -> tuple:
    """The points and the links, once it is known that the labels can be written."""
    if out:
        check_writable(out)
    links = {
        "cannot_link": read_pairs(cannot_link) if cannot_link else (),
        "must_link": read_pairs(must_link) if must_link else (),
    }
    return read_points(points), links
