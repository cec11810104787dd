"""The conflict graph: the radius constraint *is* this graph.

Points i and j are joined when no cluster may hold both: d_ij > 4 r^2, or a cannot-link pair. Then

- K clusters suffice exactly when the graph is K-colourable;
- K+1 mutually conflicting points prove that they do not;
- the points of a clique sit in different clusters, so with interchangeable labels the k-th of
  them may be fixed to cluster k (an *anchor*), and a point that conflicts with a fixed member of
  cluster k is inadmissible there. Propagation repeats this until nothing changes.

:func:`analyse` does all of it, and hands the models :class:`AdmissiblePairs`: which point may go to
which cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from radcluster.graph.cliques import max_clique
from radcluster.problem.instance import Instance, diameter_limit


@dataclass(frozen=True)
class AdmissiblePairs:
    """Which point may go to which cluster.

    Attributes
    ----------
    allowed : bool array of shape (N, K)
    anchors : tuple of points
        ``anchors[k]`` is fixed to cluster k, for k < len(anchors).
    interchangeable : tuple of tuples of clusters
        Clusters of one tuple may swap their names; models order them by their smallest member.
    """

    allowed: np.ndarray
    anchors: tuple[int, ...] = ()
    interchangeable: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def full(cls, instance: Instance, *, ordered: bool = False) -> AdmissiblePairs:
        """Every point may go to every cluster: the paper's own setting.

        With ``ordered``, models number clusters of equal radius by their smallest member.
        """
        allowed = np.ones((instance.n_points, instance.n_clusters), dtype=bool)
        return cls(allowed, interchangeable=_interchangeable(instance, 0) if ordered else ())

    def points_of(self, cluster: int) -> np.ndarray:
        """Points that may go to this cluster, increasing."""
        return np.flatnonzero(self.allowed[:, cluster])

    @property
    def n_pairs(self) -> int:
        return int(self.allowed.sum())


@dataclass(frozen=True)
class Analysis:
    """What the conflict graph tells about an instance before any solver is called."""

    labelling: AdmissiblePairs | None
    clique: tuple[int, ...]
    clique_proven: bool
    certificate: dict | None = None


def conflict_matrix(instance: Instance, cluster: int | None = None) -> np.ndarray:
    """N x N boolean matrix: the pairs that may not share ``cluster`` (None: any cluster)."""
    radius = instance.radii.max() if cluster is None else instance.radii[cluster]
    conflicts = instance.sq_distances > diameter_limit(radius)
    i, j = instance.cannot_link.T
    conflicts[i, j] = conflicts[j, i] = True
    return conflicts


class ConflictGraph:
    """Conflicts that hold in every cluster, between the groups that must-links merge.

    Attributes
    ----------
    matrix : bool array (N, N)
        Conflicts between points.
    groups : int array (N,)
        ``groups[i]`` numbers the must-link group of point i, in order of first appearance.
    """

    def __init__(self, instance: Instance):
        self.instance = instance
        self.matrix = conflict_matrix(instance)
        self.groups = must_link_groups(instance)

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    @cached_property
    def members(self) -> list[np.ndarray]:
        """Points of each group."""
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1)

    @cached_property
    def group_matrix(self) -> np.ndarray:
        """Conflicts between groups: some point of one conflicts with some point of the other."""
        if self.n_groups == len(self.groups):
            return self.matrix
        n = len(self.groups)
        members = csr_array((np.ones(n), (self.groups, np.arange(n))))
        return (members @ (members @ self.matrix.astype(float)).T) > 0

    @cached_property
    def graph(self) -> nx.Graph:
        """The point conflicts as a networkx graph."""
        return nx.from_numpy_array(self.matrix)

    def broken_must_link(self) -> dict | None:
        """A certificate when points that must share a cluster may not."""
        linked = self.groups[:, None] == self.groups[None, :]
        broken = np.argwhere(linked & self.matrix)
        if not len(broken):
            return None
        i, j = (int(v) for v in broken[0])
        direct = {tuple(pair) for pair in self.instance.must_link.tolist()}
        for a, b in broken.tolist():
            if (a, b) in direct:
                return {"kind": "must_link", "pair": [a, b]}
        return {"kind": "must_link", "pair": [i, j], "path": self._must_link_path(i, j)}

    def _must_link_path(self, i, j):
        n = self.instance.n_points
        a, b = self.instance.must_link.T
        _, before = shortest_path(
            coo_array((np.ones(len(a)), (a, b)), shape=(n, n)).tocsr(),
            directed=False,
            unweighted=True,
            indices=i,
            return_predecessors=True,
        )
        path = [j]
        while path[-1] != i:
            path.append(int(before[path[-1]]))
        return path[::-1]

    def colouring(self) -> np.ndarray:
        """A colour for each point, no conflict inside a colour: a partition, K not respected."""
        colours = nx.greedy_color(nx.from_numpy_array(self.group_matrix), strategy="DSATUR")
        by_group = np.array([colours[g] for g in range(self.n_groups)])
        return by_group[self.groups]


def must_link_groups(instance: Instance) -> np.ndarray:
    """Number of the must-link group of each point, in order of first appearance."""
    n = instance.n_points
    i, j = instance.must_link.T
    _, component = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=(n, n)))
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=int)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def analyse(instance: Instance, *, anchored: bool = True, clique_budget: float = 2.0) -> Analysis:
    """Clique, anchors, admissible pairs, and a certificate where these prove infeasibility.

    With ``anchored=False`` every pair stays admissible and no label is told apart.
    """
    graph = ConflictGraph(instance)
    if certificate := graph.broken_must_link():
        return Analysis(None, (), False, certificate)
    if graph.n_groups < instance.n_clusters:
        certificate = {"kind": "must_link_groups", "n_groups": graph.n_groups}
        return Analysis(None, (), False, certificate)
    k = instance.n_clusters
    clique, proven = max_clique(graph.group_matrix, budget=clique_budget, stop_at=k + 1)
    points = tuple(int(graph.members[g][0]) for g in clique)
    if len(clique) > k:
        return Analysis(None, points, proven, clique_certificate(graph, clique))
    if not anchored:
        return Analysis(AdmissiblePairs.full(instance), points, proven)
    labelling, certificate = _propagate(graph, clique)
    return Analysis(labelling, points, proven, certificate)


def clique_certificate(graph: ConflictGraph, clique: list[int]) -> dict:
    """The clique as mutually conflicting points; as groups where single points do not show it."""
    candidates = np.concatenate([graph.members[g] for g in clique])
    between = graph.matrix[np.ix_(candidates, candidates)]
    chosen, _ = max_clique(between, stop_at=len(clique))
    if len(chosen) == len(clique):
        return {"kind": "clique", "points": sorted(int(candidates[c]) for c in chosen)}
    return {"kind": "group_clique", "groups": [graph.members[g].tolist() for g in clique]}


def _propagate(
    graph: ConflictGraph, clique: list[int]
) -> tuple[AdmissiblePairs | None, dict | None]:
    """Fix the clique, strike out what conflicts with fixed members, repeat."""
    instance = graph.instance
    n_clusters = instance.n_clusters
    uniform = instance.uniform_radius
    anchors = clique if uniform else []
    allowed = _group_fits(graph)
    conflicts = _conflicts_by_cluster(graph)
    for k, g in enumerate(anchors):
        allowed[g] = np.arange(n_clusters) == k
    trail = []
    settled = np.zeros(graph.n_groups, dtype=bool)
    while True:
        empty = np.flatnonzero(~allowed.any(axis=1))
        if len(empty):
            return None, _propagation_certificate(graph, anchors, trail, int(empty[0]))
        fixed = np.flatnonzero((allowed.sum(axis=1) == 1) & ~settled)
        if not len(fixed):
            break
        for g in fixed:
            if not allowed[g].any():
                break  # struck out by another group fixed in this round
            k = int(allowed[g].argmax())
            settled[g] = True
            trail.append((int(g), k))
            allowed[conflicts[k][g], k] = False
    if len(hollow := np.flatnonzero(~allowed.any(axis=0))):
        return None, {"kind": "empty_cluster", "cluster": int(hollow[0])}
    labelling = AdmissiblePairs(
        allowed=allowed[graph.groups],
        anchors=tuple(int(graph.members[g][0]) for g in anchors),
        interchangeable=_interchangeable(instance, len(anchors)),
    )
    return labelling, None


def _group_fits(graph: ConflictGraph) -> np.ndarray:
    """(groups, K): whether a must-link group is narrow enough for each cluster's radius."""
    instance = graph.instance
    fits = np.ones((graph.n_groups, instance.n_clusters), dtype=bool)
    for g, points in enumerate(graph.members):
        if len(points) > 1:
            widest = instance.sq_distances[np.ix_(points, points)].max()
            fits[g] = widest <= diameter_limit(instance.radii)
    return fits


