"""The conic solvers behind Pyomo's solver interface.

Everything that touches Pyomo's interface classes, which Pyomo calls a preview, is in this file.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from pyomo.common.collections import ComponentMap
from pyomo.common.config import ConfigValue, PositiveFloat
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.contrib.solver.common.base import Availability, LegacySolverWrapper, SolverBase
from pyomo.contrib.solver.common.config import SolverConfig
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.solution_loader import NoSolutionSolutionLoader, SolutionLoader
from pyomo.contrib.solver.common.util import NoOptimalSolutionError

from radcluster.solvers import registry
from radcluster.solvers.conic_backends import solve_program
from radcluster.solvers.conic_program import ConicProgram, ConicSolution, compile_model
from radcluster.solvers.options import Options

_TERMINATION = {
    "optimal": TerminationCondition.convergenceCriteriaSatisfied,
    "almost": TerminationCondition.unknown,
    "infeasible": TerminationCondition.provenInfeasible,
    "unbounded": TerminationCondition.unbounded,
    "time_limit": TerminationCondition.maxTimeLimit,
    "iteration_limit": TerminationCondition.iterationLimit,
    "error": TerminationCondition.error,
}


class ConicConfig(SolverConfig):
    """Pyomo's solver options, and the tolerance of a conic solver."""

    def __init__(self, **kwds):
        super().__init__(**kwds)
        self.tolerance = self.declare(
            "tolerance",
            ConfigValue(
                domain=PositiveFloat,
                default=None,
                description="Feasibility and gap at which to stop; None: the solver's own.",
            ),
        )


class ConicSolutionLoader(SolutionLoader):
    """Solution of a conic program in terms of its Pyomo model."""

    def __init__(self, model, program: ConicProgram, solution: ConicSolution):
        self._pyomo_model = model
        self._program = program
        self._solution = solution

    def get_number_of_solutions(self) -> int:
        return 1

    def get_vars(self, vars_to_load=None):
        values = ComponentMap(zip(self._program.columns, self._solution.x.tolist(), strict=True))
        return values if vars_to_load is None else _only(values, vars_to_load)

    def get_duals(self, cons_to_load=None):
        duals = self._program.duals(self._solution.z)
        return duals if cons_to_load is None else _only(duals, cons_to_load)

    def get_reduced_costs(self, vars_to_load=None):
        costs = ComponentMap(
            zip(self._program.columns, self._program.reduced_costs(self._solution.z), strict=True)
        )
        return costs if vars_to_load is None else _only(costs, vars_to_load)


def _only(values, wanted):
    return ComponentMap((component, values[component]) for component in wanted)


class ConicSolver(SolverBase):
    """Linear constraints and Schur blocks, solved by a conic solver of a given name.

    ``SolverFactory("clarabel", tolerance=1e-6).solve(model, tee=True, timelimit=60)``; the
    solver's own options go under ``options``. The status is Pyomo's ``optimal`` only when the
    solver met its tolerance; an answer that it calls inaccurate is ``unknown``.
    """

    CONFIG = ConicConfig()

    def available(self) -> Availability:
        info = registry.get(self.name)
        if info.obstacle is None:
            return Availability.FullLicense
        return Availability.BadLicense if info.installed else Availability.NotFound

    def version(self) -> tuple:
        version = registry.get(self.name).version or ""
        return tuple(int(part) for part in version.split(".") if part.isdigit())

    def solve(self, model, **kwds) -> Results:
        """Solve a model; see :meth:`pyomo.contrib.solver.common.base.SolverBase.solve`."""
        registry.require(self.name, "SDP", f"a model named {model.name}")
        config = self.config(value=kwds, preserve_implicit=True)
        options = Options(
            time_limit=config.time_limit,
            threads=config.threads,
            verbose=bool(config.tee),
            native=config.solver_options.value(),
        )
        started = datetime.now(UTC)
        start = time.perf_counter()
        try:
            program = compile_model(model)
        except InfeasibleConstraintException as error:
            program, solution = None, ConicSolution("infeasible", None, None, str(error))
        else:
            solution = solve_program(program, self.name, options, config.tolerance)
        results = self._results(model, program, solution)
        results.solver_config = config
        results.timing_info.start_timestamp = started
        results.timing_info.wall_time = time.perf_counter() - start
        if solution.status != "optimal" and config.raise_exception_on_nonoptimal_result:
            raise NoOptimalSolutionError(f"{self.name}: {solution.message}")
        if config.load_solutions and results.solution_loader.get_number_of_solutions():
            results.solution_loader.load_solution()
        return results

    def _results(self, model, program, solution) -> Results:
        results = Results()
        results.solver_name = self.name
        results.solver_version = self.version()
        results.termination_condition = _TERMINATION[solution.status]
        results.extra_info.message = solution.message
        usable = solution.x is not None and solution.status not in ("infeasible", "unbounded")
        if not usable or solution.status == "error":
            results.solution_loader = _NoSolution(model, f"{self.name}: {solution.message}")
            results.solution_status = SolutionStatus.noSolution
            return results
        results.solution_loader = ConicSolutionLoader(model, program, solution)
        exact = solution.status == "optimal"
        results.solution_status = SolutionStatus.optimal if exact else SolutionStatus.unknown
        results.incumbent_objective = program.objective(solution.x)
        return results


class _NoSolution(NoSolutionSolutionLoader):
    """Without a solution there is nothing to load, and suffixes are left empty."""

    def load_import_suffixes(self):
        self._collect_and_clear_import_suffixes()


class LegacyConicSolver(LegacySolverWrapper, ConicSolver):
    """The same behind ``pyomo.environ.SolverFactory``."""
