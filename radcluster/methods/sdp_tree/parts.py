"""A bound for many points: the sum of the bounds of parts.

Restricted to a part of the points, a partition into K clusters within the radius is one into at
most K clusters within the radius, it respects the links inside the part, and the parts' costs add
up to no more than the whole: a cluster of points costs at least the sum of what its pieces cost.
Splitting a cluster costs no more either, so each part may take exactly K clusters. So the bounds of
the parts add up to a bound of the whole. That needs distances of points; for others it may fail.

A part that the time did not reach counts with its spectral bound
(:mod:`radcluster.relaxation.spectral`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.graph.conflicts import must_link_groups
from radcluster.methods.sdp_tree.deal import deal
from radcluster.methods.sdp_tree.incumbent import Incumbent
from radcluster.methods.sdp_tree.oracle import Branch, SdpOracle
from radcluster.methods.sdp_tree.partitions import Partitioner
from radcluster.methods.tree import Tree
from radcluster.problem.instance import Instance
from radcluster.problem.partition import cluster_centers, objective_of
from radcluster.progress import Progress
from radcluster.relaxation.engine.fixing import propagated
from radcluster.relaxation.engine.program import build_program
from radcluster.relaxation.spectral import spectral_bound
from radcluster.result import StepReport
from radcluster.settings import Settings
from radcluster.status import Status

#: Points of a part, and the most parts before they grow.
PART_SIZE = 250
#: A part is bounded to within this gap, or the whole's if that is larger.
PART_GAP = 2e-4
#: Random starts on a part, for a partition of the whole.
PROBES = 20
#: A part's sum of rounding errors is charged at this part of the bound.
_ROUNDING = 1e-12


class PartsSearch:
    """The bound of all parts, in rounds: each with larger parts, while time is left.

    Attributes
    ----------
    labels : int array (N,)
        The partition that is dealt to the parts.
    lower_bound, upper_bound : float
    """

    name = "parts"

    def __init__(
        self,
        instance: Instance,
        labels: np.ndarray,
        settings: Settings,
        clock: Clock,
        progress: Callable[[Progress], None] | None = None,
    ):
        if instance.points is None:
            raise InputError("the bound by parts needs points: distances alone may not add up")
        self.instance, self.settings = instance, settings
        self.clock, self.progress = clock, progress
        self.labels, self.upper_bound = labels, objective_of(instance, labels)
        self.lower_bound = self._spectral(np.arange(instance.n_points))
        self.size = PART_SIZE
        self.parts = self.solved = 0
        self.jobs = settings.n_jobs or settings.threads or 1

    def offer(self, labels: np.ndarray) -> None:
        """Take a better partition."""
        cost = objective_of(self.instance, labels)
        if cost < self.upper_bound:
            self.labels, self.upper_bound = labels, cost

    def run(self) -> Status:
        """Bound all parts; again with parts twice as large while time is left."""
        try:
            if not self.parts:
                self._probe()
            while True:
                self._round()
                gap = self.upper_bound - self.lower_bound
                if gap <= self.settings.rel_gap * self.upper_bound:
                    return Status.OPTIMAL
                if self.clock.expired:
                    return Status.TIME_LIMIT
                if self.clock.limit is None or self.size >= self.instance.n_points:
                    return Status.FEASIBLE
                self.size *= 2
        except KeyboardInterrupt:
            self.clock.cancel()
            return Status.INTERRUPTED

    def _probe(self) -> None:
        """A better partition of the whole from the best one of a part, where there is no radius.

        A part is solved nearly to optimality, and its means are those of the whole, nearly.
        """
        if np.isfinite(self.instance.radii.max()) or len(self.instance.cannot_link):
            return
        points = self._deal()[0]
        part = restricted(self.instance, points)
        labels = np.unique(self.labels[points], return_inverse=True)[1]
        program = build_program(part)
        if program is None or len(np.unique(labels)) < part.n_clusters:
            return
        first = np.unique(program.group_of, return_index=True)[1]
        found = Partitioner(program, self.settings.seed or 0)
        best, cost = found.improved(labels[first])
        for start in found.random_starts(PROBES):
            if self.clock.expired:
                return
            other, its_cost = found.improved(start)
            if its_cost < cost:
                best, cost = other, its_cost
        best = best[program.group_of]
        means = cluster_centers(part.points, best, part.n_clusters, part.weights)
        # Imported here, because it takes a while.
        from sklearn.cluster import KMeans

        groups, centers, weights = self._groups()
        whole = KMeans(len(means), init=means, n_init=1).fit(centers, sample_weight=weights)
        if len(np.unique(whole.labels_)) == len(means):
            self.offer(whole.labels_[groups])

    def _round(self) -> None:
        parts = self._deal()
        self.parts, self.solved = len(parts), 0
        bounds = np.array([self._spectral(part) for part in parts])
        left = self.clock.left
        # Each job has an equal share of the time that is left.
        share = None if left is None else left * self._workers() / len(parts)
        jobs = (
            delayed(copy_context().run)(self._bounded, number, part, share)
            for number, part in enumerate(parts)
        )
        with threadpool_limits(1, user_api="blas"):
            found = Parallel(n_jobs=self.jobs, prefer="threads", return_as="generator_unordered")
            for number, bound in found(jobs):
                bounds[number] = max(bound, bounds[number])
                self.solved += 1
                self.lower_bound = max(self.lower_bound, float(bounds.sum()) * (1 - _ROUNDING))
                self._show()

    def _spectral(self, points: np.ndarray) -> float:
        i = self.instance
        return spectral_bound(i.points[points], i.weights[points], i.n_clusters)

    def _workers(self) -> int:
        return max(self.jobs, 1) if self.jobs != -1 else 2

    def _deal(self) -> list[np.ndarray]:
        """The points of each part. Groups of must-linked points stay together."""
        groups, centers, weights = self._groups()
        count = max(1, round(len(weights) / self.size))
        first = np.unique(groups, return_index=True)[1]
        part = deal(centers, weights, self.labels[first], count, self.settings.seed or 0)
        order = np.argsort(part[groups], kind="stable")
        return np.split(order, np.cumsum(np.bincount(part[groups], minlength=count))[:-1])

    def _groups(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The must-linked group of each point, and the groups' means and weights."""
        instance = self.instance
        groups = must_link_groups(instance)
        weights = np.bincount(groups, instance.weights)
        centers = cluster_centers(instance.points, groups, len(weights), instance.weights)
        return groups, centers, weights

    def _bounded(self, number: int, points: np.ndarray, share: float | None) -> tuple[int, float]:
        left = self.clock.left
        if self.clock.expired:
            return number, 0.0
        clock = Clock(None if left is None else min(share, left))
        labels = np.unique(self.labels[points], return_inverse=True)[1]
        part = restricted(self.instance, points)
        bound = part_bound(part, labels, max(self.settings.rel_gap, PART_GAP), clock)
        return number, bound

    def _show(self) -> None:
        if self.progress is not None:
            self.progress(
                Progress(
                    iteration=self.solved,
                    columns=self.parts,
                    incumbent=self.upper_bound,
                    bound=self.lower_bound,
                    seconds=self.clock.seconds,
                    nodes=self.solved,
                )
            )

    def report(self, status: Status) -> StepReport:
        return StepReport(
            step="parts",
            model="sdp:peng_wei",
            solver="admm",
            seconds=self.clock.seconds,
            objective=self.upper_bound,
            bound=self.lower_bound,
            status=status,
            note=f"{self.parts} parts of about {self.size} points",
        )


