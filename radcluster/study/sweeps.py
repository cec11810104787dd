"""A sweep: one data set, every combination of radius, clusters, method, solver and seed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from radcluster.api import run as solve
from radcluster.errors import InputError, SolverFailure, SolverUnavailable
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.problem.instance import Instance
from radcluster.result import Result
from radcluster.settings import Settings
from radcluster.study import records

#: What a sweep varies, in the order of its columns.
GRID = ("radius", "n_clusters", "method", "solver", "seed")


@dataclass(frozen=True)
class Sweep:
    """What is the same in all runs of a sweep, and what is varied.

    Attributes
    ----------
    points : array of shape (N, m)
    grid : mapping of the names in :data:`GRID` to lists of values
        A number of clusters may be ``"fewest"``.
    extras : mapping
        ``cannot_link``, ``must_link``, ``sample_weight`` of the instance.
    settings : mapping
        Settings of :func:`radcluster.solve` other than those of the grid.
    """

    points: np.ndarray
    grid: Mapping[str, Sequence[Any]]
    extras: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def tasks(self) -> list[records.Row]:
        """One row per combination."""
        values = [self.grid.get(name) or DEFAULTS[name] for name in GRID]
        return [dict(zip(GRID, row, strict=True)) for row in itertools.product(*values)]


DEFAULTS = {
    "radius": [float("inf")],
    "n_clusters": ["fewest"],
    "method": ["exact"],
    "solver": [None],
    "seed": [0],
}


def run(sweep: Sweep, path: str | Path, *, n_jobs: int = 1) -> list[records.Row]:
    """Rows of all combinations, streamed to ``path`` as they come; see :mod:`.records`."""
    tasks = sweep.tasks()
    for task in tasks:
        _settings(sweep, **task)  # A misspelt method is refused before anything is run.
    return records.run(path, tasks, partial(measure, sweep), n_jobs=n_jobs)


def measure(sweep: Sweep, radius, n_clusters, method, solver, seed) -> records.Row:
    """One run. A combination that cannot be run says why in ``note``."""
    try:
        settings = _settings(sweep, radius, n_clusters, method, solver, seed)
        instance = Instance(sweep.points, 1, radius, **sweep.extras)
        if n_clusters == "fewest":
            n_clusters = _fewest(instance, settings.time_limit)
        result = solve(instance.replace(n_clusters=n_clusters), settings)
    except (InputError, SolverFailure, SolverUnavailable) as error:
        return dict.fromkeys(COLUMNS) | {"status": "failed", "note": " ".join(str(error).split())}
    return _row(result)


COLUMNS = (
    "status", "clusters", "objective", "lower_bound", "gap", "max_radius", "seconds", "note",
)  # fmt: skip


def _row(result: Result) -> records.Row:
    known = result.solved
    kind = None if result.certificate is None else result.certificate["kind"]
    note = None if kind is None else f"proven infeasible: {kind}"
    return {
        "status": str(result.status),
        "clusters": result.n_clusters if known else None,
        "objective": result.objective if known else None,
        "lower_bound": result.lower_bound if np.isfinite(result.lower_bound) else None,
        "gap": result.gap if known else None,
        "max_radius": result.max_radius,
        "seconds": round(result.seconds, 4),
        "note": note,
    }


def _settings(sweep: Sweep, radius, n_clusters, method, solver, seed) -> Settings:
    keys = dict(sweep.settings) | {"method": method, "solver": solver, "seed": seed}
    return Settings.from_mapping(keys)


def _fewest(instance: Instance, time_limit: float | None) -> int:
    found = fewest_clusters(instance, time_limit=time_limit)
    if found.n_clusters is None:
        raise InputError("the must-links contradict the radius: no number of clusters will do")
    return found.n_clusters
