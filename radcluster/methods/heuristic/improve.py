"""Local search at a fixed number of clusters: move one point, or exchange two, while that pays.

A point may move into a cluster all of whose members are its neighbours; where exactly one member
is in conflict with it, the two may exchange places. With masses m, point i of cluster a joins b
when

    m_i M_a / (M_a - m_i) |x_i - c_a|^2  >  m_i M_b / (M_b + m_i) |x_i - c_b|^2,

what it saves at home against what it costs there (Hartigan's rule): at least as good as Lloyd's
nearest centre, and no centre has to be recomputed.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from radcluster.clock import Clock
from radcluster.graph.members import enter, leave, members_of
from radcluster.problem.kernels import helper, kernel

#: Elementary steps between two looks at the clock.
SLICE = 5_000_000
#: Most sweeps over all points, and the gain per sweep below which the search ends.
MOST_SWEEPS = 1000
LEAST_GAIN = 1e-7

#: Mass-weighted sum of the points of each cluster, and its mass.
_Sums = namedtuple("_Sums", "sums total")
#: Scratch room: members of each cluster among a point's neighbours, those clusters, marks.
_Room = namedtuple("_Room", "hits near mark")
#: What a step needs to know: points, masses and lists of neighbours.
_Points = namedtuple("_Points", "centers mass start neighbours")


def improve(problem, groups, clock: Clock | None = None, sweeps: int = MOST_SWEEPS) -> np.ndarray:
    """Move and exchange groups while that lowers the cost; ``groups`` is left alone.

    ``problem`` has ``centers``, ``mass``, ``start``, ``neighbours`` and ``n_clusters``, as
    :class:`radcluster.methods.colgen.problem.Problem` has.
    """
    clock = clock or Clock(None)
    state = members_of(groups, problem.n_clusters)
    points = _Points(problem.centers, problem.mass, problem.start, problem.neighbours)
    sums = _Sums(
        np.zeros((problem.n_clusters, problem.centers.shape[1])), np.zeros(problem.n_clusters)
    )
    room = _Room(
        np.zeros(problem.n_clusters, np.int64),
        np.empty(problem.n_clusters, np.int64),
        np.full(len(state.labels), -1, np.int64),
    )
    np.add.at(sums.sums, state.labels, problem.centers * problem.mass[:, None])
    np.add.at(sums.total, state.labels, problem.mass)
    cost = partition_cost(problem, state.labels)
    for _ in range(sweeps):
        gain, at = 0.0, 0
        while at < len(state.labels) and not clock.expired:
            at, more = _sweep(points, state, sums, room, at, SLICE)
            gain += more
        cost -= gain
        if gain <= LEAST_GAIN * cost or clock.expired:
            break
    return state.labels


def partition_cost(problem, groups) -> float:
    """Cost of a partition of the groups, net of the problem's offset."""
    k = problem.n_clusters
    groups = np.asarray(groups)
    # From the first member of each cluster, so that far-off clusters lose no digits.
    first = np.zeros(k, np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    offset = problem.centers - problem.centers[first[groups]]
    total = np.bincount(groups, problem.mass, minlength=k)
    means = np.zeros((k, offset.shape[1]))
    np.add.at(means, groups, offset * problem.mass[:, None])
    means /= np.maximum(total, np.finfo(float).tiny)[:, None]
    return float(problem.mass @ np.square(offset - means[groups]).sum(axis=1))


@helper
def _gap(points, sums, i, k):
    """Squared distance of point i to the mean of cluster k."""
    value = 0.0
    for a in range(points.centers.shape[1]):
        value += (points.centers[i, a] - sums.sums[k, a] / sums.total[k]) ** 2
    return value


@helper
def _shift(points, state, sums, i, k):
    """Put point i into cluster k."""
    old = state.labels[i]
    mass = points.mass[i]
    for a in range(points.centers.shape[1]):
        sums.sums[old, a] -= mass * points.centers[i, a]
        sums.sums[k, a] += mass * points.centers[i, a]
    sums.total[old] -= mass
    sums.total[k] += mass
    leave(state, i)
    enter(state, i, k)


@helper
def _blocker(points, state, i, k, mark):
    """The point of cluster k that is in conflict with i, known to be the only one."""
    for p in range(points.start[i], points.start[i + 1]):
        mark[points.neighbours[p]] = i
    j = state.head[k]
    while mark[j] == i:
        j = state.after[j]
    return j


@helper
def _fits(points, state, j, k, without):
    """Whether j is compatible with all of cluster k but ``without``."""
    hits = 0
    for p in range(points.start[j], points.start[j + 1]):
        b = points.neighbours[p]
        hits += state.labels[b] == k and b != without
    return hits == state.size[k] - 1


@helper
def _exchange_gain(points, sums, i, j, a, b):
    """What exchanging i of cluster a for j of cluster b saves."""
    gain = 0.0
    step_mass = points.mass[j] - points.mass[i]
    for k in range(points.centers.shape[1]):
        # Per coordinate sum m x^2 stays; -(sum m x)^2 / mass changes. Seen from a's mean, so that
        # points far from the origin lose no digits.
        origin = sums.sums[a, k] / sums.total[a]
        first = 0.0
        second = sums.sums[b, k] - origin * sums.total[b]
        step = points.mass[j] * (points.centers[j, k] - origin)
        step -= points.mass[i] * (points.centers[i, k] - origin)
        gain += (first + step) ** 2 / (sums.total[a] + step_mass)
        gain += (second - step) ** 2 / (sums.total[b] - step_mass)
        gain -= second**2 / sums.total[b]
    return gain


@helper
def _best_step(points, state, sums, i, room):
    """The most profitable cluster for point i, who must make room there, and the profit."""
    hits, near = room.hits, room.near
    own = state.labels[i]
    mass = points.mass[i]
    leaving = mass * sums.total[own] / (sums.total[own] - mass) * _gap(points, sums, i, own)
    best, target, other = 1e-12 * leaving, -1, -1
    n_near = 0
    for p in range(points.start[i], points.start[i + 1]):
        k = state.labels[points.neighbours[p]]
        if hits[k] == 0:
            near[n_near] = k
            n_near += 1
        hits[k] += 1
    for t in range(n_near):
        k = near[t]
        short = state.size[k] - hits[k]
        hits[k] = 0
        if k == own or short > 1:
            continue
        if short == 0:
            join = mass * sums.total[k] / (sums.total[k] + mass) * _gap(points, sums, i, k)
            if leaving - join > best:
                best, target, other = leaving - join, k, -1
            continue
        j = _blocker(points, state, i, k, room.mark)
        gain = _exchange_gain(points, sums, i, j, own, k)
        if gain > best and _fits(points, state, j, own, i):
            best, target, other = gain, k, j
    return target, other, best


@kernel
def _sweep(points, state, sums, room, at, budget):
    """Improve points from ``at`` on for about so many steps; where it stopped, and the gain."""
    work = 0
    gain = 0.0
    while at < len(state.labels) and work < budget:
        i = at
        at += 1
        own = state.labels[i]
        if state.size[own] == 1:
            continue
        work += 2 * (points.start[i + 1] - points.start[i]) + 10
        k, other, more = _best_step(points, state, sums, i, room)
        if k < 0:
            continue
        gain += more
        _shift(points, state, sums, i, k)
        if other >= 0:
            _shift(points, state, sums, other, own)
    return at, gain
