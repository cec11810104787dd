"""Algorithm 1 of the paper: memberships, rounding, centroids, reassignment.

    Step 1  memberships b_ik                       ``sdp:perspective`` (default), ``sdp:paper``,
                                                   ``sdp:peng_wei``, ``kcenter``, ``kcenter:exact``
    Step 2  valid partition nearest to b           ``rounding`` (models/rounding.py)
    Step 3  its centroids
    Step 4  valid partition nearest to them        ``rounding``; then Steps 3-4 again until nothing
                                                   changes, or once as in the paper

Each step also takes a callable or ``"module:function"``, so that an edited formulation drops in:

    step1(instance, labelling) -> a model of radcluster.models.sdp.build, edited, which is solved
                                  and bounded as the built-in ones are; or
                                  scores of shape (N, K), larger for likelier
    step2(instance, scores, labelling) -> ConcreteModel with variables pi[i, k]
    step4(instance, sq_center_distances, labelling) -> ConcreteModel with variables pi[i, k]
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import linear_sum_assignment

from radcluster.clock import Clock
from radcluster.errors import InputError
from radcluster.graph.conflicts import AdmissiblePairs
from radcluster.methods.step import (
    analyse_within,
    build_own,
    call_own,
    choose_solver,
    load_callable,
    name_of,
    named_solver,
    partition_of,
    refuse_unbounded,
    refuse_unused_native,
    search_certificate,
    solve_step,
)
from radcluster.models import kcenter, rounding
from radcluster.problem.instance import Instance
from radcluster.problem.partition import objective_of, sq_center_distances
from radcluster.problem.units import normalised
from radcluster.relaxation.admits import admits
from radcluster.relaxation.memberships import Memberships
from radcluster.result import Answer, StepReport
from radcluster.settings import ROUNDING, STEP1, Settings
from radcluster.status import Status


def is_own(step: str | Callable) -> bool:
    """Whether a step is the user's own, no built-in."""
    return step not in (*STEP1, ROUNDING)


def run(
    instance: Instance, settings: Settings, clock: Clock, progress: Callable | None = None
) -> Answer:
    """Algorithm 1 over the admissible pairs."""
    analysis = analyse_within(instance, settings, clock)
    if analysis.certificate:
        return Answer.infeasible(analysis.certificate)
    pipeline = Pipeline(instance, analysis.labelling, settings, clock)
    pipeline.run()
    steps = tuple(pipeline.steps)
    if pipeline.status == Status.INFEASIBLE:
        return Answer.infeasible(pipeline.certificate, steps)
    return Answer(
        labels=pipeline.labels,
        lower_bound=pipeline.lower_bound * pipeline.scale,
        stopped=pipeline.status,
        steps=steps,
        solver=", ".join(dict.fromkeys(step.solver for step in steps if step.solver)),
    )


