"""Options that mean the same to every solver, and a pass-through for those that do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Options:
    """Neutral solver options.

    Attributes
    ----------
    time_limit : float or None
        Seconds.
    rel_gap : float
        Stop when (incumbent - bound) / incumbent is at most this; for conic solvers, the
        tolerance is set separately through ``native``.
    threads, seed : int or None
        None leaves the solver's own default.
    verbose : bool
        Show the solver's log.
    native : mapping
        Options by the solver's own names, handed over as they are.
    start : bool
        Start from the values that the discrete variables have, where the solver can.
    """

    time_limit: float | None = None
    rel_gap: float = 1e-6
    threads: int | None = None
    seed: int | None = None
    verbose: bool = False
    native: Mapping[str, Any] = field(default_factory=dict)
    start: bool = False
