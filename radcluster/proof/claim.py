"""What a result's file claims, examined from the definitions alone.

A file may hold a certificate by itself, or a whole result. Of an infeasible result its certificate
is checked; of a partition its validity and its cost; of a smallest or fewest number both sides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.proof.certificates import certificate_of
from radcluster.proof.verify import violations

#: A cost may differ from the file's by this part of it: rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """``verdict`` is ``holds``, ``fails`` or ``open``, with the reasons in words."""

    verdict: str
    reasons: tuple[str, ...]


def examine(points, data: Mapping[str, Any], stated: Mapping[str, Any]) -> Verdict:
    """Check what the file's data claim of the points; ``stated`` overrides the file.

    Examples
    --------
    >>> clique = {"kind": "clique", "points": [0, 1, 2]}
    >>> line = [[0.0], [1.0], [2.0]]
    >>> examine(line, clique, {"n_clusters": 2, "radius": 0.25}).verdict
    'holds'
    >>> examine(line, clique, {"n_clusters": 3, "radius": 0.25}).verdict
    'fails'
    """
    whole = data if "kind" not in data else {"certificate": data, "status": "infeasible"}
    if not ({"certificate", "labels"} & set(whole)):
        raise InputError("the file holds neither a certificate nor a result")
    options = {
        key: value
        for key in ("n_clusters", "radius", "cannot_link", "must_link", "sample_weight")
        if (value := _of(key, whole, stated)) is not None
    }
    if "n_clusters" not in options:
        raise InputError("the file does not say the number of clusters: give -k")
    labels, certificate = whole.get("labels"), whole.get("certificate")
    found = []
    if labels is not None:
        found.append(_partition(_instance(points, options), labels, whole))
    if certificate is not None and labels is not None:
        options |= _just_below(whole, certificate)
    if certificate is not None:
        found.append(_certificate(_instance(points, options), certificate))
    if not found:
        raise InputError("the file holds neither a certificate nor a partition")
    verdicts = [one.verdict for one in found]
    worst = next((word for word in ("fails", "open") if word in verdicts), "holds")
    return Verdict(worst, tuple(reason for one in found for reason in one.reasons))


def _of(key: str, data: Mapping, stated: Mapping):
    value = stated.get(key)
    if value is None:
        value = data.get(key)
    if key == "radius" and isinstance(value, (list, tuple)):
        return [math.inf if r is None else r for r in value]
    return value


def _instance(points, options: dict) -> Instance:
    rest = dict(options)
    radius = rest.pop("radius", math.inf)
    return Instance(points, rest.pop("n_clusters"), radius, **rest)


def _just_below(data: Mapping, certificate) -> dict:
    """Fewer clusters, or the next smaller radius: what a certificate beside labels is about."""
    if isinstance(certificate, Mapping) and "radius" in certificate:
        return {"radius": certificate["radius"]}
    bound = data.get("lower_bound")
    return {"n_clusters": bound - 1} if isinstance(bound, int) and bound > 1 else {}


def _partition(instance: Instance, labels, whole: Mapping) -> Verdict:
    labels = np.asarray(labels)
    if wrong := violations(instance, labels):
        return Verdict("fails", tuple(wrong))
    cost = objective_of(instance, labels)
    # With an objective of the user's own, the sum of squares stands beside it.
    own = whole.get("sum_of_squares") is not None
    stated, bound = whole.get("sum_of_squares" if own else "objective"), whole.get("lower_bound")
    slack = ROUNDING * abs(cost)
    # Written so that NaN fails, too.
    if isinstance(stated, (int, float)) and not abs(cost - stated) <= slack:
        return Verdict("fails", (f"the partition costs {cost!r}, not {stated!r}.",))
    costs = not own and stated is not None and isinstance(bound, (int, float))
    if costs and not bound <= cost + slack:
        reason = f"the partition costs {cost!r}, less than the lower bound, {bound!r}."
        return Verdict("fails", (reason,))
    return Verdict("holds", (f"The partition is valid and costs {cost:.9g}.",))


def _certificate(instance: Instance, data) -> Verdict:
    certificate = certificate_of(data)
    try:
        if certificate.check(instance):
            return Verdict("holds", (certificate.explain(instance),))
        if certificate.kind == "search":
            return Verdict("open", (certificate.explain(instance), certificate.rests_on()))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"the certificate is incomplete: {error!r:.60}") from None
    return Verdict("fails", (f"the {certificate.kind} does not prove what it claims.",))
