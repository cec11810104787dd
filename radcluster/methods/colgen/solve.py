"""``method="colgen"``: branch and price over clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from radcluster.clock import Clock
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.graph.conflicts import analyse
from radcluster.methods.colgen.master import HighsMaster
from radcluster.methods.colgen.problem import Problem, ProblemFactory
from radcluster.methods.colgen.pyomo_master import PyomoMaster
from radcluster.methods.colgen.search import Search
from radcluster.methods.heuristic.improve import improve
from radcluster.methods.heuristic.search import best_start
from radcluster.methods.heuristic.starts import to_exactly_k
from radcluster.methods.rescale import closed
from radcluster.methods.step import choose_solver
from radcluster.problem.instance import Instance
from radcluster.progress import Progress
from radcluster.result import Answer
from radcluster.settings import Settings
from radcluster.status import Status


def run(
    instance: Instance,
    settings: Settings,
    clock: Clock,
    progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Branch and price, for one radius for all clusters.

    The solver is the LP solver of the restricted master. None and ``highs`` take the direct,
    incremental path; any other goes through the Pyomo model of ``models/set_partition.py``.
    """

    def solve_once(problem: Instance) -> Answer:
        return _solve(problem, settings, clock, progress)

    return closed(instance, solve_once(instance), settings.rel_gap, solve_once)


def _solve(instance, settings, clock, progress) -> Answer:
    search = prepare(instance, settings, clock, progress)
    if isinstance(search, Answer):
        return search
    status = search.run()
    report = search.report(status)
    return Answer(search.labels, search.lower_bound, status, (report,), solver=report.solver)


def prepare(
    instance: Instance,
    settings: Settings,
    clock: Clock,
    progress: Callable[[Progress], None] | None = None,
    initial: np.ndarray | None = None,
) -> Search | Answer:
    """The search with a first partition, or an answer when there is none."""
    solver = choose_solver(settings, "LP", "set_partition:relaxed")
    factory = ProblemFactory(instance)
    root = factory.build()
    if root is None or root.n_groups < instance.n_clusters:
        return Answer.infeasible(analyse(instance).certificate)
    if initial is not None:
        groups = _grouped(root, np.asarray(initial))
    else:
        given = [] if settings.initial is None else [_grouped(root, np.asarray(settings.initial))]
        rng = np.random.default_rng(settings.seed or 0)
        groups = best_start(root, rng, clock=clock, given=given)
    if groups is None:
        fewest = fewest_clusters(instance, time_limit=clock.left)
        if fewest.lower_bound is not None and fewest.lower_bound > instance.n_clusters:
            known = {"fewest_clusters": fewest.n_clusters} if fewest.status == "optimal" else {}
            return Answer.infeasible(fewest.certificate | known)
        if fewest.n_clusters is None or fewest.n_clusters > instance.n_clusters:
            # No partition, and no proof that there is none.
            return Answer(None, stopped=Status.TIME_LIMIT, solver=solver)
        groups = _grouped(root, fewest.labels)
    return Search(
        factory,
        root,
        groups,
        rel_gap=settings.rel_gap,
        clock=clock,
        progress=progress,
        master=HighsMaster if solver == HighsMaster.name else partial(PyomoMaster, name=solver),
    )


def _grouped(root: Problem, labels: np.ndarray) -> np.ndarray:
    """A partition of the points as one of the groups, with exactly K clusters."""
    by_group = np.empty(root.n_groups, dtype=int)
    by_group[root.labels] = labels
    clusters = [np.flatnonzero(by_group == k) for k in np.unique(by_group)]
    return improve(root, to_exactly_k(root, clusters))
