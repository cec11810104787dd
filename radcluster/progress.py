"""What a running search reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from radcluster.result import relative_gap


@dataclass(frozen=True)
class Progress:
    """One line of progress: the incumbent's cost and the lower bound after some iteration."""

    iteration: int
    columns: int
    incumbent: float
    bound: float
    seconds: float
    nodes: int

    @property
    def gap(self) -> float:
        """(incumbent - bound) / incumbent."""
        return relative_gap(self.incumbent, self.bound)


class History:
    """Keeps the reports of a run, and passes each on to the user's own function.

    Of a long run it keeps an even choice: when there are :data:`MOST`, every second one goes, and
    from then on only every second one is kept.

    Examples
    --------
    >>> history = History()
    >>> for i in range(10):
    ...     history(Progress(i, 0, 2.0, 1.0, 0.1 * i, 1))
    >>> len(history.reports), history.reports[-1].iteration
    (10, 9)
    """

    MOST = 400

    def __init__(self, pass_on: Callable[[Progress], None] | None = None):
        self.pass_on = pass_on
        self._kept: list[Progress] = []
        self._stride, self._seen = 1, 0
        self._last: Progress | None = None

    def __call__(self, report: Progress) -> None:
        if self._seen % self._stride == 0:
            self._kept.append(report)
            if len(self._kept) == self.MOST:
                self._kept = self._kept[::2]
                self._stride *= 2
        self._seen += 1
        self._last = report
        if self.pass_on is not None:
            self.pass_on(report)

    @property
    def reports(self) -> tuple[Progress, ...]:
        """What was kept, the last report always among it."""
        if self._last is None or self._kept[-1] is self._last:
            return tuple(self._kept)
        return (*self._kept, self._last)


_ANNOUNCE: ContextVar[Callable[[], None] | None] = ContextVar("announce", default=None)


@contextmanager
def announcing(announce: Callable[[], None]) -> Iterator[None]:
    """Within this, ``announce`` is called once when kernels have to be compiled."""
    token = _ANNOUNCE.set(announce)
    try:
        yield
    finally:
        _ANNOUNCE.reset(token)


def announce_compiling() -> None:
    """Say that kernels are being compiled, the first time only."""
    announce = _ANNOUNCE.get()
    if announce is not None:
        _ANNOUNCE.set(None)
        announce()
