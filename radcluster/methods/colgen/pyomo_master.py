"""The restricted master through Pyomo, for any LP solver by name.

The models are those of ``models/set_partition.py``. They are rebuilt for each solve, and prices
come from the dual program rather than from the solver's multipliers, so that a solver which
reports none will do. That is slower than the ``HighsMaster`` of ``master.py``, and says the same.
"""

from __future__ import annotations

import numpy as np

from radcluster.errors import SolverFailure
from radcluster.methods.colgen.columns import Columns
from radcluster.methods.colgen.master import MasterSolution
from radcluster.models import set_partition
from radcluster.solvers.mip import solve_model
from radcluster.solvers.options import Options


class PyomoMaster:
    """A restricted master with the interface of ``HighsMaster``."""

    def __init__(self, n_groups: int, n_clusters: int, unit: float, incumbent: float, name: str):
        self.n_groups, self.n_clusters, self.unit, self.name = n_groups, n_clusters, unit, name
        self.incumbent = incumbent
        self.columns: list[list[int]] = []
        self.costs: list[float] = []
        self.allowed = np.empty(0, dtype=bool)

    def set_incumbent(self, cost: float) -> None:
        self.incumbent = cost

    def add(self, columns: Columns, costs: np.ndarray) -> None:
        self.columns += [columns[t].tolist() for t in range(len(columns))]
        self.costs += (costs / self.unit).tolist()
        self.allowed = np.append(self.allowed, np.ones(len(columns), dtype=bool))

    def allow(self, allowed: np.ndarray) -> None:
        """Admit exactly the columns of this mask (the incumbent always is)."""
        self.allowed = allowed

    def solve(self, seconds: float = np.inf, *, interior: bool = False) -> MasterSolution | None:
        """Solve; None when the time is up. Whether the solution is a vertex is up to the solver."""
        used = np.flatnonzero(self.allowed)
        data = (
            [self.columns[t] for t in used],
            [self.costs[t] for t in used],
            self.n_groups,
            self.n_clusters,
        )
        incumbent = self.incumbent / self.unit
        master = set_partition.build_master(*data, incumbent=incumbent)
        prices = set_partition.build_prices(*data, incumbent=incumbent)
        options = Options(time_limit=seconds if np.isfinite(seconds) else None)
        for model in (master, prices):
            outcome = solve_model(model, self.name, options, problem_class="LP")
            if outcome.status == "time_limit":
                return None
            if not outcome.has_solution:
                raise SolverFailure(f"restricted master: {self.name} says {outcome.message}")
        values = np.zeros(len(self.columns))
        values[used] = [master.z[t].value for t in master.COLUMNS]
        duals = np.array([*(prices.lam[i].value for i in prices.POINTS), prices.sigma.value])
        return MasterSolution(
            objective=float(outcome.objective) * self.unit,
            values=values,
            prices=np.maximum(duals, 0.0) * self.unit,
        )
