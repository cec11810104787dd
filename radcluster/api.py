"""The public calls: choose the method, run it, verify and certify what it found, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from radcluster.clock import Clock, watched
from radcluster.errors import CompilingTimeUp, InputError, SolverFailure
from radcluster.feasibility.min_clusters import min_clusters
from radcluster.feasibility.min_radius import min_radius
from radcluster.feasibility.remedies import with_remedies
from radcluster.methods import register
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.progress import History
from radcluster.proof.certify import certify
from radcluster.proof.verify import violations
from radcluster.result import Answer, Result, StepReport
from radcluster.settings import Settings
from radcluster.status import Status
from radcluster.views.follow import following

__all__ = ["min_clusters", "min_radius", "run", "solve"]

#: Seconds for the remedies that an infeasible answer names.
REMEDY_SECONDS = 5.0


def solve(
    instance: Instance,
    method: str = "exact",
    solver=None,
    *,
    progress: Callable | bool | None = None,
    **settings,
) -> Result:
    """Solve radius-constrained k-means.

    Parameters
    ----------
    instance : Instance
    method : {"exact", "milp", "minlp", "pipeline", "colgen", "sdp_tree", "heuristic"}
        ``exact`` proves optimality by the route that suits the instance; ``milp`` is Eq. 8
        linearised, ``minlp`` Eq. 8 as printed, ``pipeline`` the paper's Algorithm 1, ``colgen``
        branch and price, ``sdp_tree`` branch and bound on an SDP relaxation, ``heuristic`` a good
        partition without a bound.
    solver : str, list of str, or dict of step to str, optional
        Solvers by name.
    progress : callable or bool, optional
        Called with each :class:`radcluster.progress.Progress` report of a long run. True shows a
        line that follows the run, in a notebook or on a terminal.
    **settings
        The keys of :class:`radcluster.settings.Settings`: ``time_limit``, ``rel_gap``, ``threads``,
        ``seed``, ``verbose``, ``native``, ``anchored``, ``constraints``, ``formulation``,
        ``cuts``, ``sdp``, ``step1``, ``step2``, ``step4``, ``repeat``, ``initial``, ``n_jobs``,
        ``as_printed``.

    Returns
    -------
    Result
        Its partition, if any, has passed the independent check; its objective is recomputed.

    Examples
    --------
    >>> result = solve(Instance([[0.0], [1.0], [5.0], [6.0]], n_clusters=2, radius=1))
    >>> result.status, result.objective, bool(result.labels[0] == result.labels[1])
    ('optimal', 1.0, True)
    """
    config = Settings.from_mapping({"method": method, "solver": solver} | settings)
    if not isinstance(progress, bool):
        return run(instance, config, progress)
    with following(config.method) if progress else nullcontext() as shown:
        return run(instance, config, shown)


def run(instance: Instance, settings: Settings, progress: Callable | None = None) -> Result:
    """:func:`solve` with ready-made settings."""
    if not isinstance(instance, Instance):
        raise InputError(f"solve needs an Instance(points, n_clusters, ...), got {instance!r:.60}")
    clock = Clock(settings.time_limit)
    method = register.check(settings)
    initial = _checked_initial(instance, settings.initial)
    history = History(progress)
    try:
        with watched(clock):
            answer = method.run(instance, settings, clock, history)
    except CompilingTimeUp as error:
        answer = _without_kernels(instance, settings, error)
    if initial is not None:
        _refuse_refuted(answer)
        answer = _at_least(instance, answer, initial)
    if answer.stopped == Status.INFEASIBLE:
        answer = _with_remedies(instance, answer, clock)
    return certify(
        instance,
        answer,
        method=method.name,
        rel_gap=settings.rel_gap,
        seconds=clock.seconds,
        history=history.reports,
    )


def _without_kernels(instance: Instance, settings: Settings, error: CompilingTimeUp) -> Answer:
    """What can be said when the time limit passed before the kernels were ready."""
    # Imported here, because it takes scikit-learn along.
    from radcluster.methods.uncompiled import uncompiled_partition

    report = StepReport("compile", "kernels", status=Status.TIME_LIMIT, note=str(error))
    labels = uncompiled_partition(instance, settings.seed or 0)
    return Answer(labels, stopped=Status.TIME_LIMIT, steps=(report,))


def _checked_initial(instance: Instance, labels) -> np.ndarray | None:
    """The partition to start from, refused unless it is valid."""
    if labels is None:
        return None
    labels = np.asarray(labels)
    if wrong := violations(instance, labels):
        raise InputError(f"initial is not a valid partition: {wrong[0]}")
    return labels


def _refuse_refuted(answer: Answer) -> None:
    """A partition is known, so a proof that there is none is wrong, whoever gave it."""
    if answer.stopped == Status.INFEASIBLE and "own" not in (answer.certificate or {}):
        who = (answer.certificate or {}).get("solver") or answer.solver or "the search"
        raise SolverFailure(f"{who} calls the instance infeasible, but initial is a partition")


def _at_least(instance: Instance, answer: Answer, initial: np.ndarray) -> Answer:
    """The answer, or the partition that the user gave where that one is better."""
    if answer.objective is not None or answer.stopped == Status.INFEASIBLE:
        return answer
    if answer.labels is not None:
        if objective_of(instance, answer.labels) <= objective_of(instance, initial):
            return answer
    return replace(answer, labels=initial)


def _with_remedies(instance: Instance, answer: Answer, clock: Clock) -> Answer:
    """The certificate with what would be feasible instead."""
    if answer.certificate is None or "own" in answer.certificate:
        # A user's own constraints may forbid what no other K or r can cure.
        return answer
    budget = REMEDY_SECONDS if clock.left is None else min(REMEDY_SECONDS, clock.left)
    certificate = with_remedies(answer.certificate, instance, time_limit=budget)
    return replace(answer, certificate=certificate)
