"""Partitions from the columns at hand: round a fractional cover, or choose the best columns."""

from __future__ import annotations

import highspy
import numpy as np

from radcluster.methods.colgen.columns import Columns
from radcluster.methods.colgen.problem import Problem
from radcluster.methods.heuristic.starts import to_exactly_k

#: Clusters that each group is added to when the first columns are made.
MOST_JOINED = 3


def cover_to_clusters(columns, n_groups: int) -> list[np.ndarray]:
    """Disjoint clusters from columns in order of preference: each group stays in the first."""
    owner = np.full(n_groups, -1)
    for k, column in enumerate(columns):
        column = np.asarray(column)
        owner[column[owner[column] < 0]] = k
    return [np.flatnonzero(owner == k) for k in np.unique(owner[owner >= 0])]


def rounded(problem: Problem, columns: Columns, values: np.ndarray) -> np.ndarray | None:
    """The K columns of largest value, the groups that they miss inserted where it costs least."""
    used = np.flatnonzero(values > 1e-6)
    used = used[np.argsort(-values[used], kind="stable")]
    clusters: list[np.ndarray] = []
    owner = np.full(problem.n_groups, -1)
    for t in used:
        free = columns[t][owner[columns[t]] < 0]
        # A column mostly taken already is no cluster: its few free groups are inserted below.
        if 2 * len(free) < len(columns[t]) or len(clusters) == problem.n_clusters:
            continue
        owner[free] = len(clusters)
        clusters.append(free)
    return _insert_rest(problem, owner, len(clusters))


def _insert_rest(problem: Problem, owner: np.ndarray, n_used: int) -> np.ndarray | None:
    k_max = problem.n_clusters
    size = np.bincount(owner[owner >= 0], minlength=k_max)
    placed = np.flatnonzero(owner >= 0)
    # Not by bincount, which forgets that weights are no whole numbers when there are none.
    mass = np.zeros(k_max)
    np.add.at(mass, owner[placed], problem.mass[placed])
    sums = np.zeros((k_max, problem.centers.shape[1]))
    np.add.at(sums, owner[placed], problem.mass[placed, None] * problem.centers[placed])
    for a in np.flatnonzero(owner < 0):
        near = owner[problem.compatible_with(a)]
        hits = np.bincount(near[near >= 0], minlength=k_max)
        fitting = np.flatnonzero((hits == size) & (size > 0))
        if len(fitting):
            gaps = problem.centers[a] - sums[fitting] / mass[fitting, None]
            m = mass[fitting]
            k = fitting[(m / (m + problem.mass[a]) * np.square(gaps).sum(axis=1)).argmin()]
        elif n_used < k_max:
            k = n_used
            n_used += 1
        else:
            return None
        owner[a] = k
        size[k] += 1
        mass[k] += problem.mass[a]
        sums[k] += problem.mass[a] * problem.centers[a]
    return to_exactly_k(problem, [np.flatnonzero(owner == k) for k in range(n_used)])


def best_choice(
    problem: Problem, columns: Columns, costs: np.ndarray, unit: float, seconds: float
) -> np.ndarray | None:
    """The cheapest partition that these columns make, by a mixed-integer program in HiGHS."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("time_limit", float(seconds))
    matrix = columns.incidence(problem.n_groups).tocsc()
    n = len(columns)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, problem.n_groups + 1
    lp.col_cost_ = costs / unit
    lp.col_lower_, lp.col_upper_ = np.zeros(n), np.ones(n)
    lp.row_lower_ = np.r_[np.ones(problem.n_groups), -highspy.kHighsInf]
    lp.row_upper_ = np.r_[np.full(problem.n_groups, highspy.kHighsInf), problem.n_clusters]
    rows = [*np.split(matrix.indices, matrix.indptr[1:-1]), np.arange(n)]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    lp.a_matrix_.index_ = np.concatenate(rows)
    lp.a_matrix_.value_ = np.ones(len(lp.a_matrix_.index_))
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    highs.passModel(lp)
    highs.run()
    values = np.array(highs.getSolution().col_value)
    chosen = np.flatnonzero(values > 0.5) if len(values) else []
    clusters = cover_to_clusters([columns[t] for t in chosen], problem.n_groups)
    covered = sum(len(c) for c in clusters)
    if covered < problem.n_groups or len(clusters) > problem.n_clusters:
        return None
    return to_exactly_k(problem, clusters)


def surroundings(problem: Problem, groups: np.ndarray) -> Columns:
    """The clusters of a partition, each also with one group less, and with one group more.

    In the master these columns confine the prices: lambda_i lies between what leaving its
    cluster saves and what joining the next one costs, were the partition optimal.
    """
    k = problem.n_clusters
    clusters = [np.flatnonzero(groups == c) for c in range(k)]
    size = np.bincount(groups, minlength=k)
    less = [np.delete(c, i) for c in clusters if len(c) > 1 for i in range(len(c))]
    more = []
    for a in range(problem.n_groups):
        hits = np.bincount(groups[problem.compatible_with(a)], minlength=k)
        joinable = np.flatnonzero((hits == size) & (groups[a] != np.arange(k)))
        if len(joinable) > MOST_JOINED:
            means = np.array([problem.centers[clusters[c]].mean(axis=0) for c in joinable])
            gaps = np.square(means - problem.centers[a]).sum(axis=1)
            joinable = joinable[np.argsort(gaps)[:MOST_JOINED]]
        more += [np.append(clusters[c], a) for c in joinable]
    return Columns.of([*clusters, *less, *more])
