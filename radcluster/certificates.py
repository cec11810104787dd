"""Certificates of infeasibility in words, with what would be feasible instead.

A certificate is a dict with a ``kind``. :func:`check` verifies it from the instance alone,
:func:`explain` says it in a sentence with its arithmetic, :func:`with_remedies` adds the fewest
clusters at this radius and the smallest radius for this many clusters.
"""

from __future__ import annotations

import math
import time

import numpy as np

from radcluster.certificate_checks import check, parts_of_weights
from radcluster.errors import InputError
from radcluster.fewest import fewest_clusters
from radcluster.instance import Instance, diameter_limit
from radcluster.smallest import smallest_radius

__all__ = ["check", "explain", "with_remedies"]


def with_remedies(certificate: dict, instance: Instance, time_limit: float = 2.0) -> dict:
    """The certificate with ``fewest_clusters`` and ``smallest_radius``, each where it is known.

    Both need one radius for all clusters; an answer that ``time_limit`` seconds do not prove is
    left out. A solver's word (``search``) gives way to a proof that can be checked by hand, where
    the fewest clusters come with one.
    """
    if not instance.uniform_radius:
        return dict(certificate)
    remedies = {}
    deadline = time.monotonic() + time_limit
    if certificate["kind"] != "must_link_groups":
        fewest = fewest_clusters(instance, time_limit=time_limit / 2)
        if fewest.status == "optimal":
            remedies["fewest_clusters"] = fewest.n_clusters
        if certificate["kind"] == "search" and (fewest.lower_bound or 0) > instance.n_clusters:
            certificate = fewest.certificate
    left = max(0.0, deadline - time.monotonic())
    smallest = smallest_radius(instance, time_limit=left)
    if smallest.status == "optimal":
        remedies["smallest_radius"] = smallest.radius
    return certificate | remedies


def explain(certificate: dict, instance: Instance) -> str:
    """Why the instance is infeasible, in words that can be checked by hand.

    >>> line = Instance([[0.0], [1.0], [2.0]], n_clusters=1, radius=0.25)
    >>> explain({"kind": "clique", "points": [0, 1, 2], "fewest_clusters": 3}, line)
    'n_clusters=1 is infeasible at radius=0.25: these 3 points are pairwise more than 0.5 apart: \
[0, 1, 2]. Fewest clusters: 3.'
    """
    kind = certificate["kind"]
    if own := certificate.get("own"):
        return (
            f"{certificate['solver']} proved that {own} has no solution; "
            f"what it adds to the instance cannot be met, of which the instance itself may be free."
        )
    if kind not in _REASONS:
        raise InputError(f"unknown certificate {kind!r}; known: {', '.join(_REASONS)}")
    start = f"n_clusters={instance.n_clusters} is infeasible at radius={_radius(instance)}: "
    return start + _REASONS[kind](certificate, instance) + "." + _remedies(certificate, instance)


def _remedies(certificate, instance) -> str:
    text = ""
    if "fewest_clusters" in certificate:
        text += f" Fewest clusters: {certificate['fewest_clusters']}."
    if "smallest_radius" in certificate:
        radius = _rounded_up(certificate["smallest_radius"])
        text += f" Smallest radius for {instance.n_clusters}: {radius}."
    return text


def _rounded_up(radius: float) -> str:
    """Six digits that are never too small: the radius as printed must suffice."""
    if radius == 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(radius)) - 5)
    text = f"{radius:.6g}"
    return text if float(text) >= radius else f"{float(text) + unit:.6g}"


def _radius(instance: Instance) -> str:
    if instance.uniform_radius:
        return f"{instance.radius:.9g}"
    return "(" + ", ".join(f"{r:.9g}" for r in instance.radii) + ")"


def _too_far(instance: Instance, points=None) -> str:
    """What makes these points conflict: the distance, a cannot-link, or both."""
    apart = f"more than {2 * instance.radii.max():.9g} apart"
    if not len(instance.cannot_link):
        return apart
    if points is not None:
        d = instance.sq_distances[np.ix_(points, points)]
        far = d > diameter_limit(instance.radii.max())
        if far.sum() == len(points) * (len(points) - 1):
            return apart
    return f"{apart} or cannot-linked"


def _clique(certificate, instance) -> str:
    points = certificate["points"]
    how = _too_far(instance, points)
    return f"these {len(points)} points are pairwise {how}: {points}"


def _group_clique(certificate, instance) -> str:
    groups = certificate["groups"]
    return (
        f"of these {len(groups)} sets, each kept together by must-links, every two hold points "
        f"{_too_far(instance)}: {groups}"
    )


def _must_link(certificate, instance) -> str:
    i, j = certificate["pair"]
    path = certificate.get("path", [i, j])
    together = f"points {i} and {j} are must-linked"
    if len(path) > 2:
        together += f" (by way of {path[1:-1]})"
    d = instance.sq_distances[i, j]
    if d > diameter_limit(instance.radii.max()):
        return f"{together} but {np.sqrt(d):.9g} apart, more than {2 * instance.radii.max():.9g}"
    return f"{together} but also cannot-linked"


def _must_link_groups(certificate, instance) -> str:
    return (
        f"must-links merge the {instance.n_points} points into {certificate['n_groups']} groups, "
        f"fewer than {instance.n_clusters} non-empty clusters"
    )


def _propagation(certificate, instance) -> str:
    anchors, forced = certificate["anchors"], certificate["forced"]
    steps = []
    if anchors:
        steps.append(f"points {anchors} conflict pairwise, so put them into clusters 0, 1, ...")
    if forced:
        listed = ", ".join(f"{i} into {k}" for i, k in forced)
        steps.append(f"conflicts with those placed then force point {listed}, in this order")
    steps.append(f"point {certificate['point']} conflicts with a placed point in every cluster")
    return "; ".join(steps)


def _empty_cluster(certificate, instance) -> str:
    k = certificate["cluster"]
    return (
        f"no point can lie in cluster {k} of radius {instance.radii[k]:.9g}, "
        "and clusters are non-empty"
    )


def _weights(certificate, instance) -> str:
    capacity = certificate["capacity"]
    totals = [int(total) for total in parts_of_weights(certificate, instance)]
    needed = sum(-(-total // capacity) for total in totals)
    whole = [total for total in totals if total % capacity == 0]
    terms = [f"ceil({total}/{capacity})" for total in totals if total % capacity]
    if whole:
        terms.insert(0, str(sum(whole) // capacity))
    listed = dict(zip(certificate["points"], certificate["weights"], strict=True))
    return (
        f"no admissible cluster weighs more than {capacity} when the points weigh {listed} and "
        f"the others 0, so at least {' + '.join(terms)} = {needed} clusters are needed"
    )


def _search(certificate, instance) -> str:
    who = certificate["solver"] or "enumeration"
    if certificate["model"] != "cover":
        return f"{who} proved that the program {certificate['model']} has no solution"
    return (
        f"{who} excluded every cover by {certificate['n_clusters']} compatible sets, "
        f"with the {certificate['n_sets']} that could occur where simpler proofs end"
    )


_REASONS = {
    "clique": _clique,
    "group_clique": _group_clique,
    "must_link": _must_link,
    "must_link_groups": _must_link_groups,
    "propagation": _propagation,
    "empty_cluster": _empty_cluster,
    "weights": _weights,
    "search": _search,
}
