"""Many points: each row beside its peer, in a process of its own, with its peak memory.

The stops are simulated: towns of Pareto-distributed size in a square of 60 km, each a normal
cloud of 2 to 5 km, and some stops anywhere. The moons are the paper's imbalanced ones, scaled up.
"""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.table import Table

from radcluster.benchmarks import proven
from radcluster.datasets import two_moons

#: Seconds that the fewest clusters of the stops may take.
MIN_CLUSTERS_SECONDS = 120.0


def stops(n: int, seed: int = 0, towns: int = 30, side: float = 60.0) -> np.ndarray:
    """Simulated delivery stops, in km."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, side, (towns, 2))
    size = rng.pareto(1.2, towns) + 0.3
    width = rng.uniform(2.0, 5.0, towns)
    town = rng.choice(towns, n, p=size / size.sum())
    points = centres[town] + rng.normal(size=(n, 2)) * width[town, None]
    anywhere = rng.random(n) < 0.02
    points[anywhere] = rng.uniform(0, side, (anywhere.sum(), 2))
    return points


def moons(n: int) -> np.ndarray:
    """The paper's moons with n points."""
    return two_moons(n=(n * 85 // 100, n - n * 85 // 100))[0]


def blobs(n: int, dim: int) -> np.ndarray:
    from sklearn.datasets import make_blobs

    return make_blobs(n, dim, centers=20, random_state=0)[0]


def customers(n: int = 5000, dim: int = 12, seed: int = 0) -> np.ndarray:
    """Features of customers on a shell, so that eight clusters stay within a radius of 3."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * np.abs(rng.normal(1.2, 0.3, (n, 1)))


def complete_linkage(points, radius) -> int:
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(None, linkage="complete", distance_threshold=2 * radius)
    return int(model.fit(points).n_clusters_)


def few(points, radius) -> int:
    """Clusters of a verified partition, their number free."""
    from radcluster import Instance
    from radcluster.methods.heuristic.search import fewest_partition
    from radcluster.proof.verify import violations

    labels = fewest_partition(points, radius)
    n_clusters = int(labels.max()) + 1
    assert not violations(Instance(points, n_clusters, radius), labels)
    return n_clusters


def given(points, n_clusters, radius) -> float:
    """Cost of a certified partition into K clusters."""
    from radcluster import Instance, solve

    return solve(Instance(points, n_clusters, radius), method="heuristic").objective


def kmeans(points, n_clusters, batches=False) -> float:
    from sklearn.cluster import KMeans, MiniBatchKMeans

    model = MiniBatchKMeans if batches else KMeans
    return float(model(n_clusters, n_init=1, random_state=0).fit(points).inertia_)


def fewest(points, radius) -> str:
    from radcluster import min_clusters

    found = min_clusters(points, radius, time_limit=MIN_CLUSTERS_SECONDS)
    gap = found.n_clusters / found.lower_bound - 1
    return f"{found.n_clusters} >= {found.lower_bound} ({gap:.1%})"


def spread(points, radius, n_chunks=20) -> str:
    """Clusters of a dask array read from a file by two worker processes, and what these needed."""
    import dask
    import dask.array as da
    from dask import distributed

    from radcluster import RadiusKMeans

    parts = np.array_split(np.arange(len(points)), n_chunks)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, points)
        chunks = [
            da.from_delayed(
                dask.delayed(_read)(str(file), int(part[0]), int(part[-1]) + 1),
                (len(part), points.shape[1]),
                dtype=float,
            )
            for part in parts
        ]
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with (
            distributed.LocalCluster(processes=True, **options) as cluster,
            distributed.Client(cluster) as client,
        ):
            # The fit ends with a check of every diameter, over all chunks.
            model = RadiusKMeans(None, radius=radius).fit(da.concatenate(chunks))
            assert model.max_radius_ <= radius * (1 + 1e-9)
            most = max(client.run(_peak_megabytes).values())
    bound = len(model.certificate_["points"])
    return f"{model.n_clusters_} >= {bound}, {most:.0f} MB per worker"


def _read(file: str, first: int, last: int) -> np.ndarray:
    return np.array(np.load(file, mmap_mode="r")[first:last])


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


#: What a new process is asked: seconds to import, to fit for the first time, and again.
_START_UP = """
import time
start = time.perf_counter()
import radcluster
print(time.perf_counter() - start)
import numpy as np
points = np.random.default_rng(0).random((100, 2))
for _ in range(2):
    start = time.perf_counter()
    radcluster.RadiusKMeans().fit(points)
    print(time.perf_counter() - start)
"""


def start_up(points) -> str:
    """Seconds of a new process, the least of three; kernels are compiled by then."""
    del points
    runs = [
        subprocess.run(
            [sys.executable, "-c", _START_UP], capture_output=True, text=True, check=True
        )
        for _ in range(3)
    ]
    seconds = np.array([run.stdout.split() for run in runs], dtype=float).min(axis=0)
    return "import {:.2f} s, first fit {:.2f} s, next {:.2f} s".format(*seconds)


def _rows():
    """Name, ours, peer: each a function with its arguments; the data are drawn in the child."""
    yield "20,000 moons, r=.05", (few, moons, (20_000,), (0.05,)), complete_linkage
    yield "30,000 stops, 2 km", (few, stops, (30_000,), (1.0,)), complete_linkage
    for n in (10_000, 100_000, 1_000_000):
        yield f"{n:,} moons, r=.05", (few, moons, (n,), (0.05,)), None
    for n in (10_000, 100_000, 1_000_000):
        yield f"{n:,} uniform in the square, r=.05", (few, _square, (n,), (0.05,)), None
    yield "5,000 x 12, K=8, r=3", (given, customers, (), (8, 3.0)), kmeans
    for dim, radius in ((10, 5.6), (50, 8.1)):
        row = (given, blobs, (100_000, dim), (20, radius))
        yield f"100,000 x {dim}, K=20, r={radius}", row, _mini_batches
    yield "min_clusters, 30,000 stops", (fewest, stops, (30_000,), (1.0,)), None
    name = "1,000,000 moons as a dask.array, 20 chunks, 2 workers"
    yield name, (spread, moons, (1_000_000,), (0.05,)), few
    yield "start-up, 100 points", (start_up, _square, (100,), ()), None


def _square(n: int) -> np.ndarray:
    return np.random.default_rng(0).random((n, 2))


def _mini_batches(points, n_clusters, radius) -> float:
    return kmeans(points, n_clusters, batches=True)


def _plain_kmeans(points, n_clusters, radius) -> float:
    return kmeans(points, n_clusters)


def measured(function: Callable, data: Callable, size: tuple, arguments: tuple):
    """Value, seconds, CPU seconds and megabytes of one call in its own process."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(send, function, data, size, arguments))
    child.start()
    send.close()
    try:
        return receive.recv()
    except EOFError:
        return "killed", float("nan"), float("nan"), float("nan")
    finally:
        child.join()


def _child(send, function, data, size, arguments) -> None:
    points = data(*size)
    # Imports and compiled kernels first, for both sides.
    sample = points[:3000, :2] / np.ptp(points[:3000, :2])
    few(sample, 0.05)
    given(sample[:50], 3, 10.0)
    kmeans(sample[:50], 3)
    start, busy = time.perf_counter(), _cpu_seconds()
    value = function(points, *arguments)
    seconds, busy = time.perf_counter() - start, _cpu_seconds() - busy
    send.send((value, seconds, busy, _peak_megabytes()))


def _cpu_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def run(console, only: str = "", proofs: int = proven.INSTANCES) -> None:
    """Print the table: the rows whose names contain ``only``.

    ``proofs`` is the number of small instances on which the heuristic is put beside a proof.
    """
    columns = ("s", "CPU s", "MB")
    table = Table("work", "result", *columns, "peer's result", *columns, "times faster (CPU)")
    for name, (function, data, size, arguments), peer in _rows():
        if only not in name:
            continue
        ours = measured(function, data, size, arguments)
        cells = [name, *_shown(ours)]
        if peer is not None:
            peer = _plain_kmeans if peer is kmeans else peer
            theirs = measured(peer, data, size, arguments)
            cells += [*_shown(theirs), f"{theirs[2] / ours[2]:.1f}"]
        table.add_row(*cells)
        console.print(" | ".join(cells))
    if table.row_count:
        console.print(table)
    if proofs and only in proven.NAME:
        proven.run(console, proofs)


def _shown(outcome) -> list[str]:
    value, seconds, busy, megabytes = outcome
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return [text, f"{seconds:.2f}", f"{busy:.2f}", f"{megabytes:.0f}"]