def _conflicts_by_cluster(graph: ConflictGraph) -> list[np.ndarray]:
    """Group conflicts at each cluster's radius; one shared matrix where the radii are equal."""
    by_radius: dict[float, np.ndarray] = {}
    for k, radius in enumerate(graph.instance.radii):
        if radius not in by_radius:
            narrowed = ConflictGraph(graph.instance)
            narrowed.matrix = conflict_matrix(graph.instance, k)
            by_radius[radius] = narrowed.group_matrix
    return [by_radius[radius] for radius in graph.instance.radii]


def _propagation_certificate(graph, anchors, trail, stuck) -> dict:
    """Forced assignments, in order, after which one point has no cluster left."""
    first = [int(points[0]) for points in graph.members]
    return {
        "kind": "propagation",
        "anchors": [first[g] for g in anchors],
        "forced": [[first[g], k] for g, k in trail if g not in anchors],
        "point": first[stuck],
    }


def _interchangeable(instance: Instance, n_anchors: int) -> tuple[tuple[int, ...], ...]:
    """Clusters without an anchor, by equal radius."""
    classes: dict[float, list[int]] = {}
    for k in range(n_anchors, instance.n_clusters):
        classes.setdefault(float(instance.radii[k]), []).append(k)
    return tuple(tuple(ks) for ks in classes.values() if len(ks) > 1)
