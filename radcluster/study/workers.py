"""Where the tasks of a run are computed: here, in processes of this machine, or on a Dask cluster.

A worker that dies takes its task with it, not the run: the task is started again. A task that
kills its worker every time is given up after a few attempts.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from radcluster.errors import InputError, SolverFailure

Row = dict[str, object]
#: How often tasks are started again after a worker has died.
ATTEMPTS = 3
#: Seconds in which a scheduler must answer.
PATIENCE = 10

_scheduler: ContextVar[str | None] = ContextVar("scheduler", default=None)


@contextmanager
def on_cluster(address: str | None):
    """Within this context, runs go to the Dask scheduler at an address; None changes nothing."""
    token = _scheduler.set(address)
    try:
        yield
    finally:
        _scheduler.reset(token)


def results(function: Callable[..., Row], tasks: Sequence[Row], n_jobs: int = 1) -> Iterator[Row]:
    """Rows of the tasks as they are finished, in any order."""
    address = _scheduler.get()
    if address is not None:
        yield from _on_dask(function, tasks, address)
    elif n_jobs == 1:
        yield from (one(function, task) for task in tasks)
    else:
        yield from _in_processes(function, tasks, n_jobs)


def one(function, task: Row) -> Row:
    """The row of one task."""
    return task | function(**task)


def _numbered(function, number, task):
    return number, one(function, task)


def _in_processes(function, tasks, n_jobs):
    left = dict(enumerate(tasks))
    for attempt in range(ATTEMPTS + 1):
        found = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(_numbered)(function, number, task) for number, task in left.copy().items()
        )
        try:
            for number, row in found:
                del left[number]
                yield row
            return
        except TerminatedWorkerError as error:
            if attempt == ATTEMPTS:
                raise SolverFailure(
                    f"workers keep dying; {len(left)} tasks are left: {error}"
                ) from None


def _on_dask(function, tasks, address):
    require_dask("a scheduler")
    from distributed import KilledWorker, as_completed

    with _client(address) as client:
        # Sent once, as the result of a task: when the worker that holds it dies, it is made again.
        shared = client.submit(_same, function, pure=False)
        futures = [client.submit(one, shared, task, pure=False, retries=ATTEMPTS) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except KilledWorker as error:
            raise SolverFailure(f"a task keeps killing its worker: {error}") from None
        finally:
            client.cancel(futures)


def _same(function):
    return function


def _client(address):
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the Dask scheduler at {address} does not answer within {PATIENCE} s: {error}"
        ) from None


def require_dask(what: str, module: str = "distributed") -> None:
    """Refuse, with what to install, what needs the optional packages."""
    if importlib.util.find_spec(module) is None:
        raise InputError(f"{what} needs {module}: pip install 'radcluster[dask]'")
