"""Two alternating projections with multipliers, and cuts added as they are violated.

The relaxation is split as Y = W: Y satisfies Y u = u, tr Y = K, 0 <= Y <= I; W >= 0, 0 on
conflicts, and the cuts. With the multiplier L of Y = W and a penalty rho > 0,

    Y = uu' + Q diag(x) Q'   Q the eigenvectors of P (W - L / rho) P on the complement of u, x its
                             eigenvalues projected onto {0 <= x <= 1, sum x = K - 1}
    W = max(T, floor)        T = Y - (C - L + A*mu) / rho, mu >= 0 from sweeps over the cuts
    L = L + step rho (Y - W)

Every few iterations L and mu give a bound (:mod:`radcluster.relaxation.engine.bound`) that holds
whatever the accuracy.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import numpy as np

from radcluster.clock import Clock
from radcluster.relaxation.engine import kernels
from radcluster.relaxation.engine.bound import SafeBound, safe_bound
from radcluster.relaxation.engine.cuts import Cuts
from radcluster.relaxation.engine.program import Program
from radcluster.relaxation.engine.projection import spectral_factor
from radcluster.relaxation.engine.rows import Rows, rows_of
from radcluster.relaxation.engine.separation import KINDS, separate
from radcluster.relaxation.engine.state import State, carried

#: Length of the multiplier step; up to 1.618 the method converges.
STEP = 1.6
SWEEPS = 3
#: Iterations between bounds, and at most and at least between rounds of cuts.
CHECK = 25
ROUND_MOST = 250
ROUND_LEAST = 50
#: rho changes by this factor when the residuals differ by the second.
RHO_FACTOR = 1.4
RHO_IMBALANCE = 4.0
#: Violations below this part of Z_ii are left alone, at first and in the end.
COARSEST = 1e-3
FINEST = 1e-5
#: A round of cuts comes early once the residuals are below this.
ACCURATE = 1e-3
#: At most this many triangles are added at a time, per group.
CUTS_PER_GROUP = 10
#: Checks over which the gain is measured.
SLOW = 6


class Engine:
    """The method on one program, resumable.

    Attributes
    ----------
    bound : float
        The best safe bound so far.
    y : array (n, n)
        The last Y, which is psd with the right sums; entries may be slightly negative.
    residual : float
        |Y - W| / |Y| and rho |W - W before| / |C|, the larger.
    """

    def __init__(
        self,
        program: Program,
        state: State | None = None,
        kinds: Collection[str] = KINDS,
    ):
        self.kinds = kinds
        self.bound = -np.inf
        self.iterations = 0
        self.residual = np.inf
        self._load(program, State.cold(program) if state is None else state)

    def _load(self, program: Program, state: State) -> None:
        self.program, self._state = program, state
        self.rows: Rows = rows_of(state.cuts, program)
        self.mu = state.cuts.multiplier.copy()
        self.y = state.w
        self._work = np.empty_like(state.w)
        self._size = float(np.linalg.norm(program.cost))
        self._rank = program.n_groups

    @property
    def state(self) -> State:
        """Where the method stands; it changes with the next iteration."""
        s, c = self._state, self._state.cuts
        return State(s.w, s.dual, Cuts(c.start, c.row, c.col, c.coef, self.mu), s.rho)

    def adopt(self, program: Program) -> None:
        """Go on with a program that merges groups of the present one, or adds conflicts."""
        self._load(program, carried(self.state, self.program, program))

    def iterate(self, count: int, clock: Clock) -> None:
        """At most ``count`` iterations; fewer when the time is up."""
        p, s = self.program, self._state
        for _ in range(count):
            if clock.expired:
                break
            self.y = self._spectral()
            gap, moved = kernels.update(
                self.y, s.dual, p.cost, p.conflicts, p.floor,
                *self.rows, self.mu, s.rho, STEP, SWEEPS, s.w,
            )  # fmt: skip
            self.iterations += 1
            primal = np.sqrt(gap / p.n_clusters)
            dual = s.rho * np.sqrt(moved) / self._size
            self.residual = max(primal, dual)
            if self.iterations % 10 == 0:
                if primal > RHO_IMBALANCE * dual:
                    s.rho *= RHO_FACTOR
                elif dual > RHO_IMBALANCE * primal:
                    s.rho /= RHO_FACTOR

    def _spectral(self) -> np.ndarray:
        p, s = self.program, self._state
        kernels.centred(s.w, s.dual, s.rho, p.unit, 1e3, self._work)
        self._rank, factor = spectral_factor(self._work, p.n_clusters - 1, self._rank)
        basis = np.concatenate([p.unit[:, None], factor], axis=1)
        return basis @ basis.T

    def evaluate(self) -> SafeBound:
        """The bound of the present multipliers; ``bound`` keeps the best."""
        found = safe_bound(self.program, self.rows, self.mu, self._state.dual)
        self.bound = max(self.bound, found.value)
        return found

    def refresh_cuts(self, tolerance: float) -> int:
        """Drop cuts without a multiplier, add the most violated; how many were added."""
        p = self.program
        cuts = self.state.cuts.select(self.mu > 0.0)
        limit = CUTS_PER_GROUP * p.n_groups
        fresh = separate(self.z(), p.conflicts, limit, tolerance, self.kinds)
        self._state.cuts = cuts.joined(fresh)
        self.rows = rows_of(self._state.cuts, p)
        self.mu = self._state.cuts.multiplier.copy()
        return len(fresh)

    def z(self) -> np.ndarray:
        """Y's nonnegative part in the scale of points."""
        p = self.program
        return np.maximum(self.y, 0.0) / np.outer(p.roots, p.roots)


class Watcher(Protocol):
    """Follows a run and decides how far it goes."""

    def cutoff(self) -> float:
        """The bound that suffices."""

    def checked(self, engine: Engine, found: SafeBound) -> bool:
        """Called after every bound; True stops the run. May let the engine adopt a program."""


def run(engine: Engine, clock: Clock, watcher: Watcher, patience: float = np.inf) -> str:
    """Iterate and add cuts until the bound suffices or nothing more is to be gained.

    Parameters
    ----------
    patience : float
        Give up when what is missing exceeds this many times the gain of the last rounds.

    Returns
    -------
    {"closed", "stopped", "time", "solved", "slow"}
    """
    since, tolerance = 0, COARSEST
    history: list[float] = []
    while True:
        engine.iterate(CHECK, clock)
        since += CHECK
        found = engine.evaluate()
        if watcher.checked(engine, found):
            return "stopped"
        missing = watcher.cutoff() - engine.bound
        if missing <= 0.0:
            return "closed"
        if clock.expired:
            return "time"
        history.append(engine.bound)
        if len(history) > SLOW and missing > patience * (engine.bound - history[-SLOW - 1]):
            return "slow"
        if since >= ROUND_MOST or (since >= ROUND_LEAST and engine.residual < ACCURATE):
            added = engine.refresh_cuts(tolerance)
            since = 0
            if added < engine.program.n_groups:
                if tolerance <= FINEST and not added and engine.residual < FINEST:
                    return "solved"
                tolerance = max(tolerance / 4, FINEST)
