"""Lower bounds from an inexact dual solution of a conic program that hold all the same.

Let x be feasible for the program of :mod:`radcluster.solvers.conic_program`, P_k the matrices of
its Schur blocks. For any multipliers z, those of inequalities made >= 0 by clipping, and S_k the
matrices that z holds for the blocks,

    c'x  >=  -b'z  +  (c + A'z)'x  +  sum_k <S_k, P_k>.

At an exact dual solution c + A'z = 0 and the S_k are psd, so the last two terms can be dropped.
Of an inexact one, c + A'z is first moved into the S_k, exactly: every variable in a block owns an
entry of S_k. Then P_k is positive semidefinite and its weighted trace <W_k, P_k> is at most t_k (a
consequence of the model, see ``SchurBlock(trace=...)``; else from the bounds of the diagonal), so

    <S_k, P_k>  >=  min(0, smallest eigenvalue of W_k^-1/2 S_k W_k^-1/2) t_k        (Jansson 2004).

A solver's inaccuracy costs a small multiple of t_k, never the validity. Variables outside all
blocks cost the minimum over their bounds. Rounding is charged explicitly: a sum of n terms with
n eps times the sum of their absolute values, an eigenvalue with 8 n eps |S|.

The ``peng_wei`` form has a better end: the least <S, Z> over psd Z with Z1 = 1, tr Z = K and
Z <= I (Z is nonnegative with unit row sums) is known in closed form. With e the vector of ones and
Q an orthonormal basis of its complement, it is

    e'Se / N  +  the sum of the K-1 smallest eigenvalues of Q'SQ.

With must-link groups of weights w, S becomes W^-1/2 S W^-1/2 and e becomes W^1/2 e.

The first bound with c = 0 also proves infeasibility: no x is left by a z for which it is positive.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from pyomo.environ import value
from scipy.linalg import eigvalsh, null_space

from radcluster.schur import SchurBlockData, unpack
from radcluster.solvers.conic_program import ConicProgram, triangle_scale

_EPS = np.finfo(float).eps


def safe_bound(program: ConicProgram, z: np.ndarray | None) -> float:
    """A lower bound on the minimum of the program, whatever the accuracy of z.

    Parameters
    ----------
    program : ConicProgram
        Of a maximisation, the bound is on the negated objective.
    z : array or None
        Multipliers of the rows of ``program.A``, as a solver returned them.

    Returns
    -------
    float
        -inf when z is missing or not finite, or a trace that matters is not known to be bounded.
    """
    if z is None or not np.isfinite(z).all():
        return -np.inf
    return _bound(program, z, program.c) + program.offset


def proves_infeasible(program: ConicProgram, ray: np.ndarray | None) -> bool:
    """Whether a dual ray proves, rounding included, that no point is feasible."""
    if ray is None or not np.isfinite(ray).all() or not ray.any():
        return False
    return _bound(program, ray / np.abs(ray).max(), np.zeros_like(program.c)) > 0.0


def peng_wei_bound(program: ConicProgram, z: np.ndarray | None) -> float:
    """The bound for a model of ``form="peng_wei"``, cuts and all.

    It holds over the points of the program with Z 1 = 1, tr Z = K and Z >= 0, as partitions have.
    """
    if z is None or not np.isfinite(z).all():
        return -np.inf
    z, leftover = _made_exact(program, z, program.c)
    (block,), (part,) = program.blocks, program.block_slices()
    weights, n_clusters = _trace(block)
    outside = np.ones(len(program.c), dtype=bool)
    outside[program.A[part].tocoo().col] = False
    scaled, margin = _scaled(block, z[part], leftover[~outside], weights)
    root = np.sqrt(weights)
    e = root / np.linalg.norm(root)
    basis = null_space(e[None])
    smallest = eigvalsh(basis.T @ scaled @ basis)[: round(n_clusters) - 1]
    least = e @ scaled @ e + smallest.sum() - 2 * margin * n_clusters
    others = _least_over_bounds(program, z, program.c, outside)
    return float(least) - _dot_up(program.b, z) + others + program.offset


def dual_violation(program: ConicProgram, z: np.ndarray) -> float:
    """By how much z fails to be a dual solution.

    The residual c + A'z is moved into the blocks first; what counts is the most negative
    eigenvalue of a block, relative to its largest where that exceeds 1, and the residual of the
    variables outside all blocks.
    """
    z, _ = _made_exact(program, z, program.c)
    worst = float(np.abs(program.c + program.A.T @ z).max())
    for block, part in zip(program.blocks, program.block_slices(), strict=True):
        eigenvalues = eigvalsh(unpack(z[part] / triangle_scale(block.order)))
        worst = max(worst, -float(eigenvalues[0]) / max(1.0, float(eigenvalues[-1])))
    return worst


def primal_violation(program: ConicProgram, x: np.ndarray) -> float:
    """By how much x fails to be feasible, relative to the largest right-hand side above 1."""
    slack = program.b - program.A @ x
    zero, linear = program.n_zero, program.n_linear
    worst = max(np.abs(slack[:zero]).max(initial=0.0), -slack[zero:linear].min(initial=0.0))
    for block, part in zip(program.blocks, program.block_slices(), strict=True):
        matrix = unpack(slack[part] / triangle_scale(block.order))
        worst = max(worst, -eigvalsh(matrix, subset_by_index=[0, 0])[0])
    return float(worst) / max(1.0, float(np.abs(program.b).max(initial=0.0)))


def _bound(program, z, c) -> float:
    z, leftover = _made_exact(program, z, c)
    total = -_dot_up(program.b, z)
    in_blocks = np.zeros(len(c), dtype=bool)
    for block, part in zip(program.blocks, program.block_slices(), strict=True):
        columns = np.unique(program.A[part].tocoo().col)
        weights, limit = _trace(block)
        charged = np.where(in_blocks[columns], 0.0, leftover[columns])
        scaled, margin = _scaled(block, z[part], charged, weights)
        smallest = eigvalsh(scaled, subset_by_index=[0, 0])[0] - margin
        if smallest < 0:
            total += smallest * limit
        in_blocks[columns] = True
    return float(total + _least_over_bounds(program, z, c, ~in_blocks))


def _made_exact(program, z, c):
    """Multipliers with c + A'z moved into the block entries, and what rounding left of it.

    The second value bounds |c + A'z| for the columns in blocks.
    """
    z = z.copy()
    nonnegative = slice(program.n_zero, program.n_linear)
    z[nonnegative] = np.maximum(z[nonnegative], 0.0)
    cones = program.A[program.n_linear :].tocoo()
    columns, first = np.unique(cones.col, return_index=True)
    residual = c + program.A.T @ z
    z[program.n_linear + cones.row[first]] -= residual[columns] / cones.data[first]
    terms = np.diff(program.A.tocsc().indptr) + 2
    leftover = 2 * _EPS * terms * (np.abs(c) + np.abs(program.A).T @ np.abs(z))
    leftover[columns] += np.abs(c + program.A.T @ z)[columns]
    return z, leftover


def _dot_up(b, z) -> float:
    """b'z, rounded up."""
    return float(b @ z + 2 * len(b) * _EPS * (np.abs(b) @ np.abs(z)))


