"""Fewest clusters at a given radius, as a set cover.

A set of points is *compatible* when no two of them conflict (lie more than 2r apart, or are
cannot-linked) and it holds a must-link group whole or not at all. Subsets of a compatible set
keep the radius, so a cover of the points by compatible sets gives a partition into as many
clusters, and only sets that cannot be enlarged are needed:

    z_t in {0,1}                          take compatible set S_t
    min   sum_t z_t
    s.t.  sum_{t: i in S_t} z_t >= 1      every point i is covered

With ``relax`` (z_t >= 0) the optimum is the fractional chromatic number of the conflict graph;
rounded up it is a lower bound. The dual multipliers of the cover rows are weights w_i >= 0, at
most 1 in total on every compatible set, whose sum is that bound: a proof that can be checked
without a solver.

The paper has no such program: it takes the number of clusters as given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import networkx as nx
import numpy as np
import pyomo.environ as pyo

from radcluster.errors import InputError
from radcluster.graph.conflicts import ConflictGraph
from radcluster.models.parts.formulation import Formulation
from radcluster.problem.instance import Instance


def build(
    sets: Sequence[Iterable[int]], n_points: int, *, relax: bool = False
) -> pyo.ConcreteModel:
    """Cover points 0..n_points-1 with the fewest of ``sets``.

    Parameters
    ----------
    sets : sequence of sets of points
        All maximal compatible sets for the exact answer (:func:`maximal_sets`), or some of them.
    relax : bool
        Whether z may be fractional.

    Examples
    --------
    >>> m = build([{0, 1}, {1, 2}, {2, 3}], n_points=4)
    >>> len(m.z), len(m.cover)
    (3, 4)
    """
    holding: list[list[int]] = [[] for _ in range(n_points)]
    for t, members in enumerate(sets):
        for i in members:
            holding[i].append(t)
    for i, ts in enumerate(holding):
        if not ts:
            raise InputError(f"point {i} lies in none of the {len(sets)} sets")
    m = Formulation("cover:relaxed" if relax else "cover", __doc__)
    m.SETS = pyo.RangeSet(0, len(sets) - 1)
    m.POINTS = pyo.RangeSet(0, n_points - 1)
    m.z = pyo.Var(m.SETS, domain=pyo.NonNegativeReals if relax else pyo.Binary)
    m.cover = pyo.Constraint(m.POINTS, rule=lambda m, i: sum(m.z[t] for t in holding[i]) >= 1)
    m.n_clusters = pyo.Objective(expr=pyo.quicksum(m.z.values()))
    return m


def chosen(m: pyo.ConcreteModel) -> list[int]:
    """Indices of the sets that a solved binary model takes."""
    return [t for t in m.SETS if m.z[t].value is not None and m.z[t].value > 0.5]


def labels_from(sets: Sequence[Iterable[int]], n_points: int) -> np.ndarray:
    """A partition from a cover: each point goes to the first set that holds it.

    Sets left without a point of their own disappear, so that the labels run from 0 without gaps.

    >>> labels_from([{0, 1}, {1, 2}], 3).tolist()
    [0, 0, 1]
    """
    labels = np.full(n_points, len(sets))
    for t, members in enumerate(sets):
        for i in members:
            labels[i] = min(labels[i], t)
    return np.unique(labels, return_inverse=True)[1]


def maximal_sets(instance: Instance, *, limit: int | None = None) -> list[list[int]]:
    """Every maximal compatible set of the instance, refused when there are more than ``limit``.

    >>> maximal_sets(Instance([[0.0], [1.0], [2.0]], n_clusters=2, radius=0.5))
    [[0, 1], [1, 2]]
    """
    graph = ConflictGraph(instance)
    compatible = nx.complement(nx.from_numpy_array(graph.group_matrix))
    found = list(islice(nx.find_cliques(compatible), None if limit is None else limit + 1))
    if limit is not None and len(found) > limit:
        raise InputError(f"more than {limit} maximal compatible sets")
    return sorted(sorted(int(i) for g in groups for i in graph.members[g]) for groups in found)
