"""``radcluster min-clusters``."""

from __future__ import annotations

import click

from radcluster.cli.files import check_writable, read_pairs, read_points, write_labels
from radcluster.cli.output import exit_code, only_json, progress_line


@click.command()
@click.argument("points", type=click.Path())
@click.option("-r", "--radius", type=float, required=True, help="No cluster is wider than 2r.")
@click.option("--solver", metavar="NAME", help="MILP solver for what cliques leave open.")
@click.option("--time-limit", type=float, metavar="S", help="Seconds; then the bounds reached.")
@click.option("--cannot-link", type=click.Path(), metavar="PAIRS.csv", help="Pairs kept apart.")
@click.option("--must-link", type=click.Path(), metavar="PAIRS.csv", help="Pairs kept together.")
@click.option("--out", type=click.Path(), metavar="LABELS.csv", help="Write one label a line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def command(points, radius, solver, time_limit, cannot_link, must_link, out, as_json):
    """Fewest clusters of POINTS (CSV or .npy) of which none is wider than 2r, with proof."""
    from radcluster.fewest import fewest_clusters
    from radcluster.instance import Instance

    links = {
        "cannot_link": read_pairs(cannot_link) if cannot_link else (),
        "must_link": read_pairs(must_link) if must_link else (),
    }
    instance = Instance(read_points(points), 1, radius, **links)
    if out:
        check_writable(out)
    with only_json(), progress_line(f"min-clusters: {instance.n_points} points, r={radius:g}"):
        found = fewest_clusters(instance, solver=solver, time_limit=time_limit)
    click.echo(found.to_json() if as_json else _in_words(found, instance))
    if out and found.solved:
        write_labels(out, found.labels)
    return exit_code(found)


def _in_words(found, instance) -> str:
    from radcluster.certificates import explain

    if found.status == "infeasible":
        return explain(found.certificate, instance)
    lines = [f"{found.n_clusters} clusters suffice at radius {found.radius:g} ({found.status})."]
    if found.status != "optimal":
        lines.append(f"At least {found.lower_bound} are needed.")
    if found.lower_bound > 1:
        fewer = instance.replace(n_clusters=found.lower_bound - 1)
        lines.append(explain(found.certificate, fewer))
    return "\n".join(lines)
