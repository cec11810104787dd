"""``radcluster min-radius``."""

from __future__ import annotations

import click

from radcluster.cli.support.options import read_problem, shared
from radcluster.cli.support.output import exit_code, only_json, progress_line
from radcluster.cli.support.writing import write_labels


@click.command()
@click.option("-k", "--n-clusters", type=int, required=True, help="Number of clusters.")
@click.option("--solver", metavar="NAME", help="MILP solver for what cliques leave open.")
@shared
def command(points, n_clusters, solver, columns, time_limit, cannot_link, must_link, out, as_json):
    """Smallest radius at which POINTS (CSV or .npy) fall into K clusters, with proof."""
    from radcluster.feasibility.min_radius import smallest_radius
    from radcluster.problem.instance import Instance

    data, links = read_problem(points, columns, cannot_link, must_link, out)
    instance = Instance(data, n_clusters, **links)
    with only_json(), progress_line(f"min-radius: {instance.n_points} points, K={n_clusters}"):
        found = smallest_radius(instance, solver=solver, time_limit=time_limit)
    click.echo(found.to_json() if as_json else _in_words(found, instance))
    if out and found.solved:
        write_labels(out, found.labels)
    return exit_code(found)


def _in_words(found, instance) -> str:
    from radcluster.proof.certificates import explain

    if found.status == "infeasible":
        return explain(found.certificate, instance)
    if not found.solved:
        return f"no partition into {found.n_clusters} clusters found in time"
    one = found.n_clusters == 1
    if found.status == "optimal":
        need = "1 cluster needs" if one else f"{found.n_clusters} clusters need"
        lines = [f"{need} radius {found.radius!r}."]
    else:
        suffice = "1 cluster suffices" if one else f"{found.n_clusters} clusters suffice"
        lines = [
            f"{suffice} at radius {found.radius!r} ({found.status}).",
            f"No radius below {found.lower_bound!r} suffices.",
        ]
    if found.certificate:
        smaller = instance.replace(radius=found.certificate["radius"])
        lines.append(explain(found.certificate, smaller))
        if found.status == "optimal":
            lines.append(
                f"No two points are between {2 * found.certificate['radius']:.9g} and "
                f"{2 * found.radius:.9g} apart, so no radius in between differs from it."
            )
    return "\n".join(lines)
