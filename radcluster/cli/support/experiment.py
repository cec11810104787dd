"""One experiment: points, clusters, radius, links and settings, from a file and the command line.

points = "moons.csv"              # beside this file; or rows of numbers
columns = ["x", "y"]              # names, or numbers counted from 0; default: all
n_clusters = 16                   # default: the fewest that the radius allows
radius = 0.189                    # default: none; or one per cluster
cannot_link = [[0, 99]]           # or a file of pairs; must_link alike
initial = "labels.csv"            # a partition to start from; or labels
method = "exact"                  # and any other setting
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from radcluster.cli.support.files import read_labels, read_pairs, read_points
from radcluster.cli.support.options import load_points
from radcluster.cli.support.output import progress_line
from radcluster.cli.support.report import write_report
from radcluster.clock import Clock
from radcluster.errors import CompilingTimeUp, InputError, SolverFailure
from radcluster.problem.instance import Instance
from radcluster.result import Result
from radcluster.settings import Settings, read_toml

#: Keys of the instance; all others are settings.
INSTANCE_KEYS = (
    "points",
    "columns",
    "n_clusters",
    "radius",
    "cannot_link",
    "must_link",
    "sample_weight",
)
#: Keys that may name a file.
FILE_KEYS = ("points", "cannot_link", "must_link", "sample_weight", "initial")


@dataclass(frozen=True)
class Experiment:
    """What is to be solved, and how. ``n_clusters`` is None for the fewest."""

    points: Any
    n_clusters: int | None
    radius: Any
    extras: Mapping[str, Any]
    settings: Settings

    def instance(self, n_clusters: int) -> Instance:
        """The instance with this number of clusters."""
        return Instance(self.points, n_clusters, self.radius, **self.extras)


def gather(
    config: str | Path | None, given: Mapping[str, Any], allow_code: bool = False
) -> Experiment:
    """The experiment of a TOML file, overridden by what the command line says.

    Files that the TOML file names lie beside it. Code that it names is refused unless
    ``allow_code``: a file from elsewhere should not run anything. What the command line names is
    the user's own act.
    """
    keys = _beside(read_toml(config), Path(config).parent) if config else {}
    if not allow_code and (key := _code_in(keys)):
        raise InputError(f"{config} names code to run as {key}: {keys[key]}. See --allow-code.")
    keys |= given
    if _code_in(keys):
        # So that MODULE:FUNCTION finds a file in the folder where the command is called.
        sys.path.insert(0, "")
    problem = {key: keys.pop(key) for key in INSTANCE_KEYS if key in keys}
    if isinstance(keys.get("initial"), str):
        keys["initial"] = read_labels(keys["initial"])
    settings = Settings.from_mapping(keys)
    if "points" not in problem:
        raise InputError(
            "no points: name a file on the command line, or as points in the TOML file"
        )
    points = problem["points"]
    if not isinstance(points, (list, str)):
        raise InputError(f"points must be a file or rows of numbers, got {points!r:.60}")
    if isinstance(points, str):
        points = load_points(points, problem.get("columns"))
    elif "columns" in problem:
        raise InputError("columns choose from a file of points")
    extras = {key: _pairs(problem.get(key, ())) for key in ("cannot_link", "must_link")}
    if "sample_weight" in problem:
        extras["sample_weight"] = _weights(problem["sample_weight"])
    radius = _radius(problem.get("radius", math.inf))
    return Experiment(points, problem.get("n_clusters"), radius, extras, settings)


def _code_in(keys: Mapping[str, Any]) -> str | None:
    """The key, if any, whose value is MODULE:FUNCTION."""
    for key in ("formulation", "step1", "step2", "step4"):
        name = keys.get(key)
        if isinstance(name, str) and ":" in name:
            if not name.lower().startswith(("sdp:", "kcenter:")):  # those are built in
                return key
    return None


def solve(experiment: Experiment, report: bool = False) -> tuple[Instance, Result]:
    """Solve the experiment; without a number of clusters, with the fewest.

    With ``report`` a solver's failure leaves a file behind that reproduces it.
    """
    from radcluster.api import run

    settings = experiment.settings
    clock = Clock(settings.time_limit)
    n_clusters = experiment.n_clusters
    if n_clusters is None:
        n_clusters, labels = _fewest(experiment, clock)
        initial = labels if settings.initial is None else settings.initial
        settings = replace(settings, initial=initial, time_limit=clock.left)
    instance = experiment.instance(n_clusters)
    try:
        with progress_line(f"{settings.method}: {instance!r}") as progress:
            result = run(instance, settings, progress)
    except CompilingTimeUp:
        raise
    except SolverFailure as error:
        if not report:
            raise
        path = write_report(instance, settings, error)
        raise SolverFailure(f"{error}. Reproduced by {path}") from error
    return instance, replace(result, seconds=clock.seconds)


def _fewest(experiment: Experiment, clock: Clock):
    """The fewest clusters that the radius allows, and a partition into so many."""
    from radcluster.feasibility.min_clusters import fewest_clusters

    if not isinstance(experiment.radius, float):
        raise InputError("n_clusters (-k) is needed when there is a radius for each cluster")
    if math.isinf(experiment.radius):
        raise InputError("give n_clusters (-k), or a radius (-r) whose fewest clusters to use")
    found = fewest_clusters(experiment.instance(1), time_limit=clock.left)
    if found.status == "infeasible":
        return 1, None  # whatever number is tried, the links contradict each other
    if found.status != "optimal":
        click.echo(
            f"radcluster: using {found.n_clusters} clusters. At least {found.lower_bound} are "
            "needed; a number in between is not ruled out.",
            err=True,
        )
    return found.n_clusters, found.labels


def _beside(keys: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {key: str(folder / keys[key]) for key in FILE_KEYS if isinstance(keys.get(key), str)}
    return keys | files


def _pairs(pairs):
    return read_pairs(pairs) if isinstance(pairs, str) else pairs


def _weights(weights):
    return read_points(weights).values.ravel() if isinstance(weights, str) else weights


def _radius(radius):
    """One number, or one per cluster; on the command line with commas."""
    try:
        if isinstance(radius, str):
            radius = [float(part) for part in radius.split(",")]
        if isinstance(radius, list):
            return radius[0] if len(radius) == 1 else radius
        return float(radius)
    except (TypeError, ValueError):
        message = f"radius must be a number or numbers with commas, got {radius!r}"
        raise InputError(message) from None
