"""Certificates verified, and a solver's word repeated by another solver."""

from __future__ import annotations

from radcluster.errors import InputError
from radcluster.models import cover
from radcluster.problem.instance import Instance
from radcluster.proof import certificates
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model

#: A cover by more sets than this is not attempted again.
MAX_SETS = 20_000


def check(certificate: dict, instance: Instance) -> bool:
    """Whether the certificate proves that the instance has no partition.

    A ``search`` with one radius is repeated another way: with every maximal compatible set and,
    where there is one, another solver. When that is out of reach the answer is False, which then
    only means "not confirmed". All else is checked by :mod:`radcluster.proof` alone.
    """
    is_search = isinstance(certificate, dict) and certificate.get("kind") == "search"
    if is_search and "own" not in certificate and instance.uniform_radius:
        return _no_cover(certificate, instance)
    return certificates.check(certificate, instance)


def _no_cover(certificate: dict, instance: Instance) -> bool:
    try:
        sets = cover.maximal_sets(instance, limit=MAX_SETS)
    except InputError:
        return False
    model = cover.build(sets, instance.n_points)
    names = [info.name for info in registry.usable("MILP")]
    others = [name for name in names if name != certificate.get("solver")]
    outcome = solve_model(model, (others or names)[0])
    return outcome.status == "optimal" and round(outcome.objective) > instance.n_clusters
