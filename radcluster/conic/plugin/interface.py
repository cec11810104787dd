"""The conic solvers behind Pyomo's solver interfaces.

Everything that touches Pyomo's interface classes, which Pyomo calls a preview, is in this file.
"""

from __future__ import annotations

import time
import weakref
from dataclasses import replace
from datetime import UTC, datetime

from pyomo.common.collections import ComponentMap
from pyomo.common.config import ConfigValue, PositiveFloat
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.contrib.solver.common.base import Availability, LegacySolverWrapper, SolverBase
from pyomo.contrib.solver.common.config import SolverConfig
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.solution_loader import NoSolutionSolutionLoader, SolutionLoader
from pyomo.contrib.solver.common.util import NoOptimalSolutionError

from radcluster.conic.backends.memory import Memory
from radcluster.conic.backends.solve import solve_program
from radcluster.conic.compiling.compiler import Compiler
from radcluster.conic.program import ConicProgram, ConicSolution, ConicStatus
from radcluster.solvers import registry
from radcluster.solvers.options import Options

_TERMINATION = {
    ConicStatus.OPTIMAL: TerminationCondition.convergenceCriteriaSatisfied,
    ConicStatus.ALMOST: TerminationCondition.unknown,
    ConicStatus.INFEASIBLE: TerminationCondition.provenInfeasible,
    ConicStatus.UNBOUNDED: TerminationCondition.unbounded,
    ConicStatus.TIME_LIMIT: TerminationCondition.maxTimeLimit,
    ConicStatus.ITERATION_LIMIT: TerminationCondition.iterationLimit,
    ConicStatus.UNKNOWN: TerminationCondition.unknown,
    ConicStatus.ERROR: TerminationCondition.error,
}

#: Statuses whose x is not a point of the model.
_NO_POINT = (
    ConicStatus.INFEASIBLE,
    ConicStatus.UNBOUNDED,
    ConicStatus.UNKNOWN,
    ConicStatus.ERROR,
)


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
    """Solution of a conic program in terms of its Pyomo model.

    Suffixes that import are filled: ``dual`` (of constraints, numbers; of cones, vectors or
    matrices) and ``rc``.
    """

    def __init__(self, model, program: ConicProgram, solution: ConicSolution):
        self._pyomo_model = model
        self.program = program
        self.solution = solution

    def get_number_of_solutions(self) -> int:
        return 1

    def get_vars(self, vars_to_load=None):
        numbers = self.solution.x.tolist()
        values = ComponentMap(zip(self.program.columns, numbers, strict=False))
        return values if vars_to_load is None else _only(values, vars_to_load)

    def get_duals(self, cons_to_load=None):
        duals = self.program.duals(self.solution.z)
        return duals if cons_to_load is None else _only(duals, cons_to_load)

    def get_reduced_costs(self, vars_to_load=None):
        costs = ComponentMap(
            zip(self.program.columns, self.program.reduced_costs(self.solution.z), strict=True)
        )
        return costs if vars_to_load is None else _only(costs, vars_to_load)


def _only(values, wanted):
    return ComponentMap((component, values[component]) for component in wanted)


class _NoSolution(NoSolutionSolutionLoader):
    """Without a solution there is nothing to load but a ray.

    Of an infeasible model, an importing suffix ``dual_ray`` gets the multipliers of constraints
    and cones that show it; of an unbounded one, ``primal_ray`` the direction of the variables.
    """

    def __init__(self, model, program: ConicProgram | None, solution: ConicSolution, message: str):
        super().__init__(model, message)
        self.program = program
        self.solution = solution

    def load_import_suffixes(self):
        suffixes = self._collect_and_clear_import_suffixes()
        status, solution = self.solution.status, self.solution
        if self.program is None:
            return
        if status == ConicStatus.INFEASIBLE and solution.z is not None and "dual_ray" in suffixes:
            suffixes["dual_ray"].update(self.program.duals(solution.z))
        if status == ConicStatus.UNBOUNDED and "primal_ray" in suffixes:
            direction = zip(self.program.columns, solution.x.tolist(), strict=False)
            suffixes["primal_ray"].update(ComponentMap(direction))


