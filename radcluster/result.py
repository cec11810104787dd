"""What every method returns: a verified partition, a bound, and how they came about."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields

import numpy as np

STATUSES = ("optimal", "feasible", "infeasible", "time_limit", "interrupted")


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
class Result:
    """Outcome of :func:`radcluster.solve`.

    Attributes
    ----------
    status : str
        ``optimal`` (gap within ``rel_gap``), ``feasible`` (a verified partition, no proof),
        ``infeasible`` (with a certificate), ``time_limit`` or ``interrupted`` (with or without
        a partition).
    labels : array of N ints in 0..K-1, or None
    objective : float
        Sum of squares within clusters, recomputed from ``labels``; inf without labels.
    lower_bound : float
        No partition of the instance costs less.
    radius : float or tuple
        The radius asked for. ``max_radius`` is half the largest diameter obtained.
    certificate : dict or None
        Why the instance is infeasible; its ``kind`` says how to check it.
    steps : tuple of StepReport
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
    centers: np.ndarray | None = field(default=None, compare=False, repr=False)

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

    __hash__ = None

    def to_dict(self) -> dict:
        """The result as plain JSON types; infinities become None."""
        return {
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
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)

    @classmethod
    def from_json(cls, text: str, points=None) -> Result:
        """Read back what :meth:`to_json` wrote; with ``points`` the centres too."""
        data = json.loads(text)
        del data["gap"]
        known = {f.name for f in fields(cls)}
        if unknown := set(data) - known:
            raise ValueError(f"not a radcluster result: unknown keys {sorted(unknown)}")
        if data["objective"] is None:
            data["objective"] = math.inf
        if data["lower_bound"] is None:
            data["lower_bound"] = math.inf
        radius = data["radius"]
        if isinstance(radius, list):
            data["radius"] = tuple(math.inf if r is None else r for r in radius)
        elif radius is None:
            data["radius"] = math.inf
        if data["labels"] is not None:
            data["labels"] = np.array(data["labels"], dtype=int)
            if points is not None:
                from radcluster.verify import cluster_centers

                data["centers"] = cluster_centers(points, data["labels"], data["n_clusters"])
        data["steps"] = tuple(StepReport(**step) for step in data["steps"])
        return cls(**data)


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / objective, 0 when they meet, inf when nothing is known."""
    if not math.isfinite(objective):
        return math.inf
    difference = objective - lower_bound
    if difference <= 0:
        return 0.0
    return difference / abs(objective)


def _finite(value):
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value
