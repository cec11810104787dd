"""The restricted master, grown column by column in HiGHS.

minimise sum_t cost_t z_t  subject to  sum_{t: a in t} z_t >= 1 for every group a,
sum_t z_t <= K,  z >= 0. Its duals are the prices lambda_a >= 0 of the groups and sigma >= 0 of
one more cluster. The same program as a Pyomo model, for any LP solver, is in
``models/set_partition.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from radcluster.errors import SolverFailure
from radcluster.methods.colgen.columns import Columns

#: Interior-point iterations after which the simplex method takes over; some fifty are usual.
IPM_ITERATIONS = 300
_GIVEN_UP = (highspy.HighsModelStatus.kUnknown, highspy.HighsModelStatus.kIterationLimit)


@dataclass(frozen=True)
class MasterSolution:
    """Values of the columns; prices of the groups with sigma, the price of a cluster, last."""

    objective: float
    values: np.ndarray
    prices: np.ndarray


class HighsMaster:
    """The restricted master, warm-started from one solve to the next.

    Costs are divided by ``unit``, about one cluster's cost, so that the solver's absolute
    tolerances mean the same on any data. Column 0 is the incumbent as a whole: it covers every
    group, counts as K clusters, and keeps each node of a search feasible at the incumbent's cost.
    """

    name = "highs"

    def __init__(self, n_groups: int, n_clusters: int, unit: float, incumbent: float):
        self.n_groups, self.n_clusters, self.unit = n_groups, n_clusters, unit
        self._upper = np.empty(0)
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.highs.setOptionValue("ipm_iteration_limit", IPM_ITERATIONS)
        inf = highspy.kHighsInf
        rows = np.arange(n_groups + 1, dtype=np.int32)
        lower = np.r_[np.ones(n_groups), -inf]
        upper = np.r_[np.full(n_groups, inf), float(n_clusters)]
        none = np.empty(0)
        self.highs.addRows(n_groups + 1, lower, upper, 0, 0 * rows, none.astype(np.int32), none)
        whole = np.r_[np.ones(n_groups), float(n_clusters)]
        self.highs.addCol(incumbent / unit, 0.0, inf, len(rows), rows, whole)

    def set_incumbent(self, cost: float) -> None:
        self.highs.changeColCost(0, cost / self.unit)

    def add(self, columns: Columns, costs: np.ndarray) -> None:
        n = len(columns)
        if n == 0:
            return
        # One more entry a column, in the row that counts clusters.
        index = np.insert(columns.members, columns.start[1:], self.n_groups).astype(np.int32)
        start = (columns.start[:-1] + np.arange(n)).astype(np.int32)
        upper = np.full(n, highspy.kHighsInf)
        values = np.ones(len(index))
        self.highs.addCols(
            n, costs / self.unit, np.zeros(n), upper, len(index), start, index, values
        )
        self._upper = np.concatenate([self._upper, upper])

    def allow(self, allowed: np.ndarray) -> None:
        """Admit exactly the columns of this mask (the incumbent always is)."""
        upper = np.where(allowed, highspy.kHighsInf, 0.0)
        changed = np.flatnonzero(upper != self._upper)
        if len(changed):
            self.highs.changeColsBounds(
                len(changed), (changed + 1).astype(np.int32), np.zeros(len(changed)), upper[changed]
            )
        self._upper = upper

    def solve(self, seconds: float = np.inf, *, interior: bool = False) -> MasterSolution | None:
        """Solve; None when the time is up.

        An ``interior`` solution lies amid all optimal ones: its prices are stabler than those of
        a vertex, and it takes no warm start. A vertex has the fewest fractional values.
        """
        warm = not interior and self.highs.getBasis().valid
        self.highs.setOptionValue("run_crossover", "off" if interior else "on")
        status = self._run("simplex" if warm else "ipm", seconds)
        if status in _GIVEN_UP:
            status = self._run("simplex", seconds)
        if status == highspy.HighsModelStatus.kTimeLimit:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverFailure(f"restricted master: {self.highs.modelStatusToString(status)}")
        solution = self.highs.getSolution()
        duals = np.array(solution.row_dual) * self.unit
        return MasterSolution(
            objective=self.highs.getObjectiveValue() * self.unit,
            values=np.array(solution.col_value)[1:],
            prices=np.maximum(np.r_[duals[:-1], -duals[-1]], 0.0),
        )

    def _run(self, method: str, seconds: float) -> highspy.HighsModelStatus:
        self.highs.setOptionValue("solver", method)
        # HiGHS counts from its first run.
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
        return self.highs.getModelStatus()
