"""What would be feasible instead: the fewest clusters, the smallest radius."""

from __future__ import annotations

from radcluster.clock import Clock
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.feasibility.min_radius import smallest_radius
from radcluster.problem.instance import Instance


def with_remedies(certificate: dict, instance: Instance, time_limit: float = 2.0) -> dict:
    """The certificate with ``fewest_clusters`` and ``smallest_radius``, each where it is known.

    Both need one radius for all clusters; an answer that ``time_limit`` seconds do not prove is
    left out, and one that the certificate has already is not computed again. A solver's word
    (``search``) gives way to a proof that can be checked by hand, where the fewest clusters come
    with one.
    """
    if not instance.uniform_radius:
        return dict(certificate)
    remedies = {}
    clock = Clock(time_limit)
    known = "fewest_clusters" in certificate
    if certificate["kind"] != "must_link_groups" and not known:
        fewest = fewest_clusters(instance, time_limit=time_limit / 2)
        if fewest.status == "optimal":
            remedies["fewest_clusters"] = fewest.n_clusters
        if certificate["kind"] == "search" and (fewest.lower_bound or 0) > instance.n_clusters:
            certificate = fewest.certificate
    smallest = smallest_radius(instance, time_limit=clock.left)
    if smallest.status == "optimal":
        remedies["smallest_radius"] = smallest.radius
    return certificate | remedies