def restricted(instance: Instance, points: np.ndarray) -> Instance:
    """The instance on some of its points, with at most as many clusters, and the links inside."""
    place = np.full(instance.n_points, -1)
    place[points] = np.arange(len(points))

    def inside(pairs):
        pairs = place[pairs]
        return pairs[(pairs >= 0).all(axis=1)]

    part = Instance(
        instance.points[points],
        1,
        float(instance.radii.max()),
        cannot_link=inside(instance.cannot_link),
        must_link=inside(instance.must_link),
        sample_weight=instance.weights[points],
    )
    n_groups = int(must_link_groups(part).max()) + 1
    return part.replace(n_clusters=min(instance.n_clusters, n_groups))


def part_bound(instance: Instance, labels: np.ndarray, rel_gap: float, clock: Clock) -> float:
    """A bound of one part by the root of its tree, given a partition of it into at most K."""
    program = build_program(instance)
    if program is None:
        raise SolverFailure("a part of a partition is none: its links contradict one another")
    first = np.unique(program.group_of, return_index=True)[1]
    incumbent = Incumbent(program, Partitioner(program).filled(labels[first]))
    root = propagated(program)
    if root is None:
        return incumbent.cost * (1 - 4 * program.error)
    oracle = SdpOracle(program, incumbent, branching=False)
    tree = Tree(oracle, Branch(root), cost=incumbent.cost, bound=0.0, rel_gap=rel_gap, clock=clock)
    tree.run()
    return max(tree.lower_bound, 0.0)
