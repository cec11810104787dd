"""One clock for a whole call: what a time limit leaves, read by everything that may take long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Seconds. A longer limit is none: solvers and threads do not take any number.
FOREVER = 1e8


class Clock:
    """Time since the start, and what a limit leaves of it."""

    def __init__(self, limit: float | None):
        self.limit = None if limit is None or limit > FOREVER else limit
        self._cancelled = False
        self.restart()

    def restart(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, never below a small positive number; None without a limit."""
        if self._cancelled:
            return 0.01
        return None if self.limit is None else max(self.limit - self.seconds, 0.01)

    @property
    def expired(self) -> bool:
        return self._cancelled or (self.limit is not None and self.seconds >= self.limit)

    def within(self, seconds: float) -> Clock:
        """A clock that ends after so many seconds from now, or with this one."""
        left = None if self.limit is None else self.limit - self.seconds
        if self._cancelled:
            left = 0.0
        return Clock(seconds if left is None else min(seconds, left))

    def cancel(self) -> None:
        """Let everything that reads this clock end as if the time were up."""
        self._cancelled = True


_CURRENT: ContextVar[Clock | None] = ContextVar("clock", default=None)


@contextmanager
def watched(clock: Clock) -> Iterator[None]:
    """Within this, work that is handed no clock can still read it: compiling does."""
    token = _CURRENT.set(clock)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_clock() -> Clock | None:
    """The clock of the call that is running, if any."""
    return _CURRENT.get()
