"""Formulation by solver: every pair run for real, and what came out.

Nine points in three clusters of three, whose optimum is known, are handed to each formulation with
each solver that can take it; to the cover eleven points that no clique or weights settle. All three
relaxations are tight on the nine, so every cell has the same value. A cell records whether

- the *value* is right (to 1e-9 for partitions, 1e-3 for relaxations, which are solved inexactly),
- the *status* is the one that the value deserves,
- the *bound* is not above the optimum, and within 1e-3 of it,
- a time *limit* of 1 s on a larger instance ends the run within 2.1 s,
- *seed* and *threads* are accepted or refused (``ok`` says that the run did not fail with them, not
  that they change it; conic solvers ignore a seed),
- an *option* that the solver does not have is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

import numpy as np

from radcluster.api import solve
from radcluster.errors import InputError, SolverFailure, SolverUnavailable
from radcluster.feasibility.min_clusters import fewest_clusters
from radcluster.graph.conflicts import analyse
from radcluster.problem.instance import Instance
from radcluster.relaxation.sdp import solve_sdp
from radcluster.solvers.options import Options
from radcluster.solvers.record import SolverInfo
from radcluster.solvers.registry import SOLVERS

OPTIMUM = 2.9133333333333327
FEWEST = 4
LIMIT = 1.0
#: The rule that a limit of S seconds is kept: the run ends by 1.1 S + 1.
LATEST = 1.1 * LIMIT + 1.0
#: Other programs may delay a run: the quickest of so many counts.
TRIES = 3
OK, REFUSED = "ok", "refused"


def small() -> Instance:
    """The instance with a known optimum."""
    triangles = [[0, 0], [1, 0], [0.4, 0.9], [2.2, 0.3], [3, 0], [2.7, 1.1]]
    points = [*triangles, [1.3, 2.6], [0.5, 2.9], [1.6, 3.3]]
    return Instance(np.array(points, dtype=float), 3, 1.05)


def eleven() -> Instance:
    """Eleven points kept apart as in Groetzsch's graph: four clusters, by search alone.

    No three of them are mutually apart, and weights prove no more than three clusters.
    """
    ring = [(i, (i + 1) % 5) for i in range(5)]
    shadows = [(5 + i, j) for i in range(5) for j in ((i + 1) % 5, (i - 1) % 5)]
    return Instance(
        np.zeros((11, 1)), 1, cannot_link=[*ring, *shadows, *((5 + i, 10) for i in range(5))]
    )


def larger() -> Instance:
    """One that takes most solvers longer than the limit."""
    points = np.random.default_rng(0).uniform(size=(28, 2))
    return Instance(points, 6, 0.45)


@dataclass(frozen=True)
class Found:
    """What one run of a formulation gave."""

    value: float
    status: str
    bound: float


@dataclass(frozen=True)
class Cell:
    """One formulation with one solver. Every entry is ``ok``, ``refused`` or what went wrong."""

    formulation: str
    solver: str
    version: str = "-"
    value: str = "-"
    status: str = "-"
    bound: str = "-"
    limit: str = "-"
    seed: str = "-"
    threads: str = "-"
    option: str = "-"
    missing: str = ""

    @property
    def holds(self) -> bool:
        """Whether everything came out as it should."""
        right = (self.value, self.status, self.bound, self.limit) == (OK,) * 4
        taken = all(entry in (OK, REFUSED) for entry in (self.seed, self.threads))
        return right and taken and self.option == REFUSED


def _by_method(method: str, **settings) -> Callable:
    def run(instance, solver, options) -> Found:
        found = solve(instance, method, solver, **settings, **options)
        return Found(found.objective, found.status, found.lower_bound)

    return run


def _cover(instance, solver, options) -> Found:
    allowed = {key: options.pop(key) for key in ("time_limit",) if key in options}
    if options:
        raise InputError(f"min-clusters has no option {min(options)}")
    asked = instance.replace(n_clusters=1) if allowed else eleven()
    found = fewest_clusters(asked, solver=solver, **allowed)
    if not allowed and found.certificate.get("solver") != solver:
        raise SolverFailure(f"{solver} was not asked: {found.certificate}")
    # In the terms of the others: the optimum when the number is right.
    scale = OPTIMUM / FEWEST
    return Found(found.n_clusters * scale, found.status, found.lower_bound * scale)


def _relaxed(form: str) -> Callable:
    def run(instance, solver, options) -> Found:
        native = options.pop("native", {}).get(solver, {})
        labelling = analyse(instance).labelling
        found = solve_sdp(
            instance, labelling, form=form, solver=solver, options=Options(native=native, **options)
        )
        return Found(found.report.objective, found.report.status, found.report.bound)

    return run


#: Each formulation: the class of program it is, and how to run it with a solver.
FORMULATIONS: dict[str, tuple[str, Callable]] = {
    "milp:linear": ("MILP", _by_method("milp")),
    "milp:verbatim": ("MINLP", _by_method("minlp")),
    "rounding": ("MILP", _by_method("pipeline", step1="kcenter")),
    "kcenter:exact": ("MILP", _by_method("pipeline", step1="kcenter:exact")),
    "cover": ("MILP", _cover),
    "set_partition": ("LP", _by_method("colgen")),
    "sdp:perspective": ("SDP", _relaxed("perspective")),
    "sdp:peng_wei": ("SDP", _relaxed("peng_wei")),
    "sdp:paper": ("SDP", _relaxed("paper")),
}
#: Formulations that give a partition without a bound of their own.
WITHOUT_BOUND = ("rounding", "kcenter:exact")


def pairs() -> list[tuple[str, str]]:
    """The cells: each formulation with each solver that takes its class of program."""
    return [
        (formulation, info.name)
        for formulation, (problem_class, _) in FORMULATIONS.items()
        for info in SOLVERS.values()
        if problem_class in info.classes and formulation in (info.only or (formulation,))
    ]


def cell(formulation: str, solver: str) -> Cell:
    """Run one formulation with one solver, several times."""
    info = SOLVERS[solver]
    if info.obstacle:
        return Cell(formulation, solver, missing=info.obstacle)
    run = FORMULATIONS[formulation][1]
    value, status, bound = _answers(formulation, run, solver)
    return Cell(
        formulation,
        solver,
        info.version or "-",
        value,
        status,
        bound,
        _limit(run, solver),
        _taken(run, solver, {"seed": 1}),
        _taken(run, solver, {"threads": 1}),
        _taken(run, solver, {"native": {solver: {"no_such_option": 1}}}),
    )


def _answers(formulation: str, run: Callable, solver: str) -> tuple[str, str, str]:
    try:
        found = run(small(), solver, {})
    except (SolverFailure, SolverUnavailable, InputError) as error:
        return (str(error)[:60], "-", "-")
    tolerance = 1e-3 if formulation.startswith("sdp:") else 1e-9
    value = OK if abs(found.value - OPTIMUM) <= tolerance * OPTIMUM else f"{found.value:.9g}"
    if formulation in WITHOUT_BOUND:
        status = OK if found.status == "feasible" else str(found.status)
        return value, status, OK if found.bound == 0.0 else f"{found.bound:.9g}"
    status = OK if found.status in ("optimal", "almost") else str(found.status)
    right_side = (1 - 1e-3) * OPTIMUM <= found.bound <= OPTIMUM * (1 + 1e-12)
    return value, status, OK if right_side else f"{found.bound:.12g}"


def _limit(run: Callable, solver: str) -> str:
    seconds = []
    while len(seconds) < TRIES and min(seconds, default=LATEST + 1.0) > LATEST:
        start = time.perf_counter()
        try:
            run(larger(), solver, {"time_limit": LIMIT})
        except InputError as error:
            # A solver without limits says so; another error is one.
            return OK if "time_limit" in str(error) else str(error)[:60]
        except (SolverFailure, SolverUnavailable):
            pass  # a limit may leave nothing
        seconds.append(time.perf_counter() - start)
    return OK if min(seconds) <= LATEST else f"{min(seconds):.1f} s"


def _taken(run: Callable, solver: str, options: dict) -> str:
    try:
        run(small(), solver, options)
    except InputError:
        return REFUSED
    except SolverFailure as error:
        return str(error)[:60]
    return OK


def matrix(chosen: Iterable[tuple[str, str]] | None = None) -> list[Cell]:
    """All cells, or the chosen pairs of formulation and solver."""
    return [cell(*pair) for pair in (pairs() if chosen is None else chosen)]


def without_a_row() -> list[SolverInfo]:
    """Solvers that no formulation is run with."""
    with_row = {solver for _, solver in pairs()}
    return [info for info in SOLVERS.values() if info.name not in with_row]


def to_markdown(cells: Iterable[Cell]) -> str:
    """The matrix as a table."""
    names = [field.name for field in fields(Cell) if field.name != "missing"]
    lines = [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    for one in cells:
        entries = [str(getattr(one, name)) for name in names]
        if one.missing:
            entries = [one.formulation, one.solver, one.missing.split(":")[0]]
            entries += [""] * (len(names) - len(entries))
        lines.append(f"| {' | '.join(entries)} |")
    return "\n".join(lines) + "\n"
