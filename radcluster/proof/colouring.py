"""Refuting K clusters by backtracking: slow, short, and independent of all solvers."""

from __future__ import annotations

from radcluster.proof.facts import Facts

#: A search ends after this many nodes, and is not begun on more groups than this.
MAX_NODES = 200_000
MAX_GROUPS = 400


def no_colouring(facts: Facts) -> bool:
    """Whether no way exists to give each group one of K clusters of one radius without conflict.

    Each step takes the group with the fewest clusters left, ties by conflicts; of the clusters
    not yet used one stands for all. False also when the search was given up.
    """
    groups = facts.groups
    if len(groups) > MAX_GROUPS:
        return False
    conflicts = [
        [b for b, other in enumerate(groups) if b != a and facts.groups_conflict(group, other)]
        for a, group in enumerate(groups)
    ]
    if any(facts.groups_conflict(group, group) for group in groups if len(group) > 1):
        return True
    stack: list[dict[int, int]] = [{}]
    for _ in range(MAX_NODES):
        if not stack:
            return True
        placed = stack.pop()
        if len(placed) == len(groups):
            return False
        taken = {
            a: {placed[b] for b in conflicts[a] if b in placed}
            for a in range(len(groups))
            if a not in placed
        }
        tightest = max(taken, key=lambda a: (len(taken[a]), len(conflicts[a])))
        used = max(placed.values(), default=-1) + 1
        choices = range(min(used + 1, facts.n_clusters))
        stack += [placed | {tightest: k} for k in choices if k not in taken[tightest]]
    return False
