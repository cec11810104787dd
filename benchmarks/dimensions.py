"""``method="exact"`` in many dimensions: what is proven, by which route, and how fast.

Part of ``radcluster bench exact``. The column "must" is what an earlier prototype reached.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from radcluster import api, plots
from radcluster.problem.instance import Instance
from radcluster.progress import Progress
from radcluster.result import Result

#: Seconds for the smallest radius of the largest instance that has one.
RADIUS_SECONDS = 60.0
#: Panels of the figure, by how an instance's name begins.
PANELS = {
    "iris": "iris: 150 points, 4 dimensions",
    "wine": "wine: 178 points, 13 dimensions",
    "digits": "digits: 64 dimensions",
    "breast cancer": "breast cancer: 569 points, 30 dimensions",
    "blobs": "blobs: 12 dimensions",
}
#: A gap below this is drawn at this height: proven.
PROVEN = 1e-7
COLUMNS = ("instance", "must", "s", "objective", "gap", "bound from", "partition from")


@dataclass(frozen=True)
class Case:
    """An instance, made when it is needed, the gap wanted, and the seconds for it."""

    name: str
    make: Callable[[], Instance]
    gap: float
    seconds: float

    @property
    def must(self) -> str:
        wanted = "proven" if self.gap <= 1e-6 else f"{100 * self.gap:g} %"
        return f"{wanted} in {self.seconds:g} s"

    @property
    def panel(self) -> str:
        """The panel of the figure that it is drawn in: data of about one size and dimension."""
        return PANELS[self._data]

    @property
    def curve(self) -> str:
        """What tells it from the others of its panel."""
        return self.name.removeprefix(self._data).lstrip(", ")

    @property
    def _data(self) -> str:
        return next(start for start in PANELS if self.name.startswith(start))


@dataclass(frozen=True)
class Run:
    """A finished run and how its gap fell."""

    case: Case
    result: Result
    trace: list[Progress]


def iris() -> np.ndarray:
    return load_iris().data


def wine() -> np.ndarray:
    return scale(load_wine().data)


def digits() -> np.ndarray:
    return load_digits().data


def tumours() -> np.ndarray:
    return scale(load_breast_cancer().data)


def blobs(n: int) -> np.ndarray:
    """Standard normal points in 12 dimensions around 8 centres drawn with deviation 1.5."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.normal(size=(8, 12))
    return centers[rng.integers(8, size=n)] + rng.normal(size=(n, 12))


def with_cannot_links(count: int, seed: int) -> Instance:
    """Iris with random pairs of different species that may not share a cluster."""
    rng = np.random.default_rng(seed)
    species = load_iris().target
    pairs = []
    while len(pairs) < count:
        i, j = rng.choice(len(species), 2, replace=False).tolist()
        if species[i] != species[j]:
            pairs.append((i, j))
    return Instance(iris(), 3, cannot_link=pairs)


def tight_blobs(n: int, n_clusters: int) -> Instance:
    """A radius 5 % above the smallest that is known to be feasible."""
    points = blobs(n)
    radius = api.min_radius(points, n_clusters, time_limit=RADIUS_SECONDS).radius
    return Instance(points, n_clusters, 1.05 * radius)


def _cases() -> Iterator[Case]:
    yield Case("iris, K=5, r=1.0726", lambda: Instance(iris(), 5, 1.072648591), 1e-6, 20)
    yield Case("iris, K=10, r=.67082", lambda: Instance(iris(), 10, 0.67082039325), 1e-6, 20)
    yield Case("iris, K=3", lambda: Instance(iris(), 3), 1e-6, 20)
    yield Case("wine, K=3", lambda: Instance(load_wine().data, 3), 1e-6, 20)
    yield Case("wine standardised, K=3", lambda: Instance(wine(), 3), 1e-6, 20)
    for count in (50, 100):
        name = f"iris, K=3, {count} cannot-links"
        yield Case(name, lambda count=count: with_cannot_links(count, count), 1e-6, 20)
    for k, radius in ((10, 3.05214713), (30, 2.01016251), (30, 1.74796745)):
        name = f"wine standardised, K={k}, r={radius:.4f}"
        yield Case(name, lambda k=k, r=radius: Instance(wine(), k, r), 1e-4, 150)
    # The smallest feasible radii, rounded up.
    for k, radius, gap in ((3, 4.1503316267, 0.03), (10, 2.65404098320, 0.035)):
        name = f"wine standardised, K={k}, r={radius:.4f}"
        yield Case(name, lambda k=k, r=radius: Instance(wine(), k, r), gap, 120)
    for k, radius in ((10, 29.178), (40, 18.17966)):
        name = f"digits, 300 x 64, K={k}, r={radius:.3f}"
        yield Case(name, lambda k=k, r=radius: Instance(digits()[:300], k, r), 2e-3, 120)
    yield Case("breast cancer, 569 x 30, K=2", lambda: Instance(tumours(), 2), 1e-3, 180)
    name = "breast cancer, 569 x 30, K=10, r=6.327"
    yield Case(name, lambda: Instance(tumours(), 10, 6.327), 0.015, 180)
    yield Case("digits, 1797 x 64, K=10", lambda: Instance(digits(), 10), 0.025, 600)
    yield Case("blobs, 5000 x 12, K=8", lambda: Instance(blobs(5000), 8), 0.01, 180)
    yield Case("blobs, 5000 x 12, K=12, tight r", lambda: tight_blobs(5000, 12), 0.05, 300)
    yield Case("blobs, 100,000 x 12, K=8", lambda: Instance(blobs(100_000), 8), 0.02, 1200)


