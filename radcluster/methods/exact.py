"""``method="exact"``: the route that suits the instance, and another one where that is not enough.

Routes
------
- One cluster, or as many as points, leaves no choice, and a gap that a search leaves on distances
  that no points have is closed by the MILP.
- ``milp``: when a solver is named other than column generation's own HiGHS, or options for a
  solver, a choice of constraints or a formulation are given, the user wants a program solved.
- With one radius per cluster: column generation over the classes of radii, then the MILP, and
  relaxations for a bound (:mod:`radcluster.methods.sdp_tree.several`).
- ``colgen``: set partitioning. Its bound is the strongest, but its pricing searches over the places
  of a centre, which needs few axes or small clusters. First choice in the plane and
  on a line, when clusters hold at most :data:`SMALL_CLUSTER` points on average, and when the points
  spread along three or four axes and points per cluster times axes squared are at most
  :data:`SEARCHABLE`. With a small gap after its first turn it goes on alone for another one.
- ``sdp_tree``: the Peng-Wei relaxation. It does not mind dimension, and gains from large clusters.
  First choice otherwise; above :data:`radcluster.methods.sdp_tree.solve.MAX_ORDER` points by parts.

Measured (seconds to a proof, column generation / relaxation): normal points in the plane, N=160:
K=40 .5 / 8, K=20 .6 / 11, K=10 3 / more than 15, K=4 .5 / 4; N=400, K=20 5 / more than 15; in three
dimensions, N=80: K=20 .7 / 1.4, K=10 .6 / 1.0, K=5 7 / 4; in four, N=100: K=20 4.6 / 3.4, K=10
9 / 1.7; iris K=5 more than 15 / 1.8; standardised wine K=30 more than 30 / 12. So neither is best
everywhere that looks alike. They take turns, each time longer, and share the best partition; the
bound is the better of both.

The choice depends on the instance and the settings alone. The steps of the result report it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from radcluster.clock import Clock
from radcluster.compiled import seconds_compiling
from radcluster.methods import milp
from radcluster.methods.colgen import solve as colgen
from radcluster.methods.colgen.pricing.pricer import FLAT, MAX_LOCATION_DIMENSION
from radcluster.methods.sdp_tree import solve as sdp_tree
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of
from radcluster.progress import Progress
from radcluster.proof.verify import violations
from radcluster.result import Answer, relative_gap
from radcluster.settings import Settings
from radcluster.status import Status

#: Clusters of so few points, on average, are enumerated quickly in any dimension.
SMALL_CLUSTER = 3.0
#: Few enough points per cluster, times axes squared, for a search over the places of a centre.
SEARCHABLE = 100.0
#: With so few axes, places of a centre are searched whatever the clusters hold.
PLANE = 2
#: Seconds of the first turn of each route; every next turn is longer by the factor.
TURN = 5.0
GROWTH = 2.0
#: The route with the smaller gap has turns that are longer by this factor.
LEADER = 4.0
#: A first route with this gap after its first turn goes on before the next one starts.
NEAR = 0.02
#: Above so many points column generation is not tried where the relaxation is the first choice,
#: nor where clusters hold more than so many points on average.
COLGEN_POINTS = 1000
COLGEN_SIZE = 100.0


def run(
    instance: Instance, settings: Settings, clock: Clock, progress: Callable | None = None
) -> Answer:
    """Solve the instance to proven optimality, or as near as the time limit allows."""
    if _asks_for_milp(settings):
        return milp.run(instance, settings, clock, progress)
    if (labels := _only_choice(instance)) is not None:
        return Answer(labels, objective_of(instance, labels), Status.OPTIMAL)
    if not instance.uniform_radius:
        # Imported here, because it takes Pyomo along.
        from radcluster.methods.sdp_tree.several import with_relaxation

        return with_relaxation(instance, settings, clock, progress)
    answer = _Turns(instance, settings, clock, progress).run()
    if instance.points is None:
        return _closed_by_milp(instance, answer, settings, clock)
    return answer


def _only_choice(instance: Instance) -> np.ndarray | None:
    """The partition where there is but one: one cluster, or as many clusters as points."""
    if instance.n_clusters == 1:
        labels = np.zeros(instance.n_points, dtype=int)
    elif instance.n_clusters == instance.n_points and instance.uniform_radius:
        labels = np.arange(instance.n_points)
    else:
        return None
    return None if violations(instance, labels) else labels


def _closed_by_milp(instance: Instance, answer: Answer, settings: Settings, clock: Clock) -> Answer:
    """Where distances are not Euclidean, pricing can leave a gap. The MILP has no such trouble."""
    ended = answer.stopped in (Status.OPTIMAL, Status.FEASIBLE) and answer.labels is not None
    if not ended or clock.expired:
        return answer
    cost = objective_of(instance, answer.labels)
    if relative_gap(cost, answer.lower_bound) <= settings.rel_gap:
        return answer
    again = milp.run(instance, settings, clock, None)
    if again.labels is None or objective_of(instance, again.labels) >= cost:
        again = replace(again, labels=answer.labels)
    bound = max(answer.lower_bound, again.lower_bound)
    return replace(again, lower_bound=bound, steps=answer.steps + again.steps)


def _asks_for_milp(settings: Settings) -> bool:
    if settings.formulation is not None or settings.solver not in (None, "highs", ["highs"]):
        return True
    return bool(settings.native or settings.constraints)


def routes(instance: Instance) -> tuple[Callable, ...]:
    """The routes for an instance, in the order in which they are tried."""
    size = instance.n_points / instance.n_clusters
    many = instance.n_points > COLGEN_POINTS
    if many and size > COLGEN_SIZE:
        return (sdp_tree.prepare,)
    axes = _axes(instance)
    few = axes <= MAX_LOCATION_DIMENSION and size * axes**2 <= SEARCHABLE
    if size <= SMALL_CLUSTER or axes <= PLANE or few:
        return colgen.prepare, sdp_tree.prepare
    return (sdp_tree.prepare,) if many else (sdp_tree.prepare, colgen.prepare)


def _axes(instance: Instance) -> int:
    """How many axes the points spread along."""
    if instance.points is None:
        d = instance.sq_distances
        centred = d - d.mean(axis=0)
        spread = np.linalg.eigvalsh(-0.5 * (centred - centred.mean(axis=1)[:, None]))
    else:
        spread = np.linalg.eigvalsh(np.atleast_2d(np.cov(instance.points, rowvar=False, bias=True)))
    return int(np.sum(spread > FLAT * np.abs(spread).sum()))


class _Turns:
    """Routes that take turns, with one incumbent and one bound."""

    def __init__(self, instance: Instance, settings: Settings, clock: Clock, progress):
        self.instance, self.settings = instance, settings
        self.clock, self.progress = clock, progress
        self.waiting = list(routes(instance))
        self.searches: list = []
        self.ended: dict[str, Status] = {}
        self.lower_bound = 0.0 if instance.points is not None else -math.inf
        self.labels = None if settings.initial is None else np.asarray(settings.initial)
        self.cost = math.inf if self.labels is None else objective_of(instance, self.labels)

    def run(self) -> Answer:
        turn = TURN
        while True:
            if self.waiting and not (turn == TURN * GROWTH and self._near()):
                prepared = self._prepare()
                if isinstance(prepared, Answer):
                    return prepared
            leader = max(self.searches, key=lambda search: search.lower_bound)
            for search in list(self.searches):
                # Column generation alone shows soon whether it will do.
                first = turn == TURN and search.name == "colgen"
                longer = LEADER if search is leader and not first else 1.0
                status = self._turn(search, turn * longer)
                if status == Status.INTERRUPTED or self._closed() or self.clock.expired:
                    return self._answer(status)
            if not self.waiting and not self._going():
                return self._answer(Status.FEASIBLE)
            turn *= GROWTH

    def _prepare(self) -> Answer | None:
        """Start the next route; an answer when it has proven that there is no partition."""
        clock = Clock(self.clock.left)
        route = self.waiting.pop(0)
        search = route(self.instance, self.settings, clock, self._report, self.labels)
        if isinstance(search, Answer):
            return search if search.stopped == Status.INFEASIBLE or not self.searches else None
        if self.labels is not None:
            search.offer(self.labels)
        self.searches.insert(0, search)
        return None

    def _turn(self, search, seconds: float) -> Status:
        if search.name in self.ended:
            return self.ended[search.name]
        if self.labels is not None:
            search.offer(self.labels)
        while True:
            search.clock.limit = self._limit(search, seconds)
            before = seconds_compiling()
            status = search.run()
            # What a route can do does not show while its kernels are compiled.
            compiling = seconds_compiling() - before > 0.5 * seconds
            if not compiling or status != Status.TIME_LIMIT or self.clock.expired:
                break
        self.lower_bound = max(self.lower_bound, search.lower_bound)
        if status != Status.TIME_LIMIT or search.lower_bound <= 0.0 < self.lower_bound:
            # A route that says nothing while another does has had its turn.
            self.ended[search.name] = status
        cost = objective_of(self.instance, search.labels)
        if cost < self.cost:
            self.labels, self.cost = search.labels, cost
        return status

    def _limit(self, search, seconds: float) -> float | None:
        """When the search has to give way, by its own clock; None: it need not."""
        alone = not self.waiting and self._going() == [search]
        limit = math.inf if alone else search.clock.seconds + seconds
        if self.clock.left is not None:
            limit = min(limit, search.clock.seconds + self.clock.left)
        return None if math.isinf(limit) else limit

    def _going(self) -> list:
        return [search for search in self.searches if search.name not in self.ended]

    def _near(self) -> bool:
        """Whether the first route came so near in its first turn that it has another one alone."""
        return self.cost - self.lower_bound <= NEAR * abs(self.cost)

    def _closed(self) -> bool:
        return self.cost - self.lower_bound <= self.settings.rel_gap * abs(self.cost)

    def _report(self, report: Progress) -> None:
        if self.progress is not None:
            self.progress(
                replace(
                    report,
                    incumbent=min(report.incumbent, self.cost),
                    bound=max(report.bound, self.lower_bound),
                    seconds=self.clock.seconds,
                )
            )

    def _answer(self, status: Status) -> Answer:
        """The best of all routes, and which of them gave the bound and which the partition."""
        if self._closed():
            status = Status.OPTIMAL
        elif status != Status.INTERRUPTED:
            status = Status.TIME_LIMIT if self.clock.expired else Status.FEASIBLE
        bound_by = max(self.searches, key=lambda search: search.lower_bound)
        found_by = min(self.searches, key=lambda search: search.upper_bound)
        steps = []
        for search in self.searches:
            step = search.report(self.ended.get(search.name, Status.TIME_LIMIT))
            gave = [
                what
                for what, by in (("the bound", bound_by), ("the partition", found_by))
                if by is search
            ]
            note = f"{step.note}; gave {' and '.join(gave)}" if gave else step.note
            steps.append(replace(step, note=note))
        return Answer(self.labels, self.lower_bound, status, tuple(steps), solver=steps[0].solver)
