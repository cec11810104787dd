"""The fewest clusters that keep a radius, with a proof.

This is the chromatic number of the conflict graph: a partition is a colouring, and mutually
conflicting points need a cluster each. :mod:`radcluster.feasibility.covering` finds both sides;
here its proof becomes a certificate that :func:`radcluster.proof.certificates.check` can verify:

- ``clique``: as many mutually conflicting points as clusters;
- ``weights``: whole weights and a capacity that no admissible cluster exceeds, such that
  sum over the parts of ceil(weight of the part / capacity) is the number of clusters; parts are
  what chains of compatible pairs connect;
- ``search``: a solver excluded every smaller cover by the sets listed for it.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

import numpy as np

from radcluster import show
from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.feasibility import large
from radcluster.feasibility.covering import Covering, Effort, Part, cover_graph
from radcluster.graph.conflicts import ConflictGraph, clique_certificate
from radcluster.problem.instance import Instance, as_instance
from radcluster.proof.certificates import certificate_of
from radcluster.proof.verify import violations

#: Above this many points no matrix of conflicts is made.
LARGE = 4000
#: Seconds spent on replacing weights by a clique, which is easier to check.
CLIQUE_SECONDS = 1.0


@dataclass(frozen=True, repr=False)
class MinClusters(show.Shown):
    """Outcome of :func:`min_clusters`.

    Attributes
    ----------
    status : str
        ``optimal`` (the bounds meet), ``time_limit`` or ``feasible`` (they do not: time ran out,
        or the sets were too many to list), ``infeasible`` (no number of clusters suffices).
    n_clusters : int or None
        Clusters of the partition found.
    lower_bound : int or None
        No fewer suffice.
    labels : array of N ints in 0..n_clusters-1, or None
    certificate : dict
        Proof of ``lower_bound``, that is, that one cluster less is infeasible; of the links'
        contradiction when no number suffices. ``certificate.plot()`` draws it.
    radius : float
    seconds : float
    """

    status: str
    n_clusters: int | None
    lower_bound: int | None
    labels: np.ndarray | None
    certificate: dict
    radius: float
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether there is a partition."""
        return self.labels is not None

    def _facts(self) -> list[tuple[str, object]]:
        return [
            ("clusters", "none" if self.n_clusters is None else self.n_clusters),
            ("no fewer than", "-" if self.lower_bound is None else self.lower_bound),
            ("radius", self.radius),
            ("proof", (self.certificate or {}).get("kind", "none needed")),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def to_dict(self) -> dict:
        """The outcome as plain JSON types; an infinite radius becomes None."""
        return asdict(self) | {
            "labels": None if self.labels is None else self.labels.tolist(),
            "radius": self.radius if math.isfinite(self.radius) else None,
        }

    def to_json(self, **kwargs) -> str:
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)


def min_clusters(
    points,
    radius: float | None = None,
    *,
    metric: str = "euclidean",
    cannot_link=(),
    must_link=(),
    solver: str | None = None,
    time_limit: float | None = None,
) -> MinClusters:
    """The fewest clusters in which no two points lie more than ``2 * radius`` apart.

    Parameters
    ----------
    points : array of shape (N, m), or Instance
        An instance brings its own links, and its radius where none is given here.
    radius : float
    metric : {"euclidean", "precomputed"}
        ``precomputed``: ``points`` is the N x N matrix of *squared* distances, as
        :meth:`radcluster.Instance.from_distances` takes it.
    cannot_link, must_link : iterable of (i, j)
    solver : str, optional
        The MILP solver for covers that cliques and linear programs leave open.
    time_limit : float, optional
        Seconds, after which the bounds reached are returned.

    Examples
    --------
    >>> found = min_clusters([[0.0], [1.0], [2.0], [5.0]], radius=0.5)
    >>> found.n_clusters, found.labels.tolist(), found.certificate
    (3, [0, 0, 1, 2], {'kind': 'clique', 'points': [0, 2, 3]})
    """
    if radius is None and not isinstance(points, Instance):
        raise InputError("min_clusters needs a radius")
    links = {"cannot_link": cannot_link, "must_link": must_link}
    instance = as_instance(points, None, radius, metric=metric, **links)
    return fewest_clusters(instance, solver=solver, time_limit=time_limit)


