"""The smallest radius at which K clusters suffice, with a proof.

The conflict graph changes only at distances that occur, so the answer is half of one of them:
a binary search over the distinct distances, each step asking whether the conflict graph at that
radius is K-colourable (:func:`radcluster.feasibility.covering.cover_graph`).

The search starts between bounds by farthest points (Gonzalez 1985): choose points one after the
other, each farthest from those chosen. The first K+1 of them lie pairwise at least s apart, so
two of them share a cluster and no radius below s/2 suffices. Every point lies within s of one of
the first K, so without links the radius s suffices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial

import numpy as np

from radcluster import show
from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.feasibility.covering import Effort, cover_graph
from radcluster.feasibility.large_radius import radius_bounds
from radcluster.feasibility.min_clusters import LARGE, bound_certificate, labels_in_order
from radcluster.graph.conflicts import ConflictGraph
from radcluster.problem.instance import Instance, as_instance, diameter_limit
from radcluster.problem.partition import sq_diameters
from radcluster.proof.certificates import certificate_of
from radcluster.proof.verify import violations

#: Seconds for each radius, one round after the other, as long as some are undecided.
EFFORTS = (1.0, 10.0, 100.0, math.inf)


@dataclass(frozen=True, repr=False)
class MinRadius(show.Shown):
    """Outcome of :func:`min_radius`.

    Attributes
    ----------
    status : str
        ``optimal`` (the bounds meet), ``time_limit`` or ``feasible`` (they do not),
        ``infeasible`` (the links admit no partition into K clusters at any radius).
    radius : float
        Half the largest distance inside a cluster of ``labels``; inf without them.
    lower_bound : float
        No smaller radius suffices.
    labels : array of N ints in 0..K-1, or None
    certificate : dict or None
        Why K clusters do not suffice at ``certificate["radius"]``, the largest radius that was
        refuted: the next larger distance that occurs is twice ``lower_bound``. None when the
        radius is 0, below which there is nothing to refute.
    n_clusters : int
    seconds : float
    """

    status: str
    radius: float
    lower_bound: float
    labels: np.ndarray | None
    certificate: dict | None
    n_clusters: int
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether there is a partition."""
        return self.labels is not None

    def _facts(self) -> list[tuple[str, object]]:
        return [
            ("radius", f"{self.radius:.9g}"),
            ("no smaller than", f"{self.lower_bound:.9g}"),
            ("clusters", self.n_clusters),
            ("proof", (self.certificate or {}).get("kind", "none needed")),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def to_dict(self) -> dict:
        """The outcome as plain JSON types; infinities become None."""
        finite = {
            key: value if math.isfinite(value) else None
            for key, value in (("radius", self.radius), ("lower_bound", self.lower_bound))
        }
        labels = None if self.labels is None else self.labels.tolist()
        return asdict(self) | finite | {"labels": labels}

    def to_json(self, **kwargs) -> str:
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)


def min_radius(
    points,
    n_clusters: int | None = None,
    *,
    metric: str = "euclidean",
    cannot_link=(),
    must_link=(),
    solver: str | None = None,
    time_limit: float | None = None,
) -> MinRadius:
    """The smallest radius at which the points fall into ``n_clusters`` clusters.

    Parameters
    ----------
    points : array of shape (N, m), or Instance
        An instance brings its own links, and its number of clusters where none is given here.
    n_clusters : int
    metric : {"euclidean", "precomputed"}
        ``precomputed``: ``points`` is the N x N matrix of *squared* distances, as
        :meth:`radcluster.Instance.from_distances` takes it.
    cannot_link, must_link : iterable of (i, j)
    solver : str, optional
        The MILP solver for colourings that cliques and linear programs leave open.
    time_limit : float, optional
        Seconds, after which the bounds reached are returned.

    Examples
    --------
    >>> found = min_radius([[0.0], [1.0], [2.0], [5.0]], n_clusters=2)
    >>> found.radius, found.labels.tolist(), found.certificate
    (1.0, [0, 0, 0, 1], {'kind': 'clique', 'points': [0, 2, 3], 'radius': 0.5})
    """
    if n_clusters is None and not isinstance(points, Instance):
        raise InputError("min_radius needs n_clusters")
    links = {"cannot_link": cannot_link, "must_link": must_link}
    instance = as_instance(points, n_clusters, metric=metric, **links)
    return smallest_radius(instance, solver=solver, time_limit=time_limit)


