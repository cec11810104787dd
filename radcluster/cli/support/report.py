"""A reproducer of a solver's failure: the instance, the settings, what was claimed and refuted.

``Instance(**report["instance"])`` and ``solve(instance, **report["settings"])`` run it again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import radcluster
from radcluster.cli.support.writing import write_text
from radcluster.errors import SolverFailure
from radcluster.problem.instance import Instance
from radcluster.settings import Settings
from radcluster.solvers.registry import SOLVERS

NAME = "radcluster-report-{}.json"


def write_report(instance: Instance, settings: Settings, error: SolverFailure) -> Path:
    """Write the reproducer into the working folder; its path."""
    claim, _, contradiction = str(error).partition(", but ")
    solver = SOLVERS.get(claim.split()[0])
    content = {
        "radcluster": radcluster.__version__,
        "solver": solver and solver.name,
        "solver_version": solver and solver.version,
        "claim": claim,
        "contradiction": contradiction or None,
        "instance": instance_keys(instance),
        "settings": settings_keys(settings),
    }
    text = json.dumps(content, indent=1) + "\n"
    path = Path(NAME.format(hashlib.sha256(text.encode()).hexdigest()[:12]))
    write_text(path, text)
    return path


def instance_keys(instance: Instance) -> dict[str, Any]:
    """The arguments of :class:`Instance`; a radius of infinity is left out."""
    keys: dict[str, Any] = {"points": instance.points, "n_clusters": instance.n_clusters}
    if instance.radius != math.inf:
        keys["radius"] = instance.radius
    keys |= {"cannot_link": instance.cannot_link, "must_link": instance.must_link}
    if instance.is_weighted:
        keys["sample_weight"] = instance.weights
    return {key: _plain(value) for key, value in keys.items()}


def settings_keys(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults; code of the user's own by its name."""
    default = Settings()
    stated = {field.name: getattr(settings, field.name) for field in fields(Settings)}
    stated = {key: _plain(value) for key, value in stated.items()}
    return {key: value for key, value in stated.items() if value != _plain(getattr(default, key))}


def _plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if callable(value):
        return getattr(value, "__qualname__", "own")
    return value
