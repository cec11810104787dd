"""``radcluster solve``."""

from __future__ import annotations

from contextlib import nullcontext

import click
from rich.console import Console

from radcluster.cli.support.experiment import gather, solve
from radcluster.cli.support.export import Export, prepare
from radcluster.cli.support.options import links_of, shared
from radcluster.cli.support.output import exit_code, only_json, print_result
from radcluster.cli.support.report import NAME
from radcluster.cli.support.writing import check_writable, write_json
from radcluster.errors import InputError
from radcluster.methods.register import METHODS
from radcluster.settings import SDP_OPTIONS


def output_options(function):
    """Options about code in files, certificates and reports on disk, for ``solve`` and ``run``."""
    for decorate in (
        click.option(
            "--allow-code", is_flag=True, help="Let a TOML file name code: MODULE:FUNCTION."
        ),
        click.option(
            "--certificate",
            type=click.Path(),
            metavar="FILE.json",
            help="Write the proof, with K and the radius, for radcluster check.",
        ),
        click.option(
            "--report",
            is_flag=True,
            help="Where a solver is caught out, write radcluster-report-*.json, which repeats it.",
        ),
    ):
        function = decorate(function)
    return function


@click.command()
@click.option("-k", "--n-clusters", type=int, help="Number of clusters. [default: the fewest]")
@click.option("-r", "--radius", help="Radius, or one per cluster: 0.1,0.2,0.2. [default: inf]")
@click.option("--method", help=f"{', '.join(METHODS)}. [default: exact]")
@click.option(
    "--solver",
    multiple=True,
    metavar="NAME",
    help="Solver by name; repeat it for several steps, or say which: step1=scs.",
)
@click.option(
    "--config",
    type=click.Path(),
    help="TOML file with any of these, points too: see docs/solvers.md.",
)
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
@click.option("--anchored/--no-anchors", default=None, help="Break the symmetry of labels.")
@click.option("--native", multiple=True, metavar="SOLVER.KEY=VALUE", help="A solver's own option.")
@click.option("--verbose", is_flag=True, default=None, help="Show the solvers' logs.")
@click.option("--initial", type=click.Path(), metavar="LABELS.csv", help="Start from these.")
@click.option(
    "--as-printed",
    is_flag=True,
    default=None,
    help="Algorithm 1 as the paper prints it: sdp:paper, no anchors, quadratic, once.",
)
@click.option("--weights", metavar="COLUMN", help="Weights of the points, a column of POINTS.")
@click.option("--id-column", metavar="COLUMN", help="Names of the points, written with the labels.")
@click.option("--geojson", type=click.Path(), metavar="FILE", help="Write hulls of the clusters.")
@click.option("--clusters", is_flag=True, help="Print size, diameter and cost of each cluster.")
@output_options
@shared(points_required=False)
def command(
    config,
    out,
    as_json,
    allow_code,
    certificate,
    report,
    weights,
    id_column,
    geojson,
    clusters,
    **options,
):
    """Cluster POINTS (CSV or .npy, one row per point) so that no cluster is wider than 2r.

    POINTS may stand in the file of --config instead.
    """
    given, export = prepare(
        _given(options),
        out=out,
        weights=weights,
        id_column=id_column,
        geojson=geojson,
        clusters=clusters,
    )
    return solve_and_print(config, given, export, as_json, allow_code, certificate, report)


def solve_and_print(
    config,
    given: dict,
    export: Export,
    as_json: bool,
    allow_code: bool = False,
    certificate=None,
    report: bool = False,
) -> int:
    """Solve what a TOML file and the command line say; the exit code."""
    for path in filter(None, (certificate, report and NAME)):
        check_writable(path)
    experiment = gather(config, given, allow_code)
    with only_json() if as_json else nullcontext():
        instance, result = solve(experiment, report)
    if as_json:
        click.echo(result.to_json())
    else:
        _print(instance, result)
        if export.clusters and result.solved:
            click.echo(str(result.summary()))
    if result.solved:
        export.write(instance, result)
    if certificate:
        write_json(certificate, result.to_dict() | links_of(instance))
    return exit_code(result)


def _print(instance, result):
    console = Console()
    if result.status == "infeasible":
        from radcluster.proof.certificates import explain

        console.print(explain(result.certificate, instance), highlight=False, soft_wrap=True)
    else:
        print_result(console, result)


def _given(options: dict) -> dict:
    """What the command line says, in the words of a TOML file."""
    given = {key: value for key, value in options.items() if value not in (None, ())}
    parse = {
        "solver": _parse_solvers,
        "cuts": lambda text: text.split(","),
        "sdp": _parse_sdp,
        "native": _parse_native,
    }
    return given | {key: parse[key](given[key]) for key in parse if key in given}


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