def smallest_radius(
    instance: Instance, *, solver: str | None = None, time_limit: float | None = None
) -> MinRadius:
    """:func:`min_radius` for an instance, whose own radius plays no part."""
    effort = Effort.within(time_limit, solver)
    has_links = len(instance.cannot_link) or len(instance.must_link)
    if instance.n_points > LARGE and instance.points is not None and not has_links:
        return _of_many(instance, effort.clock)
    instance = instance.replace(radius=math.inf)
    answer = {"n_clusters": instance.n_clusters}
    by_links = decide(instance, effort)
    if by_links.labels is not None:
        answer |= _Search(instance, by_links.labels, effort).run()
    elif by_links.refutation:
        answer |= {"status": "infeasible", "radius": math.inf, "lower_bound": math.inf}
        answer |= {"labels": None, "certificate": by_links.refutation()}
    else:
        answer |= {"status": "time_limit", "radius": math.inf, "lower_bound": 0.0}
        answer |= {"labels": None, "certificate": None}
    if certificate := answer["certificate"]:
        refuted = instance.replace(radius=certificate.get("radius", math.inf))
        answer["certificate"] = certificate_of(certificate).about(refuted)
    return MinRadius(**answer, seconds=effort.clock.seconds)


def _of_many(instance: Instance, clock: Clock) -> MinRadius:
    """:func:`smallest_radius` where the points are too many for matrices."""
    low, labels, chosen = radius_bounds(instance, clock)
    radius = math.inf
    if labels is not None:
        labels = labels_in_order(labels)
        radius = float(np.sqrt(sq_diameters(instance, labels).max()) / 2)
    certificate = None
    if low > 0:
        # A hair below the bound the points conflict.
        certificate = {"kind": "clique", "points": sorted(chosen), "radius": low * (1 - 1e-9)}
    status = "time_limit" if clock.expired else "feasible"
    if radius <= low * (1 + 1e-12):
        status = "optimal"
    k = instance.n_clusters
    return MinRadius(status, radius, low, labels, certificate, k, clock.seconds)


@dataclass(frozen=True)
class Decision:
    """Labels of a partition, or a proof that there is none, put into words when asked for.

    Both are None when neither was found. ``core`` holds must-link groups whose conflicts with
    each other are all that a proof uses.
    """

    labels: np.ndarray | None = None
    refutation: Callable[[], dict] | None = None
    core: list[np.ndarray] = field(default_factory=list)


def decide(instance: Instance, effort: Effort) -> Decision:
    """Whether the instance has a partition; all its radii must be equal."""
    graph = ConflictGraph(instance)
    if certificate := graph.broken_must_link():
        return Decision(refutation=lambda: certificate)
    if graph.n_groups < instance.n_clusters:
        return Decision(refutation=lambda: {"kind": "must_link_groups", "n_groups": graph.n_groups})
    covering = cover_graph(graph.group_matrix, effort, target=instance.n_clusters)
    if covering.n_sets <= instance.n_clusters:
        labels = _split(covering.labels, instance.n_clusters)[graph.groups]
        if wrong := violations(instance, labels):
            raise SolverFailure(f"the cover is not a partition: {wrong[0]}")
        return Decision(labels_in_order(labels))
    if covering.bound > instance.n_clusters:
        core = [graph.members[g] for g in covering.kept]
        return Decision(refutation=partial(bound_certificate, graph, covering), core=core)
    return Decision()


