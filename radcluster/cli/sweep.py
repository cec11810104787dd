"""``radcluster sweep``: one data set, every combination of what is varied.

points = "moons.csv"              # beside this file, as in ``radcluster run``
radius = [0.18, 0.189]            # a list is varied, a single value is not
n_clusters = [16, 17, "fewest"]
method = ["exact", "heuristic"]
solver = ["highs", "scip"]        # left out: each method's own
seeds = 5                         # 0 to 4; or seed = [3, 7]
time_limit = 60                   # and any other setting
out = "sweep.csv"                 # or sweep.parquet; beside this file
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from radcluster.cli.support.experiment import FILE_KEYS, INSTANCE_KEYS
from radcluster.cli.support.files import read_pairs, read_points
from radcluster.cli.support.options import load_points
from radcluster.cli.support.workers import ended_with_us
from radcluster.cli.support.writing import check_writable
from radcluster.errors import InputError
from radcluster.settings import Settings, check_choice, read_toml

#: Columns of the table that is printed at the end.
SHOWN = ("radius", "n_clusters", "method", "solver", "seed", "status", "objective", "gap")
#: Most rows of that table.
MOST_SHOWN = 40


@click.command()
@click.argument("experiment", type=click.Path())
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on this Dask scheduler: tcp://...")
@click.option("--out", type=click.Path(), metavar="FILE", help="CSV or Parquet file of results.")
def command(experiment, jobs, scheduler, out):
    """Solve every combination that the EXPERIMENT file lists.

    Results are written as they come; the same command continues where it stopped.
    """
    from radcluster.study import sweeps
    from radcluster.study.workers import on_cluster

    keys = read_toml(experiment)
    folder = Path(experiment).parent
    path = Path(out or folder / keys.pop("out", f"{Path(experiment).stem}.csv"))
    keys.pop("out", None)
    check_writable(path)
    sweep = read_sweep(keys, folder)
    with on_cluster(scheduler), ended_with_us(jobs):
        rows = sweeps.run(sweep, path, n_jobs=jobs)
    console = Console()
    console = console if console.is_terminal else Console(width=160)
    console.print(_table(rows))
    click.echo(f"rows: {path}")


def read_sweep(keys: dict[str, Any], folder: Path):
    """The sweep that the keys of a TOML file describe; files lie in the folder."""
    from radcluster.study.sweeps import GRID, Sweep

    keys = dict(keys)
    valid = [*INSTANCE_KEYS, "seeds", "out", *(setting.name for setting in fields(Settings))]
    for key in keys:
        check_choice("key", key, valid)
    for name in FILE_KEYS:
        if isinstance(keys.get(name), str):
            keys[name] = str(folder / keys[name])
    if "points" not in keys:
        raise InputError("no points: name a file of them in the TOML file")
    if "seeds" in keys:
        if "seed" in keys:
            raise InputError("give seeds, a number of them, or seed, a list; not both")
        keys["seed"] = list(range(_whole(keys.pop("seeds"))))
    grid = {name: _listed(name, keys.pop(name)) for name in GRID if name in keys}
    points = keys.pop("points")
    if isinstance(points, str):
        points = load_points(points, keys.pop("columns", None))
    extras = {name: keys.pop(name) for name in INSTANCE_KEYS if name in keys}
    for name in ("cannot_link", "must_link"):
        if isinstance(extras.get(name), str):
            extras[name] = read_pairs(extras[name])
    if isinstance(extras.get("sample_weight"), str):
        extras["sample_weight"] = read_points(extras["sample_weight"]).values.ravel()
    return Sweep(points, grid, extras, keys)


def _whole(value) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"seeds must be a whole number >= 1, got {value!r}")
    return value


def _listed(name: str, value) -> list:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InputError(f"{name} lists no values")
    if name == "radius":
        try:
            return [float(radius) for radius in values]
        except (TypeError, ValueError):
            raise InputError(f"radius must list numbers, got {value!r}") from None
    return values


def _table(rows) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in SHOWN:
        table.add_column(name, no_wrap=True)
    for row in rows[:MOST_SHOWN]:
        table.add_row(*(_cell(row[name]) for name in SHOWN))
    if len(rows) > MOST_SHOWN:
        table.caption = f"and {len(rows) - MOST_SHOWN} more"
    return table


def _cell(value) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
