"""``radcluster solvers``."""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from radcluster.cli.support.output import only_json
from radcluster.solvers.registry import SOLVERS


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list and nothing else.")
@click.option("--matrix", is_flag=True, help="Run every formulation with every solver: a table.")
def command(as_json, matrix):
    """List the solvers by name: what they solve, what is installed, how to install the rest."""
    if matrix:
        from radcluster.study.matrix import matrix as run_all
        from radcluster.study.matrix import to_markdown

        with only_json():
            cells = run_all()
        click.echo(to_markdown(cells), nl=False)
        return
    rows = [
        {
            "name": info.name,
            "classes": list(info.classes),
            "installed": info.installed,
            "version": info.version,
            "install": info.install,
            "obstacle": info.obstacle,
        }
        for info in SOLVERS.values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("name", "solves", "version", "what is missing"):
        table.add_column(column)
    for row in rows:
        version = row["version"] or ("installed" if row["installed"] else "-")
        hint = (row["obstacle"] or "").removeprefix("is not installed: ")
        style = "dim" if row["obstacle"] else None
        # Escaped, because an extra in brackets would be taken for markup.
        table.add_row(row["name"], ", ".join(row["classes"]), version, escape(hint), style=style)
    Console().print(table)
