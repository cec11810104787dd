"""A result in a file, with its instance and its history, and back."""

from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.progress import Progress
from radcluster.proof.certificates import certificate_of
from radcluster.proof.verify import violations
from radcluster.result import Result

FORMAT = "radcluster result 1"


def save(result: Result, path) -> None:
    """Write the file whole or not at all."""
    path = Path(path)
    content = {
        "format": FORMAT,
        "result": result.to_dict(),
        "instance": None if result.instance is None else _instance_to_dict(result.instance),
        "history": [_without_infinities(asdict(report)) for report in result.history],
    }
    written = json.dumps(content, allow_nan=False)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(written)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load(path) -> Result:
    """Read the file. A partition that does not keep its own instance is refused."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        known = isinstance(content, dict) and content.get("format") == FORMAT
    except (ValueError, UnicodeDecodeError):
        known = False
    if not known:
        raise InputError(f"{path} is not a file that Result.save wrote")
    try:
        return _read(content)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}") from None


def _read(content: dict) -> Result:
    instance = _instance_of(content["instance"])
    points = None if instance is None else instance.points
    result = Result.from_json(json.dumps(content["result"]), points)
    certificate = result.certificate
    if instance is not None:
        if result.labels is not None and (wrong := violations(instance, result.labels)):
            raise ValueError(wrong[0])
        if certificate is not None:
            certificate = certificate_of(certificate).about(instance)
    history = tuple(Progress(**_with_infinities(report)) for report in content["history"])
    return replace(result, instance=instance, history=history, certificate=certificate)


def _instance_to_dict(instance: Instance) -> dict:
    known_by = "sq_distances" if instance.points is None else "points"
    return {
        known_by: getattr(instance, known_by).tolist(),
        "n_clusters": instance.n_clusters,
        "radius": [r if math.isfinite(r) else None for r in instance.radii.tolist()],
        "cannot_link": instance.cannot_link.tolist(),
        "must_link": instance.must_link.tolist(),
        "sample_weight": instance.weights.tolist() if instance.is_weighted else None,
    }


def _instance_of(data: dict | None) -> Instance | None:
    if data is None:
        return None
    radii = np.array([np.inf if r is None else r for r in data["radius"]])
    rest = {
        "n_clusters": data["n_clusters"],
        "radius": radii,
        "cannot_link": data["cannot_link"],
        "must_link": data["must_link"],
        "sample_weight": data["sample_weight"],
    }
    if "points" in data:
        return Instance(data["points"], **rest)
    return Instance.from_distances(data["sq_distances"], **rest)


def _without_infinities(report: dict) -> dict:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in report.items()
    }


def _with_infinities(report: dict) -> dict:
    """An unknown partition costs infinity, an unknown bound minus infinity."""
    unknown = {"incumbent": math.inf, "bound": -math.inf}
    return {key: unknown.get(key) if value is None else value for key, value in report.items()}
