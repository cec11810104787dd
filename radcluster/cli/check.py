"""``radcluster check``: a proof or a partition, checked by none of the code that found it."""

from __future__ import annotations

import json

import click

from radcluster.cli.support.files import read_pairs
from radcluster.cli.support.options import load_points
from radcluster.errors import InputError
from radcluster.proof import claim

#: Certificates and results are small; a larger file is something else.
MOST_BYTES = 100_000_000


@click.command()
@click.argument("points", type=click.Path())
@click.argument("certificate", type=click.Path())
@click.option("-k", "--n-clusters", type=int, help="Number of clusters. [default: the file's]")
@click.option("-r", "--radius", help="Radius, or one per cluster. [default: the file's]")
@click.option("--columns", metavar="A,B", help="Coordinates: names in the header, or numbers.")
@click.option("--cannot-link", type=click.Path(), metavar="PAIRS.csv", help="Pairs kept apart.")
@click.option("--must-link", type=click.Path(), metavar="PAIRS.csv", help="Kept together.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def command(points, certificate, n_clusters, radius, columns, cannot_link, must_link, as_json):
    """Check a CERTIFICATE, or a partition, for POINTS.

    CERTIFICATE is what --certificate wrote, or what --json printed. Only the definitions are used:
    distances, links, and what each kind of certificate claims. Exit codes: 0 it holds, 1 it does
    not, 4 it rests on a solver's search, which this command does not repeat.
    """
    data = _read(certificate)
    stated = {
        "n_clusters": n_clusters,
        "radius": _radius(radius),
        "cannot_link": read_pairs(cannot_link) if cannot_link else None,
        "must_link": read_pairs(must_link) if must_link else None,
    }
    found = claim.examine(load_points(points, columns), data, stated)
    if as_json:
        click.echo(json.dumps({"verdict": found.verdict, "reasons": list(found.reasons)}))
    else:
        click.echo(f"{found.verdict}: {' '.join(found.reasons)}")
    return {"holds": 0, "fails": 1}.get(found.verdict, 4)


def _read(path) -> dict:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise InputError(f"{path} is larger than any certificate")
        data = json.loads(text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path} does not hold a JSON object")
    return data


def _radius(text: str | None):
    try:
        parts = None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"radius must be a number or numbers with commas: {text!r}") from None
    return parts if parts is None or len(parts) > 1 else parts[0]
