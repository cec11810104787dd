"""Processes of a run, which end with it whatever ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from radcluster.errors import Terminated


@contextmanager
def ended_with_us(jobs: int) -> Iterator[None]:
    """Let an interrupt, SIGTERM and any error end the workers, too."""
    if jobs == 1 or threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number, frame):
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except BaseException:
        # A second signal must not stop us from ending the workers.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _end_workers()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _end_workers() -> None:
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)