class ConicSolver(SolverBase):
    """Linear constraints, cones and convex quadratic objectives, by a conic solver of some name.

    ``SolverFactory("clarabel", tolerance=1e-6).solve(model, tee=True, timelimit=60)``; the
    solver's own options go under ``options``. The status is Pyomo's ``optimal`` only when the
    solver met its tolerance, and ``infeasible`` or ``unbounded`` only with a ray that was checked.

    One solver object that solves the same model again keeps what it compiled: only parameters,
    fixed values and what was added are read anew. Clarabel is updated in place when the structure
    is the same, and SCS starts from the last solution.
    """

    CONFIG = ConicConfig()

    def __init__(self, **kwds):
        super().__init__(**kwds)
        self._model = None
        self._compiler: Compiler | None = None
        self._memory = Memory()

    def available(self) -> Availability:
        info = registry.get(self.name)
        if info.obstacle is None:
            return Availability.FullLicense
        return Availability.BadLicense if info.installed else Availability.NotFound

    def version(self) -> tuple:
        version = registry.get(self.name).version or ""
        return tuple(int(part) for part in version.split(".") if part.isdigit())

    def _compiled_before(self, model) -> Compiler:
        """The compiler of this model, which remembers it."""
        if self._model is None or self._model() is not model:
            self._model = weakref.ref(model)
            inline = not registry.get(self.name).conic.own_columns
            self._compiler, self._memory = Compiler(model, inline=inline), Memory()
        return self._compiler

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
        start = compiled = time.perf_counter()
        try:
            program = self._compiled_before(model).compile()
            compiled = time.perf_counter()
        except InfeasibleConstraintException as error:
            program = None
            solution = ConicSolution(ConicStatus.INFEASIBLE, None, None, str(error))
        else:
            solution = solve_program(program, self.name, options, config.tolerance, self._memory)
            if lacking := registry.get(self.name).lacking(options):
                solution = replace(solution, message=f"{solution.message}; {lacking}")
        results = self._results(model, program, solution)
        results.solver_config = config
        timing = results.timing_info
        timing.start_timestamp = started
        timing.wall_time = time.perf_counter() - start
        timing.compile_time = compiled - start
        timing.solver_time = solution.seconds
        if solution.status != ConicStatus.OPTIMAL and config.raise_exception_on_nonoptimal_result:
            raise NoOptimalSolutionError(f"{self.name}: {solution.message}")
        if config.load_solutions:
            if results.solution_loader.get_number_of_solutions():
                results.solution_loader.load_solution()
            else:
                results.solution_loader.load_import_suffixes()
        return results

    def _results(self, model, program, solution) -> Results:
        results = Results()
        results.solver_name = self.name
        results.solver_version = self.version()
        results.termination_condition = _TERMINATION[solution.status]
        results.extra_info.message = solution.message
        results.extra_info.iteration_count = solution.iterations
        results.extra_info.updated_in_place = self._memory.reused
        if solution.x is None or solution.z is None or solution.status in _NO_POINT:
            message = f"{self.name}: {solution.message}"
            results.solution_loader = _NoSolution(model, program, solution, message)
            results.solution_status = SolutionStatus.noSolution
            return results
        results.solution_loader = ConicSolutionLoader(model, program, solution)
        exact = solution.status == ConicStatus.OPTIMAL
        results.solution_status = SolutionStatus.optimal if exact else SolutionStatus.unknown
        results.incumbent_objective = program.objective(solution.x)
        results.extra_info.primal_objective = results.incumbent_objective
        results.extra_info.dual_objective = program.dual_objective(solution.x, solution.z)
        return results


class LegacyConicSolver(LegacySolverWrapper, ConicSolver):
    """The same behind ``pyomo.environ.SolverFactory``."""

    def _map_results(self, model, results):
        legacy, solution = super()._map_results(model, results)
        legacy.solver.message = results.extra_info.message
        legacy.solver.termination_message = results.extra_info.message
        legacy.solver.wallclock_time = results.timing_info.wall_time
        if results.incumbent_objective is not None:
            legacy.solver.primal_objective = results.extra_info.primal_objective
            legacy.solver.dual_objective = results.extra_info.dual_objective
        # For safe_bound(model, results).
        legacy._loader = results.solution_loader
        return legacy, solution
