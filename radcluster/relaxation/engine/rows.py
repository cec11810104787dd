"""Cuts in the form that the kernels take: positions in the flat matrix, coefficients for Y."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from radcluster.relaxation.engine.cuts import Cuts
from radcluster.relaxation.engine.program import Program


class Rows(NamedTuple):
    """The symmetric matrices A_c of the cuts: <A_c, Y> <= 0.

    An entry off the diagonal has half its coefficient, because it occurs twice. Entries on
    conflicts, where Y is 0, have coefficient 0.
    """

    start: np.ndarray
    place: np.ndarray
    coef: np.ndarray
    norm: np.ndarray


def rows_of(cuts: Cuts, program: Program) -> Rows:
    """The rows of the cuts for a program."""
    g, h = cuts.row, cuts.col
    coef = cuts.coef / (program.roots[g] * program.roots[h])
    coef = coef * np.where(g == h, 1.0, 0.5) * ~program.conflicts[g, h]
    square = np.square(coef) * np.where(g == h, 1.0, 2.0)
    norm = np.add.reduceat(square, cuts.start[:-1]) if len(cuts) else np.empty(0)
    return Rows(cuts.start, g * program.n_groups + h, coef, norm)
