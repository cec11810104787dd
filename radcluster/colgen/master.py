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


@dataclass(frozen=True)
class MasterSolution:
    objective: float
    values: np.ndarray
    prices: np.ndarray
    sigma: float


class HighsMaster:
    """The restricted master on ``n_groups`` rows."""

    name = "highs"

    def __init__(self, n_groups: int, n_clusters: int):
        self.n_groups = n_groups
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        inf = highspy.kHighsInf
        empty = np.empty(0, dtype=np.int32)
        lower = np.r_[np.ones(n_groups), -inf]
        upper = np.r_[np.full(n_groups, inf), float(n_clusters)]
        self.highs.addRows(
            n_groups + 1, lower, upper, 0, np.zeros(n_groups + 1, dtype=np.int32), empty, []
        )

    @property
    def n_columns(self) -> int:
        return self.highs.getNumCol()

    def add(self, columns, costs) -> None:
        """Add columns, each an array of groups."""
        rows = [np.append(column, self.n_groups) for column in columns]
        sizes = np.array([len(row) for row in rows])
        start = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        index = np.concatenate(rows).astype(np.int32)
        n = len(rows)
        upper = np.full(n, highspy.kHighsInf)
        self.highs.addCols(
            n, np.asarray(costs, float), np.zeros(n), upper, len(index), start, index,
            np.ones(len(index)),
        )  # fmt: skip

    def solve(self) -> MasterSolution:
        self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise SolverFailure(f"restricted master: {self.highs.getModelStatus()}")
        solution = self.highs.getSolution()
        duals = np.array(solution.row_dual)
        return MasterSolution(
            objective=self.highs.getObjectiveValue(),
            values=np.array(solution.col_value),
            prices=np.maximum(duals[:-1], 0.0),
            sigma=max(-float(duals[-1]), 0.0),
        )
