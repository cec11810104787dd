"""The best partition so far, and how relaxed matrices improve it."""

from __future__ import annotations

import threading

import numpy as np

from radcluster.methods.sdp_tree.partitions import Partitioner
from radcluster.methods.tree import Tree
from radcluster.relaxation.engine.program import Program

#: Kicks after each rounding that found something new.
KICKS = 30


class Incumbent:
    """The best partition of the root's groups."""

    def __init__(self, root: Program, label: np.ndarray, seed: int = 0):
        self.root = root
        self.partitions = Partitioner(root, seed)
        self.label, self.cost = self.partitions.improved(label)
        self._seen: set[int] = set()
        self._lock = threading.Lock()

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each point."""
        return self.label[self.root.group_of]

    def round(self, z: np.ndarray, tree: Tree) -> None:
        """Round a relaxed matrix of the root's groups, and search on from what is new."""
        found = self.partitions.from_z(z)
        if found is None:
            return
        key = hash(np.round(found[1], 12))
        fresh = found[1] < self.cost * 1.01 and key not in self._seen
        self._seen.add(key)
        if fresh:
            found = min(found, self.partitions.kicked(found[0], KICKS), key=lambda pair: pair[1])
        self._take(*found, tree)

    def offer(self, labels: np.ndarray, tree: Tree) -> None:
        """Improve a partition of the points and keep it if it is the best."""
        first = np.unique(self.root.group_of, return_index=True)[1]
        self._take(*self.partitions.improved(labels[first]), tree)

    def _take(self, label: np.ndarray, cost: float, tree: Tree) -> None:
        with self._lock:
            if cost < self.cost:
                self.label, self.cost = label.copy(), cost
        tree.offer(cost)
