"""``radcluster min-clusters``."""

from __future__ import annotations

import click

from radcluster.cli.support.options import read_problem, shared
from radcluster.cli.support.output import exit_code, only_json, progress_line
from radcluster.cli.support.writing import write_labels


@click.command()
@click.option("-r", "--radius", type=float, required=True, help="No cluster is wider than 2r.")
@click.option("--solver", metavar="NAME", help="MILP solver for what cliques leave open.")
@shared
def command(points, radius, solver, columns, time_limit, cannot_link, must_link, out, as_json):
    """Fewest clusters of POINTS (CSV or .npy) of which none is wider than 2r, with proof."""
    from radcluster.feasibility.min_clusters import fewest_clusters
    from radcluster.problem.instance import Instance

    data, links = read_problem(points, columns, cannot_link, must_link, out)
    instance = Instance(data, 1, radius, **links)
    with only_json(), progress_line(f"min-clusters: {instance.n_points} points, r={radius:g}"):
        found = fewest_clusters(instance, solver=solver, time_limit=time_limit)
    click.echo(found.to_json() if as_json else _in_words(found, instance))
    if out and found.solved:
        write_labels(out, found.labels)
    return exit_code(found)


def _in_words(found, instance) -> str:
    from radcluster.proof.certificates import explain

    if found.status == "infeasible":
        return explain(found.certificate, instance)
    suffice = (
        "1 cluster suffices" if found.n_clusters == 1 else f"{found.n_clusters} clusters suffice"
    )
    lines = [f"{suffice} at radius {found.radius:g} ({found.status})."]
    if found.status != "optimal":
        lines.append(f"At least {found.lower_bound} are needed.")
    if found.lower_bound > 1:
        fewer = instance.replace(n_clusters=found.lower_bound - 1)
        lines.append(explain(found.certificate, fewer))
    return "\n".join(lines)
