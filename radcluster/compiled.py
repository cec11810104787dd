"""Compiled kernels, kept on disk where that is possible and compiled afresh where it is not.

Numba refuses to import a cached function when no folder can hold its cache, and passes on the
errors of a damaged cache file or a full disk. A cache only saves time, so none of these is an
error here.

Compiling counts as work: it ends with the time limit of the call, and it is announced.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from contextlib import suppress

import numba
from numba.core import event
from numba.core.caching import FunctionCache, NullCache

from radcluster import progress
from radcluster.clock import current_clock
from radcluster.errors import CompilingTimeUp

#: What reading a truncated or garbled cache file can raise.
_DAMAGED = (
    OSError,
    EOFError,
    pickle.UnpicklingError,
    AttributeError,
    ImportError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
)


def _before_compiling() -> None:
    """Called for each kernel, those inside others too: an overrun is one kernel long at most."""
    progress.announce_compiling()
    clock = current_clock()
    if clock is not None and clock.expired:
        raise CompilingTimeUp(
            "the time limit passed while kernels were compiled, which happens once on a machine: "
            "run it again"
        )


class _Stopwatch(event.Listener):
    """Adds up the time spent on compiling, kernels inside others counted once."""

    def __init__(self):
        self.seconds, self._depth, self._start = 0.0, 0, 0.0

    def on_start(self, event):
        if self._depth == 0:
            self._start = time.perf_counter()
        self._depth += 1

    def on_end(self, event):
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._start


_STOPWATCH = _Stopwatch()
event.register("numba:compile", _STOPWATCH)


def seconds_compiling() -> float:
    """Seconds that this process has spent on compiling so far."""
    return _STOPWATCH.seconds


class _NoCache(NullCache):
    """Where no folder can hold a cache, and for what is kept inside of another kernel."""

    def load_overload(self, sig, target_context):
        _before_compiling()


class _ForgivingCache(FunctionCache):
    """Numba's cache of one function, in which what cannot be read is as good as not there."""

    def load_overload(self, sig, target_context):
        try:
            found = super().load_overload(sig, target_context)
        except _DAMAGED:
            with suppress(OSError):
                self.flush()
            found = None
        if found is None:
            _before_compiling()
        return found

    def save_overload(self, sig, data):
        with suppress(*_DAMAGED):
            super().save_overload(sig, data)


def kernel(function: Callable | None = None, *, cached: bool = True, **options):
    """``numba.njit`` with a cache that never fails; takes the options of ``njit``.

    ``cached=False`` is for what only other kernels call: it is kept as a part of these.

    Examples
    --------
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    if function is None:
        return lambda function: kernel(function, cached=cached, **options)
    # Division as NumPy does it: no check in front of each, so less to compile.
    dispatcher = numba.njit(**{"error_model": "numpy", **options})(function)
    if not numba.config.DISABLE_JIT:
        try:
            dispatcher._cache = _ForgivingCache(function) if cached else _NoCache()
        except RuntimeError:  # no folder can hold the cache
            dispatcher._cache = _NoCache()
    return dispatcher