def fewest_clusters(
    instance: Instance, *, solver: str | None = None, time_limit: float | None = None
) -> MinClusters:
    """:func:`min_clusters` for an instance, whose own ``n_clusters`` plays no part."""
    if not instance.uniform_radius:
        raise InputError("the fewest clusters are defined for one radius, not one per cluster")
    effort = Effort.within(time_limit, solver)
    if instance.n_points > LARGE and instance.points is not None:
        return _of_many(instance, effort.clock)
    graph = ConflictGraph(instance)
    radius = float(instance.radius)
    if certificate := graph.broken_must_link():
        contradiction = certificate_of(certificate).about(instance)
        return MinClusters(
            "infeasible", None, None, None, contradiction, radius, effort.clock.seconds
        )
    covering = cover_graph(graph.group_matrix, effort)
    labels = labels_in_order(covering.labels[graph.groups])
    if wrong := violations(instance.replace(n_clusters=covering.n_sets), labels):
        raise SolverFailure(f"the cover is not a partition: {wrong[0]}")
    if covering.bound == covering.n_sets:
        status = "optimal"
    else:
        status = "time_limit" if effort.spent else "feasible"
    certificate = certificate_of(bound_certificate(graph, covering))
    if covering.bound > 1:
        certificate.about(instance.replace(n_clusters=covering.bound - 1))
    return MinClusters(
        status=status,
        n_clusters=covering.n_sets,
        lower_bound=covering.bound,
        labels=labels,
        certificate=certificate,
        radius=radius,
        seconds=effort.clock.seconds,
    )


def _of_many(instance: Instance, clock: Clock) -> MinClusters:
    """:func:`fewest_clusters` where the points are too many for matrices."""
    radius = float(instance.radius)
    if certificate := large.contradiction(instance):
        return MinClusters("infeasible", None, None, None, certificate, radius, clock.seconds)
    found = large.bounds(instance, clock)
    if found.labels is None:
        return MinClusters(
            "time_limit", None, found.lower_bound, None, found.certificate, radius, clock.seconds
        )
    labels = labels_in_order(found.labels)
    n_clusters = int(labels.max()) + 1
    if wrong := violations(instance.replace(n_clusters=n_clusters), labels):
        raise SolverFailure(f"the cover is not a partition: {wrong[0]}")
    status = "optimal" if n_clusters == found.lower_bound else "feasible"
    if status == "feasible" and clock.expired:
        status = "time_limit"
    return MinClusters(
        status, n_clusters, found.lower_bound, labels, found.certificate, radius, clock.seconds
    )


def labels_in_order(labels: np.ndarray) -> np.ndarray:
    """The same partition with clusters numbered by their first point.

    >>> labels_in_order(np.array([2, 0, 2, 1])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def bound_certificate(graph: ConflictGraph, covering: Covering) -> dict:
    """What proves the covering's lower bound, in terms of points."""
    parts = covering.parts
    for part in parts:
        if not part.has_clique or part.search:
            _look_for_clique(part)
    if searches := [part.search for part in parts if part.search]:
        solvers = {search["solver"] for search in searches} - {None}
        return {
            "kind": "search",
            "model": "cover",
            "n_clusters": covering.bound - 1,
            "solver": ", ".join(sorted(solvers)) or None,
            "n_sets": sum(search["n_sets"] for search in searches),
            "from_conflicts": int(sum(part.bound for part in parts if not part.search)),
            "from_search": int(sum(part.bound for part in parts if part.search)),
        }
    if all(part.has_clique for part in parts):
        groups = np.concatenate([part.vertices[part.weights > 0] for part in parts])
        return clique_certificate(graph, sorted(groups.tolist()))
    capacity = math.lcm(*(part.capacity for part in parts))
    weighed = sorted(
        (int(graph.members[g][0]), int(w) * (capacity // part.capacity))
        for part in parts
        for g, w in zip(part.vertices, part.weights, strict=True)
        if w
    )
    return {
        "kind": "weights",
        "points": [i for i, _ in weighed],
        "weights": [w for _, w in weighed],
        "capacity": capacity,
    }


def _look_for_clique(part: Part) -> None:
    """Put a clique in the place of another proof of the same bound, where one is found."""
    clique = part.largest_clique(CLIQUE_SECONDS, stop_at=part.bound)
    if len(clique) >= part.bound:
        part.weights = np.bincount(clique, minlength=len(part.vertices))
        part.capacity, part.search = 1, None
