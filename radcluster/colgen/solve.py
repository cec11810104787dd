"""``method="colgen"``: from an instance to a certified result by branch and price."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from radcluster.colgen.master import HighsMaster
from radcluster.colgen.problem import Problem, ProblemFactory
from radcluster.colgen.progress import Progress
from radcluster.colgen.pyomo_master import PyomoMaster
from radcluster.colgen.search import Search, TimeUp
from radcluster.conflicts import analyse
from radcluster.errors import SolverFailure
from radcluster.fewest import fewest_clusters
from radcluster.heuristics import best_start, improve, to_exactly_k
from radcluster.instance import Instance
from radcluster.result import Result, StepReport, relative_gap
from radcluster.solvers import registry
from radcluster.steps import Clock
from radcluster.verify import cluster_centers, objective_of, sq_diameters, violations


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
        return _result(instance, clock, "infeasible", certificate=analyse(instance).certificate)
    groups = best_start(root, np.random.default_rng(seed))
    if groups is None:
        fewest = fewest_clusters(instance, time_limit=clock.left)
        if fewest.lower_bound > instance.n_clusters:
            return _result(instance, clock, "infeasible", certificate=fewest.certificate)
        if fewest.n_clusters > instance.n_clusters:
            return _result(instance, clock, "time_limit")
        groups = _grouped(root, fewest.labels)
    search = Search(
        factory, root, groups, rel_gap=rel_gap, clock=clock, progress=progress, master=master
    )
    stopped = "optimal"
    try:
        search.run()
    except TimeUp:
        stopped = "time_limit"
    except KeyboardInterrupt:
        stopped = "interrupted"
    return _finished(instance, search, stopped)


def _grouped(root: Problem, labels: np.ndarray) -> np.ndarray:
    """A partition of the points as one of the groups, with exactly K clusters."""
    by_group = np.empty(root.n_groups, dtype=int)
    by_group[root.labels] = labels
    clusters = [np.flatnonzero(by_group == k) for k in np.unique(by_group)]
    return improve(root, to_exactly_k(root, clusters))


def _finished(instance: Instance, search: Search, stopped: str) -> Result:
    labels = search.groups[search.root.labels]
    if wrong := violations(instance, labels):
        raise SolverFailure(f"the partition found is invalid: {wrong[0]}")
    objective = objective_of(instance, labels)
    bound = min(max(search.lower_bound, 0.0), objective)
    if relative_gap(objective, bound) <= search.rel_gap:
        stopped = "optimal"
    elif stopped == "optimal":
        stopped = "feasible"
    report = StepReport(
        step="colgen",
        model="set_partition",
        solver=search.master.name,
        version=registry.get(search.master.name).version,
        n_variables=len(search.pool),
        n_constraints=search.root.n_groups + 1,
        seconds=search.clock.seconds,
        objective=objective,
        bound=bound,
        status=stopped,
        note=f"{search.iterations} iterations, {search.nodes} nodes",
    )
    return _result(
        instance,
        search.clock,
        stopped,
        labels=labels,
        objective=objective,
        lower_bound=bound,
        max_radius=float(np.sqrt(sq_diameters(instance, labels).max()) / 2),
        solver=search.master.name,
        steps=(report,),
    )


def _result(instance: Instance, clock: Clock, status: str, **fields) -> Result:
    labels, points = fields.get("labels"), instance.points
    if labels is not None and points is not None:
        fields["centers"] = cluster_centers(points, labels, instance.n_clusters)
    if status == "infeasible":
        fields["lower_bound"] = math.inf
    return Result(
        status=status,
        n_clusters=instance.n_clusters,
        radius=instance.radius,
        method="colgen",
        seconds=clock.seconds,
        **fields,
    )
