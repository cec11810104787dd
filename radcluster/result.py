"""What every method returns: a verified partition, a bound, and how they came about."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from radcluster import show
from radcluster.status import RESULT_STATUSES, Status


@dataclass(frozen=True)
class StepReport:
    """One solved program: which model, which solver, how large, how long, what it said."""

    step: str
    model: str
    solver: str | None = None
    version: str | None = None
    n_variables: int | None = None
    n_constraints: int | None = None
    seconds: float = 0.0
    objective: float | None = None
    bound: float | None = None
    status: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a method found, before anything is verified or certified.

    Attributes
    ----------
    labels : array of N ints, or None
        The best partition found.
    lower_bound : float
        No partition costs less; made safe by the method.
    stopped : Status
        Why the method ended. ``infeasible`` comes with a certificate.
    steps : tuple of StepReport
    certificate : dict or None
    solver : str or None
        Who is to be named for the partition.
    objective : float or None
        The value of a user's own objective at ``labels``; ``lower_bound`` is then about that
        objective. None: the sum of squares.
    soft_radius : bool
        Whether the user's own model prices the radius instead of keeping it, so that the partition
        may be wider.
    """

    labels: np.ndarray | None
    lower_bound: float = 0.0
    stopped: str = Status.FEASIBLE
    steps: tuple[StepReport, ...] = ()
    certificate: dict | None = None
    solver: str | None = None
    objective: float | None = None
    soft_radius: bool = False

    @classmethod
    def infeasible(cls, certificate: dict, steps: tuple[StepReport, ...] = ()) -> Answer:
        """The instance was proven to have no partition."""
        return cls(None, math.inf, Status.INFEASIBLE, steps, certificate)


