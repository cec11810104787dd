"""What a running search reports."""

from __future__ import annotations

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
