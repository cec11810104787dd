"""Many points: each row beside its peer, in a process of its own, with its peak memory.

The stops are simulated: towns of Pareto-distributed size in a square of 60 km, each a normal
cloud of 2 to 5 km, and some stops anywhere. The moons are the paper's imbalanced ones, scaled up.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable

import numpy as np
from rich.table import Table

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
    start, busy = time.perf_counter(), time.process_time()
    value = function(points, *arguments)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    send.send((value, seconds, busy, memory))


def run(console) -> None:
    """Print the table."""
    columns = ("s", "CPU s", "MB")
    table = Table("work", "result", *columns, "peer's result", *columns, "times faster (CPU)")
    for name, (function, data, size, arguments), peer in _rows():
        ours = measured(function, data, size, arguments)
        cells = [name, *_shown(ours)]
        if peer is not None:
            peer = _plain_kmeans if peer is kmeans else peer
            theirs = measured(peer, data, size, arguments)
            cells += [*_shown(theirs), f"{theirs[2] / ours[2]:.1f}"]
        table.add_row(*cells)
        console.print(" | ".join(cells))
    console.print(table)


def _shown(outcome) -> list[str]:
    value, seconds, busy, megabytes = outcome
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return [text, f"{seconds:.2f}", f"{busy:.2f}", f"{megabytes:.0f}"]