class Pipeline:
    """One run of Algorithm 1. ``labels``, ``lower_bound``, ``status`` and ``steps`` hold its state.

    ``status`` is ``feasible``, ``infeasible`` (proven by a step) or ``time_limit``. Built-in steps
    work on ``instance``, which is the ``original`` in normalised units (squared lengths are to be
    multiplied by ``scale``); steps of the user's own work on the original.
    """

    def __init__(
        self,
        instance: Instance,
        labelling: AdmissiblePairs,
        settings: Settings,
        clock: Clock,
    ):
        self.original = instance
        self.instance, self.scale = normalised(instance)
        self.labelling = labelling
        self.settings = settings
        self.clock = clock
        self.constraints = settings.constraints or "clique"
        self.solvers = self._choose_solvers()
        self.labels: np.ndarray | None = None
        self.lower_bound = 0.0
        self.status = Status.FEASIBLE
        self.certificate: dict | None = None
        self.edited: pyo.ConcreteModel | None = None
        self.steps: list[StepReport] = []

    def _choose_solvers(self) -> dict[str, str | None]:
        """Solvers of all steps, so that a name that fits nowhere is refused before any work."""
        assignment_class = rounding.PROBLEM_CLASS[self.constraints]
        classes = {"step2": assignment_class, "step4": assignment_class}
        step1 = self.settings.step1
        if step1 == "kcenter:exact":
            classes = {"step1": "MILP"} | classes
        elif step1 != "kcenter":
            classes = {"step1": "SDP"} | classes
        if (self.settings.sdp or self.settings.cuts) and classes.get("step1") != "SDP":
            raise InputError(f"sdp and cuts are options of an SDP, and step1 is {step1}")
        chosen = {
            # Which conic solver is the better default depends on the size of the blocks.
            step: (named_solver if problem_class == "SDP" else choose_solver)(
                self.settings, problem_class, self._title(step, problem_class), step
            )
            for step, problem_class in classes.items()
        }
        _refuse_unused(self.settings.solver, chosen, classes)
        # Where none is named for an SDP, its size decides between these.
        conic = ("clarabel", "scs") if chosen.get("step1", "") is None else ()
        refuse_unused_native(self.settings, {*chosen.values(), *conic})
        return chosen

    def _title(self, step: str, problem_class: str) -> str:
        """What a step solves, as messages call it."""
        named = problem_class == "SDP" and not is_own(self.settings.step1)
        return self.settings.step1 if named else f"{step} of the pipeline"

    def run(self) -> None:
        """Steps 1, 2 and then 3-4; an interrupt keeps what there is."""
        try:
            self._run()
        except KeyboardInterrupt:
            self.status = Status.INTERRUPTED
        if self.edited is not None and self.labels is not None:
            self._keep_bound_if_admitted()

    def _keep_bound_if_admitted(self) -> None:
        """The bound of an edited SDP is about the partitions that it admits, and no others."""
        if not admits(self.edited, self.labels, self.original.weights):
            self.lower_bound = 0.0
            note = "not used: the partition was not seen to be one that the edited model admits"
            self.steps[0] = replace(self.steps[0], note=f"bound {note}")

    def _run(self) -> None:
        memberships = self._step1()
        self.steps.append(memberships.report)
        self.lower_bound = memberships.lower_bound
        if memberships.certificate is not None:
            self.status, self.certificate = Status.INFEASIBLE, memberships.certificate
            return
        if not self._assign("step2", memberships.scores):
            return
        while not self.clock.expired:
            before = objective_of(self.instance, self.labels)
            kept = self.labels
            if not self._assign("step4", sq_center_distances(self.instance, self.labels)):
                return
            if objective_of(self.instance, self.labels) >= before:
                # A solver's tolerance can make a step worse, never better than it says.
                self.labels = kept
                return
            if not self.settings.repeat:
                return
        self.status = Status.TIME_LIMIT

    def _step1(self) -> Memberships:
        name = self.settings.step1
        if name in ("kcenter", "kcenter:exact"):
            return self._kcenter(exact=name == "kcenter:exact")
        if is_own(name):
            return self._own_step1(load_callable(name, "step1", STEP1))
        from radcluster.relaxation.sdp import solve_sdp

        memberships = solve_sdp(
            self.instance,
            self.labelling,
            form=name.removeprefix("sdp:"),
            **self._conic_options(),
            **self.settings.sdp,
        )
        return replace(memberships, report=_rescaled(memberships.report, self.scale))

    def _conic_options(self) -> dict:
        solver = self.solvers["step1"]
        options = self.settings.options(solver, self.clock.left)
        return {"solver": solver, "options": options, "cuts": self.settings.cuts}

    def _own_step1(self, function) -> Memberships:
        """Scores as the user computes them, or from the user's edit of an SDP."""
        start = time.perf_counter()
        found = call_own(function, "step1", self.original, self.labelling)
        if isinstance(found, pyo.ConcreteModel):
            return self._own_sdp(found)
        if self.solvers["step1"] or self.settings.sdp or self.settings.cuts:
            raise InputError("step1 returned scores: there is no SDP to solve")
        scores = np.asarray(found, dtype=float)
        shape = (self.instance.n_points, self.instance.n_clusters)
        if scores.shape != shape or not np.isfinite(scores).all():
            raise InputError(f"step1 must return finite scores of shape {shape}")
        name = name_of(self.settings.step1)
        return Memberships(scores, StepReport("step1", name, seconds=time.perf_counter() - start))

    def _own_sdp(self, model) -> Memberships:
        from radcluster.relaxation.sdp import solve_model

        options = dict(self.settings.sdp)
        if building := set(options) - {"tolerance", "rounds", "rank"}:
            raise InputError(f"step1 builds its model itself: sdp option {min(building)} is unused")
        memberships = solve_model(
            model, self.original, self.labelling, **self._conic_options(), **options
        )
        if memberships.lower_bound:
            self.edited = model
            memberships = replace(memberships, lower_bound=memberships.lower_bound / self.scale)
        if memberships.certificate is None:
            return memberships
        certificate = search_certificate(memberships.report, self.settings.step1)
        return replace(memberships, certificate=certificate)

    def _kcenter(self, *, exact: bool) -> Memberships:
        """Scores -d(i, centre of k), the centres matched to the anchors they are nearest to."""
        start = time.perf_counter()
        instance, d = self.instance, self.instance.sq_distances
        anchors = list(self.labelling.anchors)
        rng = np.random.default_rng(self.settings.seed)
        centers = kcenter.greedy_centers(
            instance, anchors or [int(rng.integers(instance.n_points))]
        )
        covering = math.sqrt(d[centers].min(axis=0).max())
        report = StepReport(
            "step1",
            "kcenter:greedy",
            seconds=time.perf_counter() - start,
            objective=covering**2 * self.scale,
        )
        if exact:
            model = kcenter.build(instance, covering_radius=covering)
            solver = self.solvers["step1"]
            report, outcome = solve_step(
                "step1", model, self.settings, solver, "MILP", self.clock, self.scale
            )
            if outcome.has_solution:
                centers = [j for j in model.POINTS if model.y[j].value > 0.5]
        centers = _match(d, anchors, centers)
        return Memberships(-d[:, centers], report)

    def _assign(self, step: str, matrix: np.ndarray) -> bool:
        """Solve Step 2 or 4 over all valid partitions; False when it left no new partition."""
        builder = getattr(self.settings, step)
        # Scores have no unit; squared distances to centroids do.
        scale = self.scale if step == "step4" else 1.0
        if builder == ROUNDING:
            build = rounding.build_step2 if step == "step2" else rounding.build_step4
            model = build(self.instance, matrix, self.labelling, constraints=self.constraints)
        else:
            arguments = (self.original, matrix * scale, self.labelling)
            model = build_own(builder, step, *arguments, built_in=(ROUNDING,))
            scale = 1.0
        problem_class = rounding.PROBLEM_CLASS[self.constraints]
        report, outcome = solve_step(
            step, model, self.settings, self.solvers[step], problem_class, self.clock, scale
        )
        self.steps.append(report)
        if outcome.has_solution:
            self.labels = partition_of(model, self.instance, report.solver)
        if outcome.excluded and self.labels is None:
            if is_own(builder):
                refuse_unbounded(outcome, builder)
            # The feasible set of the rounding programs is that of the instance itself.
            self.status = Status.INFEASIBLE
            self.certificate = search_certificate(report, builder if is_own(builder) else None)
        elif outcome.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
            self.status = outcome.status
        return outcome.has_solution and self.status == Status.FEASIBLE


def _rescaled(report: StepReport, scale: float) -> StepReport:
    """The report of a Step 1 solved in other units."""
    return replace(
        report,
        step="step1",
        objective=None if report.objective is None else report.objective * scale,
        bound=None if report.bound is None else report.bound * scale,
    )


def _match(d, anchors, centers):
    """Order the centres so that cluster k gets the one nearest to its anchor."""
    if not anchors:
        return centers
    _, columns = linear_sum_assignment(d[np.ix_(anchors, centers)])
    others = np.setdiff1d(np.arange(len(centers)), columns)
    return [centers[c] for c in (*columns, *others)]


def _refuse_unused(wanted, chosen, classes):
    """Say so when a solver was named that no step uses."""
    if isinstance(wanted, dict):
        unused = [f"{name} for {step}" for step, name in wanted.items() if step not in chosen]
    else:
        names = [wanted] if isinstance(wanted, str) else list(wanted or [])
        unused = [name for name in names if name not in chosen.values()]
    if unused:
        steps = ", ".join(f"{step} needs {c}" for step, c in classes.items())
        raise InputError(f"no step of the pipeline takes solver {unused[0]} ({steps})")
