"""``radcluster solve``."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from radcluster.cli.files import write_labels
from radcluster.cli.options import read_problem, shared
from radcluster.cli.output import exit_code, only_json, print_result, progress_line
from radcluster.config import METHODS, SDP_OPTIONS, Settings, read_toml
from radcluster.errors import InputError


@click.command()
@click.option("-k", "--n-clusters", type=int, help="Number of clusters; default: the fewest.")
@click.option("-r", "--radius", default="inf", help="Radius, or one per cluster: 0.1,0.2,0.2.")
@click.option("--method", help=f"{', '.join(METHODS)}. [default: exact]")
@click.option(
    "--solver",
    multiple=True,
    metavar="NAME",
    help="Solver by name; repeat it for several steps, or say which: step1=scs.",
)
@click.option("--config", type=click.Path(), help="TOML file with these options: see the README.")
@click.option("--rel-gap", type=float, help="Gap at which a partition counts as optimal.")
@click.option("--threads", type=int, help="Threads of each solver.")
@click.option("--seed", type=int, help="Seed of each solver and of random starts.")
@click.option("--constraints", help="Radius constraint: clique, conflict or quadratic.")
@click.option("--formulation", metavar="MODULE:FUNCTION", help="Your own builder for milp, minlp.")
@click.option("--cuts", help="Cuts for the SDP of Step 1: pair,triangle,clique.")
@click.option("--sdp", multiple=True, metavar="KEY=VALUE", help=f"SDP: {', '.join(SDP_OPTIONS)}.")
@click.option("--step1", help="sdp:perspective, sdp:paper, sdp:peng_wei, kcenter, kcenter:exact.")
@click.option("--step2", metavar="MODULE:FUNCTION", help="Your own builder for Step 2.")
@click.option("--step4", metavar="MODULE:FUNCTION", help="Your own builder for Step 4.")
@click.option("--repeat/--once", default=None, help="Steps 3-4 until nothing changes, or once.")
@click.option("--anchored/--verbatim-labels", default=None, help="Break the symmetry of labels.")
@click.option("--native", multiple=True, metavar="SOLVER.KEY=VALUE", help="A solver's own option.")
@click.option("--verbose", is_flag=True, default=None, help="Show the solvers' logs.")
@shared
def command(points, n_clusters, radius, config, cannot_link, must_link, out, as_json, **options):
    """Cluster POINTS (CSV or .npy, one row a point) so that no cluster is wider than 2r."""
    # So that MODULE:FUNCTION finds a file in the folder where the command is called.
    sys.path.insert(0, "")
    settings = _settings(config, options)
    data, links = read_problem(points, cannot_link, must_link, out)
    radius = _parse_radius(radius)
    if as_json:
        with only_json():
            result = _solve(data, n_clusters, radius, links, settings)
        click.echo(result.to_json())
    else:
        result = _solve(data, n_clusters, radius, links, settings)
        _print(data, links, result)
    if out and result.solved:
        write_labels(out, result.labels)
    return exit_code(result)


def _solve(data, n_clusters, radius, links, settings):
    from radcluster.driver import run
    from radcluster.instance import Instance

    if n_clusters is None:
        n_clusters = _fewest(data, radius, links, settings)
    instance = Instance(data, n_clusters, radius, **links)
    with progress_line(f"{settings.method}: {instance!r}") as progress:
        return run(instance, settings, progress)


def _fewest(data, radius, links, settings):
    from radcluster.fewest import min_clusters

    if not isinstance(radius, float):
        raise InputError("-k is needed when there is a radius for each cluster")
    if radius == float("inf"):
        raise InputError("give -k, or a radius -r whose fewest clusters are to be used")
    found = min_clusters(data, radius, time_limit=settings.time_limit, **links)
    if found.status == "infeasible":
        return 1  # whatever number is tried, the links contradict each other
    if found.status != "optimal":
        click.echo(
            f"radcluster: using {found.n_clusters} clusters; "
            f"at least {found.lower_bound} are needed, fewer are not ruled out",
            err=True,
        )
    return found.n_clusters


def _print(data, links, result):
    console = Console()
    if result.status == "infeasible":
        from radcluster.certificates import explain
        from radcluster.instance import Instance

        instance = Instance(data, result.n_clusters, result.radius, **links)
        console.print(explain(result.certificate, instance), highlight=False, soft_wrap=True)
    else:
        print_result(console, result)


def _parse_radius(text: str):
    try:
        radii = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"radius must be a number or numbers with commas, got {text!r}") from None
    return radii[0] if len(radii) == 1 else radii


def _settings(config: str | None, options: dict) -> Settings:
    """The TOML file's keys, overridden by what the command line says."""
    chosen = read_toml(config) if config else {}
    given = {key: value for key, value in options.items() if value not in (None, ())}
    if "solver" in given:
        given["solver"] = _parse_solvers(given["solver"])
    if "cuts" in given:
        given["cuts"] = given["cuts"].split(",")
    if "sdp" in given:
        given["sdp"] = _parse_sdp(given["sdp"])
    if "native" in given:
        given["native"] = _parse_native(given["native"])
    return Settings.from_mapping(chosen | given)


def _parse_solvers(names):
    """``("scs", "scip")`` as a list, ``("step1=scs", "step4=scip")`` as a mapping."""
    by_step = [name for name in names if "=" in name]
    if not by_step:
        return list(names)
    if len(by_step) < len(names):
        raise InputError("name solvers either by step (step1=scs) or not, but not both ways")
    chosen = dict(name.split("=", 1) for name in names)
    if len(chosen) < len(names):
        raise InputError(f"several solvers for one step: {', '.join(names)}")
    return chosen


def _parse_native(items):
    native: dict[str, dict] = {}
    for item in items:
        solver, dot, rest = item.partition(".")
        key, equals, value = rest.partition("=")
        if not (dot and equals):
            raise InputError(f"--native takes SOLVER.KEY=VALUE, got {item!r}")
        native.setdefault(solver, {})[key] = _literal(value)
    return native


def _parse_sdp(items):
    if wrong := [item for item in items if "=" not in item]:
        raise InputError(f"--sdp takes KEY=VALUE, got {wrong[0]!r}")
    pairs = dict(item.split("=", 1) for item in items)
    return {
        key: [_literal(part) for part in value.split(",")] if "," in value else _literal(value)
        for key, value in pairs.items()
    }


def _literal(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
