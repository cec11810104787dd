"""``radcluster reproduce``: the paper's table and figures, and the ones it never drew."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
from rich.console import Console

from radcluster.cli.support.workers import ended_with_us
from radcluster.errors import InputError
from radcluster.study.workers import on_cluster

#: Modules of :mod:`radcluster.study.experiments`, in the order in which ``all`` runs them. Each has
#: ``run(out, seeds=, n_jobs=) -> rows``, ``table(rows)``, ``DEFAULT_SEEDS``, most ``draw(rows)``.
EXPERIMENTS = (
    "table1",
    "fig1",
    "fig2",
    "fig3",
    "sweep",
    "feasibility",
    "robustness",
    "step1",
    "real",
)


@click.command()
@click.argument("experiment", type=click.Choice([*EXPERIMENTS, "all"]))
@click.option("--seeds", type=click.IntRange(1), help="Seeds or draws. [default: as in the paper]")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on this Dask scheduler: tcp://...")
@click.option(
    "--out", default="results", show_default=True, help="Folder for CSV files and figures."
)
def command(experiment, seeds, jobs, scheduler, out):
    """Run an experiment, print its table, write its CSV file and its figure.

    Results are written as they come; the same command continues where it stopped.
    """
    import matplotlib

    matplotlib.use("Agg")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to the folder {out}: {error.strerror}") from None
    with on_cluster(scheduler), ended_with_us(jobs):
        for name in EXPERIMENTS if experiment == "all" else (experiment,):
            run_one(name, folder, seeds, jobs)


def run_one(name: str, folder: Path, seeds: int | None, jobs: int) -> None:
    """One experiment: rows, table, figure."""
    module = importlib.import_module(f"radcluster.study.experiments.{name}")
    rows = module.run(folder, seeds=seeds or module.DEFAULT_SEEDS, n_jobs=jobs)
    # In a pipe a table keeps its full width: cutting numbers off would make it useless.
    console = Console()
    console = console if console.is_terminal else Console(width=200)
    console.print(module.table(rows))
    click.echo(f"rows: {folder / f'{name}.csv'}")
    if hasattr(module, "draw"):
        picture = folder / f"{name}.png"
        module.draw(rows).savefig(picture, dpi=200)
        click.echo(f"figure: {picture}")
