"""Nodes of the tree bounded by the relaxation: two groups together, or apart.

A node is a program of its own: joined groups are one row less, separated ones a conflict more. It
starts from its parent's matrices, multipliers and cuts. While it is being solved, reduced costs fix
further pairs, cliques of conflicts merge groups, and the relaxed matrix is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from radcluster.methods.sdp_tree.incumbent import Incumbent
from radcluster.methods.tree import Node, TimeUp, Tree
from radcluster.relaxation.engine.admm import Engine, run
from radcluster.relaxation.engine.bound import SafeBound
from radcluster.relaxation.engine.fixing import apart, joined, propagated
from radcluster.relaxation.engine.program import Program
from radcluster.relaxation.engine.state import State, carried

#: Iterations between roundings of Z.
ROUNDING = 100
#: Pairs are fixed when they are this part of the pairs left.
WORTH = 0.01
#: How patient the root and the other nodes are; see :func:`radcluster.relaxation.engine.admm.run`.
ROOT_PATIENCE = 40.0
PATIENCE = 8.0


@dataclass(frozen=True)
class Branch:
    """A program, and the state of the one that it was made from."""

    program: Program
    parent: Program | None = None
    state: State | None = None
    patience: float = ROOT_PATIENCE

    def start(self) -> State | None:
        return None if self.state is None else carried(self.state, self.parent, self.program)


class SdpOracle:
    """Bounds nodes by the engine; see :class:`radcluster.methods.tree.Oracle`.

    Without ``branching`` the root ends the search.
    """

    def __init__(self, root: Program, incumbent: Incumbent, *, branching: bool = True):
        self.root, self.incumbent, self.branching = root, incumbent, branching
        self.iterations = 0
        self.cuts = 0

    def process(self, node: Node, tree: Tree) -> tuple[float, list[Branch]]:
        branch = node.content
        program = branch.program
        if program.n_groups == program.n_clusters or program.n_clusters == 1:
            return self._leaf(program, tree), []
        engine = Engine(program, branch.start())
        watch = _Watch(self, node, tree)
        while True:
            ended = run(engine, tree.clock, watch, branch.patience)
            if watch.empty or ended == "closed":
                return (inf if watch.empty else engine.bound), []
            if ended == "time":
                # With more time, the node goes on from here.
                program = engine.program
                node.content = Branch(program, program, engine.state, branch.patience)
                raise TimeUp
            if watch.reduced:
                engine.adopt(watch.program)
                if engine.program.n_groups == engine.program.n_clusters:
                    return self._leaf(engine.program, tree), []
                continue
            return engine.bound, (self._split(engine) if self.branching else [])

    def _leaf(self, program: Program, tree: Tree) -> float:
        """The only partition that is left."""
        trivial = program.n_clusters == 1
        label = np.zeros(program.n_groups, int) if trivial else np.arange(program.n_groups)
        self.incumbent.offer(label[program.group_of], tree)
        return program.cost_of(label) * (1 - 4 * program.error)

    def _split(self, engine: Engine) -> list[Branch]:
        program = engine.program
        g, h = branching_pair(engine.z(), program)
        state = engine.state
        children = (joined(program, g, h), program.with_conflicts(np.array([[g, h]])))
        return [
            Branch(child, program, state, PATIENCE)
            for child in (c and propagated(c) for c in children)
            if child is not None
        ]


class _Watch:
    """Follows the engine at one node: reports bounds, rounds, fixes."""

    def __init__(self, oracle: SdpOracle, node: Node, tree: Tree):
        self.oracle, self.node, self.tree = oracle, node, tree
        self.program: Program | None = None
        self.reduced = self.empty = False
        self.seen = 0

    def cutoff(self) -> float:
        return self.tree.cutoff

    def checked(self, engine: Engine, found: SafeBound) -> bool:
        tree, oracle = self.tree, self.oracle
        tree.raise_bound(self.node, engine.bound)
        oracle.iterations += engine.iterations - self.seen
        self.seen = engine.iterations
        oracle.cuts = max(oracle.cuts, len(engine.mu))
        if engine.iterations % ROUNDING == 0:
            oracle.incumbent.round(engine.z()[np.ix_(*2 * [self._groups(engine)])], tree)
        if tree.report is not None:
            tree.report()
        self.reduced = self._fix(engine, found)
        return self.empty or self.reduced

    def _groups(self, engine: Engine) -> np.ndarray:
        """The group of each group of the root."""
        first = np.unique(self.oracle.root.group_of, return_index=True)[1]
        return engine.program.group_of[first]

    def _fix(self, engine: Engine, found: SafeBound) -> bool:
        """Whether a smaller program was made; conflicts alone are adopted on the spot."""
        program = engine.program
        pairs = apart(program, found, self.tree.cost)
        left = program.n_groups * (program.n_groups - 1) - program.conflicts.sum()
        if len(pairs) * 2 < max(WORTH * left, 1):
            return False
        fixed = propagated(program.with_conflicts(pairs))
        if fixed is None:
            self.empty = True
            return False
        if fixed.n_groups < program.n_groups:
            self.program = fixed
            return True
        engine.adopt(fixed)
        return False


def branching_pair(z: np.ndarray, program: Program) -> tuple[int, int]:
    """The compatible pair that Z decides least: the largest min(Z_gh, |Z_g - Z_h|^2)."""
    rows = z * program.roots
    square = np.square(rows).sum(axis=1)
    apart_by = np.maximum(square[:, None] + square - 2.0 * rows @ rows.T, 0.0)
    # Heavier groups count for more.
    score = np.minimum(z, apart_by) * np.minimum.outer(program.weights, program.weights)
    score[program.conflicts] = -1.0
    np.fill_diagonal(score, -1.0)
    g, h = np.unravel_index(int(score.argmax()), score.shape)
    return int(g), int(h)