CASES = {case.name: case for case in _cases()}


def measure(case: Case, seconds: float | None = None) -> Run:
    """Solve a case by ``exact`` within its time, on two cores."""
    trace: list[Progress] = []
    result = api.solve(
        case.make(),
        time_limit=case.seconds if seconds is None else seconds,
        n_jobs=2,
        progress=trace.append,
    )
    return Run(case, result, trace)


def run(console: Console, only: str = "") -> list[Run]:
    """Print the table, each row as it is found; up to an hour in all.

    ``only`` takes the instances whose names contain it.
    """
    _warm_up()
    runs = []
    table = Table(title="in every dimension: exact, two cores")
    for column in COLUMNS:
        table.add_column(column, justify="right" if column in ("s", "objective", "gap") else "left")
    for case in CASES.values():
        if only not in case.name:
            continue
        runs.append(measure(case))
        console.print(" | ".join(cells(runs[-1])), style="dim", soft_wrap=True)
        table.add_row(*cells(runs[-1]))
    console.print(table)
    return runs


def cells(run: Run) -> tuple[str, ...]:
    """One row of the table."""
    result = run.result
    return (
        run.case.name,
        run.case.must,
        f"{result.seconds:.1f}",
        f"{result.objective:.6g}",
        f"{result.gap:.1e}",
        _gave(result, "the bound"),
        _gave(result, "the partition"),
    )


def _gave(result: Result, what: str) -> str:
    """The step that gave the bound or the partition."""
    return next((s.step for s in result.steps if what in (s.note or "").split("; gave ")[-1]), "")


def _warm_up() -> None:
    """Compile the kernels, or load them: not part of what is measured."""
    points = np.random.default_rng(0).normal(size=(30, 6))
    for method in ("sdp_tree", "colgen"):
        api.solve(Instance(points, 4, 3.0), method)


def write(runs: list[Run], folder: Path) -> list[Path]:
    """The table and the gaps over time as CSV, and the figure.

    Instances that were measured before and are not among the runs keep what is stored of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table, gaps = folder / "exact_dimensions.csv", folder / "exact_dimensions_gaps.csv"
    rows = {row[0]: row for row in _stored(table)} | {run.case.name: cells(run) for run in runs}
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, seconds, gap in _stored(gaps):
        curves.setdefault(name, []).append((float(seconds), float(gap)))
    curves |= {run.case.name: _curve(run) for run in runs}
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *(rows[name] for name in CASES if name in rows)])
    with gaps.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["instance", "seconds", "gap"])
        for name in CASES:
            writer.writerows((name, f"{s:.3f}", f"{gap:.3e}") for s, gap in curves.get(name, ()))
    return [table, gaps, draw(curves, folder / "exact_dimensions.png")]


def _stored(path: Path) -> list[list[str]]:
    """The rows of a file that was written before, of instances that there still are."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [row for row in csv.reader(file) if row[0] in CASES]


def draw(curves: dict[str, list[tuple[float, float]]], path: Path) -> Path:
    """Gap against seconds: one panel for each size and dimension, one curve for each instance."""
    cases = [CASES[name] for name in CASES if name in curves]
    panels = [title for title in PANELS.values() if any(case.panel == title for case in cases)]
    rows = (len(panels) + 1) // 2
    canvas, axes = plots.figure(rows, 2, width=9.0, height=2.9 * rows, squeeze=False)
    latest = max(curve[-1][0] for curve in curves.values())
    for ax, title in zip(axes.flat, panels, strict=False):
        shown = {
            case.curve: tuple(zip(*curves[case.name], strict=True))
            for case in cases
            if case.panel == title
        }
        plots.curves(shown, "seconds", "gap", ax, title, drawstyle="steps-post", markers=False)
        # One scale for all panels, with room for the names below the curves' ends.
        ax.set(xscale="log", yscale="log", xlim=(0.03, 2 * latest), ylim=(PROVEN / 2, 2))
        ax.legend(fontsize=6, frameon=False, loc="lower left")
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    canvas.savefig(path, dpi=150, bbox_inches="tight")
    return path


def _curve(run: Run) -> list[tuple[float, float]]:
    """Seconds and gap of the best partition and the best bound so far, where the gap changes."""
    seconds = [*(p.seconds for p in run.trace), run.result.seconds]
    incumbents = np.minimum.accumulate([*(p.incumbent for p in run.trace), run.result.objective])
    bounds = np.maximum.accumulate([*(p.bound for p in run.trace), run.result.lower_bound])
    gaps = np.where(np.isfinite(incumbents), 1 - bounds / incumbents, 1.0)
    points = list(zip(seconds, np.clip(gaps, PROVEN, 1.0).tolist(), strict=True))
    changed = [b for a, b in itertools.pairwise(points) if b[1] != a[1]]
    return [points[0], *changed, points[-1]]
