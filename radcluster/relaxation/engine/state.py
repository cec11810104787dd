"""Where the method stands, and how that starts another program.

The other program has more conflicts, or groups merged.

In the scale of points, Z_gh of merged groups is the mean of what they had, weighted, and
s_g s_h L_gh is the sum, as for the costs: then <L, Y> is the same for every Y that is constant on
the merged groups, so little of the bound is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from radcluster.relaxation.engine.cuts import Cuts
from radcluster.relaxation.engine.program import Program


@dataclass
class State:
    """Where the method stands; everything that a later start can use."""

    w: np.ndarray
    dual: np.ndarray
    cuts: Cuts
    rho: float

    @classmethod
    def cold(cls, program: Program) -> State:
        n, k = program.n_groups, program.n_clusters
        w = np.outer(program.unit, program.unit) * (1 - (k - 1) / (n - 1))
        w[np.diag_indices(n)] += (k - 1) / (n - 1)
        return cls(w, program.cost.copy(), Cuts.none(), max(0.1 * n / k, 1.0))


def carried(state: State, old: Program, new: Program) -> State:
    """The state of ``old`` for ``new``, which merges groups of it or adds conflicts."""
    first = np.unique(old.group_of, return_index=True)[1]
    group_of = new.group_of[first]
    unit = old.scale / new.scale
    c = state.cuts
    if new.n_groups == old.n_groups:
        cuts = Cuts(c.start, c.row, c.col, c.coef, c.multiplier * unit)
        return State(state.w.copy(), state.dual * unit, cuts, state.rho * unit)
    member = csr_array((np.ones(old.n_groups), (group_of, np.arange(old.n_groups))))
    s, t = np.outer(old.roots, old.roots), np.outer(new.roots, new.roots)
    # s_g s_h Z_gh is Y_gh, and a weighted mean of Z is the sum of w_g w_h Z_gh over the weights.
    w = (member @ (member @ (state.w * s)).T) / t
    dual = (member @ (member @ (state.dual * s)).T) / t * unit
    renamed = c.renamed(group_of)
    cuts = Cuts(renamed.start, renamed.row, renamed.col, renamed.coef, renamed.multiplier * unit)
    return State(w, dual, cuts, state.rho * unit)
