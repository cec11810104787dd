"""``method="sdp_tree"``: branch and bound on the Peng-Wei relaxation, in any dimension.

Above :data:`MAX_ORDER` groups the matrix is too large; then the points are split into parts
(:mod:`radcluster.methods.sdp_tree.parts`), whose bounds add up.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from radcluster.clock import Clock
from radcluster.errors import InputError, SolverFailure
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.graph.conflicts import analyse
from radcluster.methods.heuristic.search import heuristic_partition
from radcluster.methods.sdp_tree.incumbent import Incumbent
from radcluster.methods.sdp_tree.oracle import Branch, SdpOracle
from radcluster.methods.sdp_tree.partitions import Partitioner
from radcluster.methods.sdp_tree.parts import PartsSearch
from radcluster.methods.tree import Tree
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.progress import Progress
from radcluster.relaxation.engine.fixing import propagated
from radcluster.relaxation.engine.program import Program, build_program
from radcluster.result import Answer, StepReport
from radcluster.settings import Settings
from radcluster.solvers import registry
from radcluster.status import Status

SOLVER = "admm"
#: Points above which the matrix of the whole is too large.
MAX_ORDER = 700


def run(
    instance: Instance,
    settings: Settings,
    clock: Clock,
    progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Branch and bound on the relaxation, for one radius for all clusters."""
    if settings.solver not in (None, SOLVER, [SOLVER]):
        raise InputError(f"method 'sdp_tree' has a solver of its own, {SOLVER!r}")
    search = prepare(instance, settings, clock, progress)
    if isinstance(search, Answer):
        return search
    status = search.run()
    report = search.report(status)
    return Answer(search.labels, search.lower_bound, status, (report,), solver=SOLVER)


def prepare(
    instance: Instance,
    settings: Settings,
    clock: Clock,
    progress: Callable[[Progress], None] | None = None,
    initial: np.ndarray | None = None,
) -> SdpSearch | PartsSearch | Answer:
    """The search that suits the number of points, or an answer when there is nothing to search."""
    if not instance.uniform_radius:
        raise InputError("method 'sdp_tree' needs one radius for all clusters: use 'exact'")
    initial = settings.initial if initial is None else initial
    if instance.n_points > MAX_ORDER and instance.points is not None:
        if initial is None:
            initial = heuristic_partition(instance, seed=settings.seed or 0, clock=clock)
        if initial is None:
            initial = _fewest(instance, clock)
        if isinstance(initial, Answer):
            return initial
        return PartsSearch(instance, np.asarray(initial), settings, clock, progress)
    program = build_program(instance)
    if program is None or program.n_groups < instance.n_clusters:
        return Answer.infeasible(analyse(instance).certificate)
    first = np.unique(program.group_of, return_index=True)[1]
    if initial is None:
        label = Partitioner(program, settings.seed or 0).started()
    else:
        label = np.asarray(initial)[first]
    if label is None:
        found = _fewest(instance, clock)
        if isinstance(found, Answer):
            return found
        label = Partitioner(program).filled(found[first])
    return SdpSearch(instance, program, label, settings, clock, progress)


def _fewest(instance: Instance, clock: Clock) -> np.ndarray | Answer:
    """Labels of a partition into at most K clusters by exact covering, or why there is none."""
    fewest = fewest_clusters(instance, time_limit=clock.left)
    if fewest.lower_bound > instance.n_clusters:
        return Answer.infeasible(fewest.certificate)
    if fewest.n_clusters > instance.n_clusters:
        if not clock.expired and clock.limit is None:
            raise SolverFailure("no partition was found, and no proof that there is none")
        return Answer(None, stopped=Status.TIME_LIMIT, solver=SOLVER)
    return fewest.labels


class SdpSearch:
    """The tree from a first partition of the groups.

    Attributes
    ----------
    lower_bound, upper_bound : float
        Valid whenever they are read.
    labels : int array (N,)
    """

    name = "sdp_tree"

    def __init__(
        self,
        instance: Instance,
        program: Program,
        label: np.ndarray,
        settings: Settings,
        clock: Clock,
        progress: Callable[[Progress], None] | None = None,
    ):
        self.instance, self.clock, self.progress = instance, clock, progress
        self.incumbent = Incumbent(program, label, settings.seed or 0)
        self.oracle = SdpOracle(program, self.incumbent)
        root = propagated(program)
        self.tree = Tree(
            self.oracle,
            Branch(root),
            cost=self.incumbent.cost,
            # Distances that no points have may give a negative cost.
            bound=0.0 if program.euclidean else -np.inf,
            rel_gap=settings.rel_gap,
            clock=clock,
            workers=settings.threads or min(2, os.cpu_count() or 1),
            report=None if progress is None else self._show,
        )
        if root is None:
            # Cliques of conflicts leave no other partition.
            self.tree.open = []

    @property
    def labels(self) -> np.ndarray:
        return self.incumbent.labels

    @property
    def upper_bound(self) -> float:
        return self.tree.cost

    @property
    def lower_bound(self) -> float:
        return self.tree.lower_bound

    def offer(self, labels: np.ndarray) -> None:
        """Take a better partition of the points."""
        self.incumbent.offer(labels, self.tree)

    def run(self) -> Status:
        """Search until the gap is closed or the time is up."""
        with threadpool_limits(1, user_api="blas"):
            return self.tree.run()

    def _show(self) -> None:
        self.progress(
            Progress(
                iteration=self.oracle.iterations,
                columns=self.oracle.cuts,
                incumbent=self.upper_bound,
                bound=self.lower_bound,
                seconds=self.clock.seconds,
                nodes=self.tree.nodes,
            )
        )

    def report(self, status: Status) -> StepReport:
        """What was done, for the result."""
        n = self.oracle.root.n_groups
        return StepReport(
            step="sdp_tree",
            model="sdp:peng_wei",
            solver=SOLVER,
            version=registry.get(SOLVER).version,
            n_variables=n * (n + 1) // 2,
            n_constraints=self.oracle.cuts,
            seconds=self.clock.seconds,
            objective=objective_of(self.instance, self.labels),
            bound=self.lower_bound,
            status=status,
            note=f"{self.oracle.iterations} iterations, {self.tree.nodes} nodes",
        )