def _scaled(block: SchurBlockData, triangle, leftover, weights):
    """W^-1/2 S W^-1/2, and a margin for all errors of its eigenvalues."""
    s = unpack(triangle / triangle_scale(block.order))
    root = np.sqrt(weights)
    scaled = s / np.outer(root, root)
    margin = 8 * block.order * _EPS * np.linalg.norm(scaled)
    return scaled, margin + np.linalg.norm(leftover) / weights.min()


def _trace(block: SchurBlockData) -> tuple[np.ndarray, float]:
    """Weights of the diagonal and a limit of the weighted trace, declared or from bounds."""
    labels = [*block.labels, None] if block.bordered else list(block.labels)
    if block.trace is not None:
        weights, limit = block.trace
        return np.array([weights[label] for label in labels], dtype=float), float(limit)
    entries = [block.entry(label, label) for label in labels]
    constant = [not hasattr(entry, "ub") or entry.fixed for entry in entries]
    upper = [value(e) if known else e.ub for e, known in zip(entries, constant, strict=True)]
    return np.ones(len(labels)), float(sum(np.inf if u is None else u for u in upper))


def _least_over_bounds(program, z, c, outside) -> float:
    """The least value of (c + A'z)'x over the bounds of the variables outside all blocks.

    In exact arithmetic: of a variable without bounds, only a residual of zero will do.
    """
    matrix = program.A.tocsc()
    total = Fraction(0)
    for column in np.flatnonzero(outside).tolist():
        part = slice(*matrix.indptr[column : column + 2])
        residual = Fraction(float(c[column])) + sum(
            Fraction(a) * Fraction(z_row)
            for a, z_row in zip(
                matrix.data[part].tolist(), z[matrix.indices[part]].tolist(), strict=True
            )
        )
        if residual:
            lower, upper = program.columns[column].bounds
            side = lower if residual > 0 else upper
            if side is None:
                return -np.inf
            total += residual * Fraction(float(side))
    return float(np.nextafter(float(total), -np.inf)) if total else 0.0
