"""Certificates verified from the instance alone, by none of the code that makes them.

Everything here starts from distances, radii and links; what a certificate leaves out is
recomputed the plain way. A malformed certificate is refused like a wrong one.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx

from radcluster.errors import InputError
from radcluster.instance import Instance, diameter_limit
from radcluster.models import cover
from radcluster.solvers import registry
from radcluster.solvers.mip import solve_model

#: A cover by more sets than this is not attempted again.
MAX_SETS = 20_000
#: Nor a search for an assignment beyond this many nodes.
MAX_NODES = 20_000


def check(certificate: dict, instance: Instance) -> bool:
    """Whether the certificate proves that the instance has no partition.

    A ``search`` is repeated another way: with every maximal compatible set and, where there is
    one, another solver; by backtracking where clusters have radii of their own. When that is out
    of reach the answer is False, which then only means "not confirmed".

    >>> line = Instance([[0.0], [1.0], [2.0]], n_clusters=1, radius=0.25)
    >>> check({"kind": "clique", "points": [0, 2]}, line)
    True
    >>> check({"kind": "clique", "points": [0, 2]}, line.replace(n_clusters=2))
    False
    """
    try:
        return _CHECKS[certificate["kind"]](certificate, _Facts(instance))
    except (KeyError, TypeError, ValueError):
        return False


class _Facts:
    """Distances, links and groups of an instance, by definition."""

    def __init__(self, instance: Instance):
        self.instance = instance
        self.n_clusters = instance.n_clusters
        self.apart = {tuple(pair) for pair in instance.cannot_link.tolist()}
        self.together = {tuple(pair) for pair in instance.must_link.tolist()}
        links = nx.Graph()
        links.add_nodes_from(range(instance.n_points))
        links.add_edges_from(self.together)
        self.groups = [frozenset(group) for group in nx.connected_components(links)]
        self.group_of = {i: group for group in self.groups for i in group}

    def points(self, indices) -> list[int]:
        """These indices, once they are known to be different points."""
        if len(set(indices)) < len(indices) or not all(i in self.group_of for i in indices):
            raise ValueError("not a list of different points")
        return list(indices)

    def clusters(self) -> range:
        return range(self.n_clusters)

    def conflict(self, i: int, j: int, cluster: int | None = None) -> bool:
        """Whether i and j may not share this cluster (None: any cluster)."""
        radii = self.instance.radii
        radius = radii.max() if cluster is None else radii[cluster]
        too_far = self.instance.sq_distances[i, j] > diameter_limit(radius)
        return bool(too_far) or tuple(sorted((i, j))) in self.apart

    def groups_conflict(self, one, other, cluster: int | None = None) -> bool:
        return any(self.conflict(i, j, cluster) for i in one for j in other)

    def admissible(self, group, cluster: int, placed: dict) -> bool:
        """Whether a group fits a cluster, alone and with the groups placed there."""
        mates = [group, *(other for other, k in placed.items() if k == cluster)]
        return not any(self.groups_conflict(group, mate, cluster) for mate in mates)


def _clique(certificate, facts) -> bool:
    points = facts.points(certificate["points"])
    conflicting = all(facts.conflict(i, j) for i, j in combinations(points, 2))
    return conflicting and len(points) > facts.n_clusters


def _group_clique(certificate, facts) -> bool:
    groups = certificate["groups"]
    facts.points([i for group in groups for i in group])
    linked = all(set(group) <= facts.group_of[group[0]] for group in groups)
    conflicting = all(facts.groups_conflict(a, b) for a, b in combinations(groups, 2))
    return linked and conflicting and len(groups) > facts.n_clusters


def _must_link(certificate, facts) -> bool:
    pair = facts.points(certificate["pair"])
    path = facts.points(certificate.get("path", pair))
    linked = all(tuple(sorted(step)) in facts.together for step in pairwise(path))
    return linked and [path[0], path[-1]] == pair and facts.conflict(*pair)


def _must_link_groups(certificate, facts) -> bool:
    return certificate["n_groups"] == len(facts.groups) < facts.n_clusters


def _propagation(certificate, facts) -> bool:
    """Replay: anchors may be named freely, each forced group had one cluster left, then none."""
    anchors = [facts.group_of[i] for i in facts.points(certificate["anchors"])]
    if anchors and not facts.instance.uniform_radius:
        return False
    if len(anchors) > facts.n_clusters:
        return False
    if not all(facts.groups_conflict(a, b) for a, b in combinations(anchors, 2)):
        return False
    placed = {group: k for k, group in enumerate(anchors)}
    for point, cluster in certificate["forced"]:
        group = facts.group_of[point]
        if any(facts.admissible(group, k, placed) for k in facts.clusters() if k != cluster):
            return False
        placed[group] = cluster
    stuck = facts.group_of[certificate["point"]]
    return not any(facts.admissible(stuck, k, placed) for k in facts.clusters())


def _empty_cluster(certificate, facts) -> bool:
    """Place every group that has one cluster left, until there is no more; then look."""
    cluster = certificate["cluster"]
    if cluster not in facts.clusters():
        return False
    placed: dict[frozenset, int] = {}
    while True:
        options = {
            group: [k for k in facts.clusters() if facts.admissible(group, k, placed)]
            for group in facts.groups
            if group not in placed
        }
        forced = next((group for group, ks in options.items() if len(ks) == 1), None)
        if forced is None:
            break
        placed[forced] = options[forced][0]
    return not any(cluster in ks for ks in options.values()) and cluster not in placed.values()


def _weights(certificate, facts) -> bool:
    capacity = certificate["capacity"]
    if not isinstance(capacity, int) or capacity < 1:
        return False
    needed = 0
    for part in _weighed_parts(certificate, facts):
        _, heaviest = nx.max_weight_clique(part, weight="weight")
        if heaviest > capacity:
            return False
        needed += -(-_total(part) // capacity)
    return needed > facts.n_clusters


def parts_of_weights(certificate: dict, instance: Instance) -> list[int]:
    """Total weight of each part of a ``weights`` certificate; no cluster joins two parts."""
    return [_total(part) for part in _weighed_parts(certificate, _Facts(instance))]


def _weighed_parts(certificate, facts) -> list[nx.Graph]:
    """Groups that have weight, joined where compatible, in connected parts."""
    points, weights = facts.points(certificate["points"]), certificate["weights"]
    graph = nx.Graph()
    for i, weight in zip(points, weights, strict=True):
        if not isinstance(weight, int) or weight < 0 or facts.group_of[i] in graph:
            raise ValueError("weights must be whole numbers >= 0, one a group")
        graph.add_node(facts.group_of[i], weight=weight)
    graph.add_edges_from(
        (a, b) for a, b in combinations(graph, 2) if not facts.groups_conflict(a, b)
    )
    return [graph.subgraph(part) for part in nx.connected_components(graph)]


def _total(part: nx.Graph) -> int:
    return sum(weight for _, weight in part.nodes(data="weight"))


def _search(certificate, facts) -> bool:
    if "own" in certificate:
        return False  # of a user's own model, which is not here
    if not facts.instance.uniform_radius:
        return _no_assignment(facts)
    try:
        sets = cover.maximal_sets(facts.instance, limit=MAX_SETS)
    except InputError:
        return False
    model = cover.build(sets, facts.instance.n_points)
    names = [info.name for info in registry.usable("MILP")]
    others = [name for name in names if name != certificate["solver"]]
    outcome = solve_model(model, (others or names)[0])
    return outcome.status == "optimal" and round(outcome.objective) > facts.n_clusters


def _no_assignment(facts) -> bool:
    """Backtracking over the groups: no way to put each into a cluster and leave none empty."""
    stack: list[dict] = [{}]
    for _ in range(MAX_NODES):
        if not stack:
            return True
        placed = stack.pop()
        if len(placed) == len(facts.groups):
            if len(set(placed.values())) == facts.n_clusters:
                return False
            continue
        options = {
            group: [k for k in facts.clusters() if facts.admissible(group, k, placed)]
            for group in facts.groups
            if group not in placed
        }
        tightest = min(options, key=lambda group: len(options[group]))
        stack += [placed | {tightest: k} for k in options[tightest]]
    return False


_CHECKS = {
    "clique": _clique,
    "group_clique": _group_clique,
    "must_link": _must_link,
    "must_link_groups": _must_link_groups,
    "propagation": _propagation,
    "empty_cluster": _empty_cluster,
    "weights": _weights,
    "search": _search,
}
