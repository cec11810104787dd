"""Few compatible clusters of a graph, from its lists of neighbours: grow, then dissolve."""

from __future__ import annotations

import numpy as np

from radcluster.clock import Clock
from radcluster.graph.eliminate import eliminate
from radcluster.graph.grow import grow
from radcluster.problem.neighbours import Neighbours

#: Chains of so many steps per point, in so many rounds: one stage after the other.
STAGES = ((3, 1), (10, 1), (30, 3), (100, 3))
#: Entries of the lists times patience and rounds beyond which a stage is left out.
STAGE_WORK = 150_000_000
#: So many times more where more effort is asked for.
MORE = 100


def few_clusters(
    lists: Neighbours,
    clock: Clock,
    *,
    seed: int = 0,
    at_least: int = 1,
    thorough: bool = False,
    spread: float = 0.0,
) -> np.ndarray:
    """Labels of a partition into few clusters; none is dissolved below ``at_least``.

    Points that the clock left no time for have the label -1. With ``spread`` > 0 chance plays a
    part, and another seed gives another partition.
    """
    labels = grow(lists, clock, spread=spread, seed=seed)
    if labels.min() < 0:
        return labels
    return fewer_clusters(lists, labels, clock, seed=seed, at_least=at_least, thorough=thorough)


def fewer_clusters(
    lists: Neighbours,
    labels: np.ndarray,
    clock: Clock,
    *,
    seed: int = 0,
    at_least: int = 1,
    thorough: bool = False,
) -> np.ndarray:
    """The labels with clusters dissolved, stage after stage, as long as the lists allow."""
    most = STAGE_WORK * (MORE if thorough else 1)
    for patience, rounds in STAGES:
        if labels.max() < at_least or clock.expired:
            break
        if patience * rounds * len(lists.index) <= most:
            labels = eliminate(
                lists, labels, clock, patience=patience, rounds=rounds, seed=seed, at_least=at_least
            )
    return labels
