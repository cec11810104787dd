"""What one solve leaves for the next: the solver with its structure, and a starting point."""

from __future__ import annotations

from typing import Any

import numpy as np

from radcluster.conic.program import ConicProgram, ConicSolution, ConicStatus


class Memory:
    """Kept by whoever solves a model again and again.

    Attributes
    ----------
    held : object or None
        What the backend wants to keep: the solver's own object and the data it was made from.
    reused : bool
        Whether the last solve updated the solver in place.
    unit : float
        Of the objective that the solver is handed.
    """

    def __init__(self) -> None:
        self.held: Any = None
        self.reused = False
        self.unit = 1.0
        self._last: tuple[ConicProgram, np.ndarray, np.ndarray] | None = None

    def remember(self, program: ConicProgram, solution: ConicSolution) -> None:
        """Keep a solution as the next start."""
        good = solution.status in (ConicStatus.OPTIMAL, ConicStatus.ALMOST)
        if good and solution.x is not None and solution.z is not None:
            self._last = (program, solution.x, solution.z)

    def start(self, program: ConicProgram) -> tuple[np.ndarray, np.ndarray] | None:
        """Point and multipliers of the last solution, for a program that may have other rows.

        Columns and rows are found again by what they came from; new ones start at zero.
        """
        if self._last is None:
            return None
        before, x, z = self._last
        found = dict(zip(_column_keys(before), x.tolist(), strict=True))
        point = np.array([found.get(key, 0.0) for key in _column_keys(program)])
        known = dict(zip(_row_keys(before), z.tolist(), strict=False))
        multipliers = np.zeros_like(program.b)
        multipliers[: program.n_linear] = [known.get(key, 0.0) for key in _row_keys(program)]
        parts = {id(c.source): s for c, s in zip(before.cones, before.cone_slices(), strict=True)}
        for cone, part in zip(program.cones, program.cone_slices(), strict=True):
            old = parts.get(id(cone.source))
            if old is not None and old.stop - old.start == cone.size:
                multipliers[part] = z[old]
        return point, multipliers / self.unit


def _column_keys(program: ConicProgram) -> list:
    own = range(len(program.c) - len(program.columns))
    return [*map(id, program.columns), *(("own", number) for number in own)]


def _row_keys(program: ConicProgram) -> list:
    columns = program.columns
    return [
        (id(columns[source]), "bound", direction)
        if isinstance(source, int)
        else (id(source), direction)
        for source, direction in program.rows
    ]
