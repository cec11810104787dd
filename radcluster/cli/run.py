"""``radcluster run``."""

from __future__ import annotations

import click

from radcluster.cli.solve import output_options, solve_and_print
from radcluster.cli.support.export import prepare


@click.command()
@click.argument("experiment", type=click.Path())
@click.option("--out", type=click.Path(), metavar="FILE.csv", help="Write one label per line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
@output_options
def command(experiment, out, as_json, allow_code, certificate, report):
    """Solve the EXPERIMENT of a TOML file: points, clusters, radius, links and all settings."""
    given, export = prepare({}, out=out)
    return solve_and_print(experiment, given, export, as_json, allow_code, certificate, report)
