"""``method="colgen"``: from an instance to a certified result by branch and price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from radcluster.certify import certified, infeasible
from radcluster.colgen.master import HighsMaster
from radcluster.colgen.problem import Problem, ProblemFactory
from radcluster.colgen.progress import Progress
from radcluster.colgen.pyomo_master import PyomoMaster
from radcluster.colgen.sdp_root import root_bound
from radcluster.colgen.search import Search, TimeUp
from radcluster.conflicts import analyse
from radcluster.fewest import fewest_clusters
from radcluster.heuristics import best_start, improve, to_exactly_k
from radcluster.instance import Instance
from radcluster.result import Result, StepReport
from radcluster.solvers import registry
from radcluster.steps import Clock
from radcluster.verify import objective_of

METHOD = "colgen"


def solve_colgen(
    instance: Instance,
    *,
    solver: str | None = None,
    time_limit: float | None = None,
    rel_gap: float = 1e-6,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Radius-constrained k-means by column generation and branch and price.

    Parameters
    ----------
    instance : Instance
        With one radius for all clusters.
    solver : str, optional
        The LP solver of the restricted master. None and ``highs`` take the direct, incremental
        path; any other goes through the Pyomo model of ``models/set_partition.py``.
    time_limit : float, optional
        Seconds; then the incumbent and a valid bound are returned.
    rel_gap : float
        The search ends when (objective - bound) / objective is at most this.
    seed : int
        For the starting heuristic.
    progress : callable, optional
        Called with a :class:`Progress` after every iteration.

    Examples
    --------
    >>> result = solve_colgen(Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1))
    >>> result.status, result.objective, result.labels.tolist()
    ('optimal', 1.0, [0, 0, 1, 1])
    """
    clock = Clock(time_limit)
    name = registry.require(solver, "LP", "set_partition:relaxed").name
    master = HighsMaster if name == HighsMaster.name else partial(PyomoMaster, name=name)
    factory = ProblemFactory(instance)
    root = factory.build()
    if root is None or root.n_groups < instance.n_clusters:
        return infeasible(instance, METHOD, analyse(instance).certificate)
    groups = best_start(root, np.random.default_rng(seed))
    if groups is None:
        fewest = fewest_clusters(instance, time_limit=clock.left)
        if fewest.lower_bound > instance.n_clusters:
            return infeasible(instance, METHOD, fewest.certificate)
        if fewest.n_clusters > instance.n_clusters:
            # No partition, and no proof that there is none.
            return Result("time_limit", instance.n_clusters, instance.radius, METHOD, solver=name)
        groups = _grouped(root, fewest.labels)
    search = Search(
        factory,
        root,
        groups,
        bound=root_bound(instance, root, clock),
        rel_gap=rel_gap,
        clock=clock,
        progress=progress,
        master=master,
    )
    return _finished(instance, search, _run(search))


def _run(search: Search) -> str:
    """Search as long as may be; why it stopped."""
    try:
        search.run()
    except TimeUp:
        return "time_limit"
    except KeyboardInterrupt:
        return "interrupted"
    return "optimal"


def _grouped(root: Problem, labels: np.ndarray) -> np.ndarray:
    """A partition of the points as one of the groups, with exactly K clusters."""
    by_group = np.empty(root.n_groups, dtype=int)
    by_group[root.labels] = labels
    clusters = [np.flatnonzero(by_group == k) for k in np.unique(by_group)]
    return improve(root, to_exactly_k(root, clusters))


def _finished(instance: Instance, search: Search, stopped: str) -> Result:
    labels = search.groups[search.root.labels]
    report = StepReport(
        step="colgen",
        model="set_partition",
        solver=search.master.name,
        version=registry.get(search.master.name).version,
        n_variables=len(search.pool),
        n_constraints=search.root.n_groups + 1,
        seconds=search.clock.seconds,
        objective=objective_of(instance, labels),
        bound=search.lower_bound,
        status=stopped,
        note=f"{search.iterations} iterations, {search.nodes} nodes",
    )
    result = certified(
        instance,
        METHOD,
        labels=labels,
        lower_bound=search.lower_bound,
        rel_gap=search.rel_gap,
        stopped=stopped,
        solver=search.master.name,
        steps=(report,),
    )
    return replace(result, seconds=search.clock.seconds)
