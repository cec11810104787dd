"""Certificates of infeasibility: each can be checked from the instance alone, and said in words.

A certificate is a dict with a ``kind``, so that it goes to JSON and back as it is. Each kind has a
class in :mod:`radcluster.proof.kinds`, with what it proves and how to say it.
"""

from __future__ import annotations

from collections.abc import Mapping

from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.proof import kinds
from radcluster.proof.certificate import Certificate

#: The classes of certificates by their ``kind``.
KINDS: dict[str, type[Certificate]] = {
    cls.kind: cls
    for cls in (
        kinds.Clique,
        kinds.GroupClique,
        kinds.MustLink,
        kinds.MustLinkGroups,
        kinds.Propagation,
        kinds.EmptyCluster,
        kinds.Weights,
        kinds.Search,
    )
}


def certificate_of(data: Mapping) -> Certificate:
    """The certificate of the kind that the data name."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"unknown certificate {kind!r}; known: {', '.join(KINDS)}")
    return KINDS[kind](data)


def check(data: Mapping, instance: Instance) -> bool:
    """Whether the data are a certificate that proves the instance infeasible."""
    try:
        return certificate_of(data).check(instance)
    except InputError:
        return False


def explain(data: Mapping, instance: Instance) -> str:
    """The certificate in words; see :meth:`Certificate.explain`."""
    return certificate_of(data).explain(instance)