def _split(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The same partition refined to exactly ``n_clusters`` clusters."""
    labels = labels.copy()
    for fresh in range(labels.max() + 1, n_clusters):
        shared = np.bincount(labels)[labels] > 1
        labels[shared.argmax()] = fresh
    return labels


class _Search:
    """Binary search over the radii at which the conflict graph changes.

    ``radii[high]`` suffices with ``labels``; ``radii[low]`` does not, by ``refutation``. At first
    ``low = -1``: those in ``too_small`` do not suffice, by the farthest points.
    """

    def __init__(self, instance: Instance, labels: np.ndarray, effort: Effort):
        self.instance = instance
        self.effort = effort
        d = instance.sq_distances
        self.labels = labels
        chosen, nearest, apart = _farthest_points(d, instance.n_clusters)
        if not len(instance.cannot_link) and not len(instance.must_link):
            self.labels = labels_in_order(_split(nearest, instance.n_clusters))
        widest = sq_diameters(instance, self.labels).max()
        distances = np.unique(d[d <= widest])
        radii = np.sqrt(distances) / 2
        possible = diameter_limit(radii) >= apart
        self.radii = radii[possible]
        self.low, self.high = -1, len(self.radii) - 1
        self.refutation = lambda: {"kind": "clique", "points": sorted(chosen)}
        self.too_small = radii[~possible]

    def run(self) -> dict:
        """Status, bounds, labels and certificate."""
        # Quick answers first, from above and from below, so that a hard radius in between does
        # not hold up the bounds.
        for seconds in EFFORTS:
            self._bisect(seconds, if_unknown=False)
            self._bisect(seconds, if_unknown=True)
        if self.high - self.low == 1:
            status = "optimal"
        else:
            status = "time_limit" if self.effort.spent else "feasible"
        return {
            "status": status,
            "radius": float(self.radii[self.high]),
            "lower_bound": float(self.radii[self.low + 1]),
            "labels": self.labels,
            "certificate": self._certificate(),
        }

    def _certificate(self) -> dict | None:
        """What refutes the largest radius known to be too small."""
        refuted = np.append(self.too_small, self.radii[: self.low + 1])
        return self.refutation() | {"radius": float(refuted[-1])} if len(refuted) else None

    def _bisect(self, seconds: float, if_unknown: bool) -> None:
        low, high = self.low, self.high
        while high - low > 1 and not self.effort.spent:
            middle = (low + high) // 2
            answer = self._test(middle, seconds)
            if if_unknown if answer is None else answer:
                high = middle
            else:
                low = middle

    def _test(self, index: int, seconds: float) -> bool | None:
        """Whether this radius suffices, recorded; None when the effort did not tell."""
        radius = float(self.radii[index])
        effort = Effort(self.effort.solver, self.effort.clock.within(seconds))
        decision = decide(self.instance.replace(radius=radius), effort)
        if decision.labels is not None:
            # The partition may be narrower than it had to be.
            widest = np.sqrt(sq_diameters(self.instance, decision.labels).max()) / 2
            self.high = min(index, int(np.searchsorted(self.radii, widest)))
            self.labels = decision.labels
            return True
        if decision.refutation:
            self.low = max(index, self._still_refuted(radius, decision.core))
            self.refutation = decision.refutation
            return False
        return None

    def _still_refuted(self, radius: float, core: list[np.ndarray]) -> int:
        """Index of the largest radius at which all conflicts between points of the core remain."""
        points = np.array([group[0] for group in core if len(group) == 1])
        if len(points) < len(core) or not len(core):
            return -1
        between = self.instance.sq_distances[np.ix_(points, points)]
        apart = between[between > diameter_limit(radius)].min(initial=math.inf)
        return int(np.searchsorted(diameter_limit(self.radii), apart)) - 1


def _farthest_points(d: np.ndarray, n_clusters: int) -> tuple[list[int], np.ndarray, float]:
    """K+1 points, each farthest from those before; nearest of the first K; least d between."""
    chosen = [int(d.max(axis=1).argmax())]
    nearest = np.zeros(len(d), dtype=int)
    gap = d[chosen[0]].copy()
    for k in range(1, n_clusters):
        chosen.append(int(gap.argmax()))
        closer = d[chosen[-1]] < gap
        nearest[closer] = k
        gap[closer] = d[chosen[-1], closer]
    chosen.append(int(gap.argmax()))
    between = d[np.ix_(chosen, chosen)] + np.diag(np.full(len(chosen), math.inf))
    return chosen, nearest, float(between.min())