@dataclass(frozen=True, repr=False)
class Result:
    """Outcome of :func:`radcluster.solve`.

    A result shows itself: in a notebook as a card, by :meth:`plot` as a figure, by
    :meth:`summary` as a table with one row per cluster.

    Attributes
    ----------
    status : str
        ``optimal`` (gap within ``rel_gap``), ``feasible`` (a verified partition, no proof),
        ``infeasible`` (with a certificate), ``time_limit`` or ``interrupted`` (with or without
        a partition).
    labels : array of N ints in 0..K-1, or None
    objective : float
        Sum of squares within clusters, recomputed from ``labels``; inf without labels. With a
        formulation that minimises something else, the value of that objective.
    lower_bound : float
        No partition of the instance costs less.
    sum_of_squares : float or None
        The sum of squares, where ``objective`` is another one; else None.
    radius : float or tuple
        The radius asked for. ``max_radius`` is half the largest diameter obtained.
    certificate : dict or None
        Why the instance is infeasible; its ``kind`` says how to check it.
    steps : tuple of StepReport
    instance : Instance or None
        What was solved; figures and tables read the points from it. Not part of the JSON.
    history : tuple of Progress
        The best partition and the bound as the search reported them. Not part of the JSON.
    """

    status: str
    n_clusters: int
    radius: float | tuple[float, ...]
    method: str
    labels: np.ndarray | None = None
    objective: float = math.inf
    lower_bound: float = 0.0
    max_radius: float | None = None
    solver: str | None = None
    seconds: float = 0.0
    certificate: dict | None = None
    steps: tuple[StepReport, ...] = ()
    sum_of_squares: float | None = None
    centers: np.ndarray | None = field(default=None, compare=False)
    instance: Any = field(default=None, compare=False)
    history: tuple = field(default=(), compare=False)

    @property
    def gap(self) -> float:
        """(objective - lower_bound) / objective; inf without a partition."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def solved(self) -> bool:
        """Whether there is a partition."""
        return self.labels is not None

    def __eq__(self, other):
        return isinstance(other, Result) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self._facts()[1:])
        return f"Result({self.status}: {facts})"

    def _repr_html_(self) -> str:
        parts = []
        if self.certificate is not None and self.instance is not None and not self.solved:
            parts.append(show.paragraph(self.explain()))
        if self.steps:
            columns = ("step", "model", "solver", "seconds", "objective", "bound")
            rows = [[getattr(step, name) for name in columns] for step in self.steps]
            parts.append(show.folded("steps", show.html_table(columns, rows)))
        return show.card(f"radcluster result: {self.status}", self._facts()[1:], *parts)

    def _facts(self) -> list[tuple[str, str]]:
        """What a person reads first, in words."""
        rows = [("status", str(self.status))]
        if self.labels is not None:
            rows += [
                ("points", str(len(self.labels))),
                ("clusters", str(self.n_clusters)),
                ("objective", f"{self.objective:.9g}"),
            ]
            if self.lower_bound <= 0 < self.objective:
                rows.append(("lower bound", "none known"))
            else:
                rows += [("lower bound", f"{self.lower_bound:.9g}"), ("gap", f"{self.gap:.2g}")]
            if self.max_radius is not None:
                rows.append(("widest cluster", f"{2 * self.max_radius:.6g} {self._allowed()}"))
        else:
            rows.append(("clusters", str(self.n_clusters)))
            if self.certificate is not None:
                rows.append(("certificate", str(self.certificate["kind"])))
        by = f"{self.method} with {self.solver}" if self.solver else self.method
        return [*rows, ("method", by), ("seconds", f"{self.seconds:.2f}")]

    def _allowed(self) -> str:
        """How wide the clusters may be."""
        low, high = 2 * np.min(self.radius), 2 * np.max(self.radius)
        if not math.isfinite(low):
            return "(no limit)"
        return f"of {high:.6g}" if low == high else f"(limits {low:.6g} to {high:.6g})"

    def explain(self) -> str:
        """The certificate in words, or a sentence about the bound."""
        return show.view("results", "explain")(self)

    def summary(self):
        """One row per cluster: size, diameter, cost, and the point nearest to its centre.

        Returns
        -------
        Table
            It prints itself; ``.to_frame()`` makes a pandas data frame of it.
        """
        return show.view("results", "summary")(self)

    def plot(self, ax=None, **options):
        """Draw the partition, the radius to scale, and how the gap closed.

        In the plane: points, hulls and the radius; in other dimensions the first two principal
        axes. Beside it the best partition and the bound over time, where the search reported
        them; with ``ax`` only the partition is drawn, there. An infeasible result draws its
        certificate. ``options`` go to :func:`radcluster.plots.partition`.
        """
        return show.view("results", "plot")(self, ax, **options)

    def to_frame(self, index=None):
        """A pandas data frame with one row per point: coordinates, label, distance to its centre.

        ``index`` are the names of the rows. By default they are those of the data frame that the
        points came from, or 0..N-1.
        """
        return show.view("results", "to_frame")(self, index)

    def save(self, path) -> None:
        """Write the result with its instance and history to a JSON file; see :meth:`load`."""
        show.view("files", "save")(self, path)

    @classmethod
    def load(cls, path) -> Result:
        """Read what :meth:`save` wrote. The partition is checked again on the way in."""
        return show.view("files", "load")(path)

    def to_dict(self) -> dict:
        """The result as plain JSON types; infinities become None."""
        custom = {} if self.sum_of_squares is None else {"sum_of_squares": self.sum_of_squares}
        return custom | {
            "status": self.status,
            "objective": _finite(self.objective),
            "lower_bound": _finite(self.lower_bound),
            "gap": _finite(self.gap),
            "n_clusters": self.n_clusters,
            "radius": _finite(self.radius),
            "max_radius": _finite(self.max_radius),
            "labels": None if self.labels is None else [int(label) for label in self.labels],
            "method": self.method,
            "solver": self.solver,
            "seconds": self.seconds,
            "certificate": self.certificate,
            "steps": [
                {key: _finite(value) for key, value in asdict(step).items()} for step in self.steps
            ],
        }

    def to_json(self, **kwargs) -> str:
        """The result as JSON text, infinities as null; ``kwargs`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)

    @classmethod
    def from_json(cls, text: str, points=None) -> Result:
        """Read back what :meth:`to_json` wrote; with ``points`` the centres too.

        Raises
        ------
        ValueError
            When the text is not the JSON of a result.
        """
        try:
            return cls(**_read(json.loads(text), points))
        except (LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"not a radcluster result: {error!r:.100}") from None


def _read(data: dict, points) -> dict:
    """The fields of a result, from the object that its JSON holds."""
    fields_of = {f.name for f in fields(Result)} - {"centers", "instance", "history"}
    if unknown := set(data) - fields_of - {"gap"}:
        raise ValueError(f"not a radcluster result: unknown keys {sorted(unknown)}")
    if data["status"] not in RESULT_STATUSES:
        raise ValueError(f"not a radcluster result: status {data['status']!r}")
    infeasible = data["status"] == Status.INFEASIBLE
    missing = math.inf if infeasible else -math.inf
    n_clusters = data["n_clusters"]
    if not isinstance(n_clusters, int) or isinstance(n_clusters, bool) or n_clusters < 1:
        raise ValueError(f"not a radcluster result: n_clusters {n_clusters!r}")
    radius = data["radius"]
    read = data | {
        "status": Status(data["status"]),
        "objective": _number_or(math.inf, data["objective"]),
        "lower_bound": _number_or(missing, data["lower_bound"]),
        "radius": tuple(_number_or(math.inf, r) for r in radius)
        if isinstance(radius, list)
        else _number_or(math.inf, radius),
        "labels": _read_labels(data["labels"], n_clusters),
        "steps": tuple(StepReport(**step) for step in data["steps"]),
    }
    if not isinstance(data["certificate"], (dict, type(None))) or read["radius"] == ():
        raise ValueError("not a radcluster result: certificate or radius")
    if infeasible and (read["labels"] is not None or data["certificate"] is None):
        raise ValueError("not a radcluster result: infeasible takes a certificate and no labels")
    if read["lower_bound"] > read["objective"] + 1e-6 * abs(read["objective"]):
        raise ValueError("not a radcluster result: the lower bound is above the objective")
    for key in ("max_radius", "seconds", "sum_of_squares"):
        _number_or(math.nan, data.get(key))
    del read["gap"]
    if read["labels"] is not None and points is not None:
        points = np.asarray(points, dtype=float)
        members = [points[read["labels"] == k] for k in range(n_clusters)]
        read["centers"] = np.array([rows.mean(axis=0) for rows in members])
    return read


def _number_or(default: float, value) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"not a radcluster result: {value!r:.60} is no number")
    return value


def _read_labels(labels, n_clusters: int) -> np.ndarray | None:
    if labels is None:
        return None
    whole = isinstance(labels, list) and all(type(label) is int for label in labels)
    # Clusters are not empty, so each label occurs.
    if not whole or len(labels) < n_clusters or set(labels) != set(range(n_clusters)):
        raise ValueError(f"not a radcluster result: labels must be 0..{n_clusters - 1}, each used")
    return np.array(labels, dtype=int)


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / objective, 0 when they meet, inf when nothing is known."""
    if not math.isfinite(objective):
        return math.inf
    difference = objective - lower_bound
    if difference <= 0:
        return 0.0
    return difference / abs(objective) if objective else math.inf


def _finite(value):
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value
