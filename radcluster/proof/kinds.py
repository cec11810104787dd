"""The kinds of certificates: what each proves, from the facts, and how it is said."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx
import numpy as np

from radcluster.problem.instance import Instance
from radcluster.proof.certificate import Certificate
from radcluster.proof.colouring import no_colouring
from radcluster.proof.facts import Facts

#: A search for an assignment ends after this many nodes.
MAX_NODES = 20_000


class Clique(Certificate):
    """``points``: mutually conflicting points, more than there are clusters."""

    kind = "clique"

    def proves(self, facts: Facts) -> bool:
        points = facts.points(self["points"])
        conflicting = all(facts.conflict(i, j) for i, j in combinations(points, 2))
        return conflicting and len(points) > facts.n_clusters

    def reason(self, instance: Instance) -> str:
        points = self["points"]
        how = _too_far(instance, points)
        return f"these {len(points)} points are pairwise {how}: {points}"


class GroupClique(Certificate):
    """``groups``: sets kept together by must-links, every two of which conflict."""

    kind = "group_clique"

    def proves(self, facts: Facts) -> bool:
        groups = self["groups"]
        facts.points([i for group in groups for i in group])
        linked = all(set(group) <= facts.group_of[group[0]] for group in groups)
        conflicting = all(facts.groups_conflict(a, b) for a, b in combinations(groups, 2))
        return linked and conflicting and len(groups) > facts.n_clusters

    def reason(self, instance: Instance) -> str:
        groups = self["groups"]
        return (
            f"of these {len(groups)} sets, each kept together by must-links, every two hold points "
            f"{_too_far(instance)}: {groups}"
        )


class MustLink(Certificate):
    """``pair``: two points that must share a cluster, by way of ``path``, and may not."""

    kind = "must_link"

    def proves(self, facts: Facts) -> bool:
        pair = facts.points(self["pair"])
        path = facts.points(self.get("path", pair))
        linked = all(tuple(sorted(step)) in facts.together for step in pairwise(path))
        return linked and [path[0], path[-1]] == pair and facts.conflict(*pair)

    def reason(self, instance: Instance) -> str:
        i, j = self["pair"]
        path = self.get("path", [i, j])
        together = f"points {i} and {j} are must-linked"
        if len(path) > 2:
            together += f" (by way of {path[1:-1]})"
        facts = Facts(instance)
        if facts.too_far(i, j):
            distance = np.sqrt(facts.sq_distance(i, j))
            return f"{together} but {distance:.9g} apart, more than {2 * instance.radii.max():.9g}"
        return f"{together} but also cannot-linked"


class MustLinkGroups(Certificate):
    """``n_groups``: what must-links leave of the points, fewer than there are clusters."""

    kind = "must_link_groups"

    def proves(self, facts: Facts) -> bool:
        return self["n_groups"] == len(facts.groups) < facts.n_clusters

    def reason(self, instance: Instance) -> str:
        return (
            f"must-links merge the {instance.n_points} points into {self['n_groups']} groups, "
            f"fewer than {instance.n_clusters} non-empty clusters"
        )


class Propagation(Certificate):
    """``anchors`` named freely, ``forced`` follow one by one, then ``point`` has no place."""

    kind = "propagation"

    def proves(self, facts: Facts) -> bool:
        anchors = [facts.group_of[i] for i in facts.points(self["anchors"])]
        if anchors and not facts.instance.uniform_radius:
            return False
        if len(anchors) > facts.n_clusters:
            return False
        if not all(facts.groups_conflict(a, b) for a, b in combinations(anchors, 2)):
            return False
        placed = {group: k for k, group in enumerate(anchors)}
        for point, cluster in self["forced"]:
            group = facts.group_of[point]
            if any(facts.admissible(group, k, placed) for k in facts.clusters() if k != cluster):
                return False
            placed[group] = cluster
        stuck = facts.group_of[self["point"]]
        return not any(facts.admissible(stuck, k, placed) for k in facts.clusters())

    def reason(self, instance: Instance) -> str:
        anchors, forced = self["anchors"], self["forced"]
        steps = []
        if anchors:
            steps.append(f"points {anchors} conflict pairwise, so put them into clusters 0, 1, ...")
        if forced:
            listed = ", ".join(f"{i} into {k}" for i, k in forced)
            steps.append(f"conflicts with those placed then force point {listed}, in this order")
        steps.append(f"point {self['point']} conflicts with a placed point in every cluster")
        return "; ".join(steps)


class EmptyCluster(Certificate):
    """``cluster``: one that no point can join, though clusters are non-empty."""

    kind = "empty_cluster"

    def proves(self, facts: Facts) -> bool:
        cluster = self["cluster"]
        if cluster not in facts.clusters():
            return False
        placed: dict[frozenset, int] = {}
        while True:
            options = facts.options(placed)
            forced = next((group for group, ks in options.items() if len(ks) == 1), None)
            if forced is None:
                break
            placed[forced] = options[forced][0]
        return not any(cluster in ks for ks in options.values()) and cluster not in placed.values()

    def reason(self, instance: Instance) -> str:
        k = self["cluster"]
        return (
            f"no point can lie in cluster {k} of radius {instance.radii[k]:.9g}, "
            "and clusters are non-empty"
        )


class Weights(Certificate):
    """``points`` with whole ``weights``: no admissible cluster weighs more than ``capacity``.

    Points that no chain of compatible pairs connects lie in different *parts*, and no cluster
    joins two parts. So each part needs ceil(its weight / capacity) clusters.
    """

    kind = "weights"

    def proves(self, facts: Facts) -> bool:
        capacity = self["capacity"]
        if not isinstance(capacity, int) or capacity < 1:
            return False
        needed = 0
        for part in self._parts(facts):
            _, heaviest = nx.max_weight_clique(part, weight="weight")
            if heaviest > capacity:
                return False
            needed += -(-_total(part) // capacity)
        return needed > facts.n_clusters

    def reason(self, instance: Instance) -> str:
        capacity = self["capacity"]
        totals = [_total(part) for part in self._parts(Facts(instance))]
        needed = sum(-(-total // capacity) for total in totals)
        whole = [total for total in totals if total % capacity == 0]
        terms = [f"ceil({total}/{capacity})" for total in totals if total % capacity]
        if whole:
            terms.insert(0, str(sum(whole) // capacity))
        listed = dict(zip(self["points"], self["weights"], strict=True))
        return (
            f"no admissible cluster weighs more than {capacity} when the points weigh {listed} "
            f"and the others 0, so at least {' + '.join(terms)} = {needed} clusters are needed"
        )

    def _parts(self, facts: Facts) -> list[nx.Graph]:
        """Groups that have weight, joined where compatible, in connected parts."""
        points, weights = facts.points(self["points"]), self["weights"]
        graph = nx.Graph()
        for i, weight in zip(points, weights, strict=True):
            if not isinstance(weight, int) or weight < 0 or facts.group_of[i] in graph:
                raise ValueError("weights must be whole numbers >= 0, one for each group")
            graph.add_node(facts.group_of[i], weight=weight)
        graph.add_edges_from(
            (a, b) for a, b in combinations(graph, 2) if not facts.groups_conflict(a, b)
        )
        return [graph.subgraph(part) for part in nx.connected_components(graph)]


class Search(Certificate):
    """A ``solver`` found that ``model`` has no solution: its word, which a check repeats.

    Here it is repeated by backtracking, which shares no code with any solver. When that is out of
    reach the answer is False, which then only means "not confirmed"; for one radius see also
    :func:`radcluster.feasibility.recheck.check`, which searches as the solvers do.
    """

    kind = "search"

    def proves(self, facts: Facts) -> bool:
        if "own" in self:  # a user's own model is not here
            return False
        if facts.instance.uniform_radius:
            return no_colouring(facts)
        return _no_assignment(facts)

    def rests_on(self) -> str:
        """What a person has to believe, and how to check it all the same."""
        who = self.get("solver") or "an enumeration"
        return (
            f"This rests on the word of {who}; it was not confirmed by backtracking here, which "
            "gives up on large searches. Solve again with another --solver to compare."
        )

    def explain(self, instance: Instance | None = None) -> str:
        if own := self.get("own"):
            return (
                f"{self['solver']} proved that {own} has no solution: the added constraints cannot "
                "be met. Without them the instance may be feasible."
            )
        return super().explain(instance)

    def reason(self, instance: Instance) -> str:
        who = self["solver"] or "enumeration"
        if self["model"] != "cover":
            return f"{who} proved that the program {self['model']} has no solution"
        text = (
            f"{who} excluded every cover by {self['n_clusters']} compatible sets, "
            f"with the {self['n_sets']} that could occur where simpler proofs end"
        )
        if "from_conflicts" not in self:
            return text
        return (
            f"{text}. Of the {self['from_conflicts'] + self['from_search']} clusters needed, "
            f"{self['from_conflicts']} follow from pairwise conflicts, which can be checked by "
            f"hand, and {self['from_search']} from {who}"
        )


def _total(part: nx.Graph) -> int:
    return sum(weight for _, weight in part.nodes(data="weight"))


def _too_far(instance: Instance, points=None) -> str:
    """What makes these points conflict: the distance, a cannot-link, or both."""
    apart = f"more than {2 * instance.radii.max():.9g} apart"
    if not len(instance.cannot_link):
        return apart
    if points is not None:
        facts = Facts(instance)
        if all(facts.too_far(i, j) for i, j in combinations(points, 2)):
            return apart
    return f"{apart} or cannot-linked"


def _no_assignment(facts: Facts) -> bool:
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
        options = facts.options(placed)
        tightest = min(options, key=lambda group: len(options[group]))
        stack += [placed | {tightest: k} for k in options[tightest]]
    return False
