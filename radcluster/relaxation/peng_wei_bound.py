"""A bound from an inexact dual solution of the ``peng_wei`` form.

The least <S, Z> over psd Z with Z1 = 1, tr Z = K and Z <= I (Z is nonnegative with unit row sums)
is known in closed form. With e the vector of ones and Q an orthonormal basis of its complement, it
is

    e'Se / N  +  the sum of the K-1 smallest eigenvalues of Q'SQ.

With must-link groups of weights w, S becomes W^-1/2 S W^-1/2 and e becomes W^1/2 e. The rest is as
in :mod:`radcluster.conic.bounds`, whose bound for any block is weaker.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigvalsh, null_space

from radcluster.conic.bounds import (
    dot_up,
    least_over_bounds,
    made_exact,
    program_bound,
    scaled_block,
    trace_limit,
)
from radcluster.conic.program import ConicProgram


def peng_wei_bound(program: ConicProgram, z: np.ndarray | None, block=None) -> float:
    """The bound for a model of ``form="peng_wei"``, cuts and all.

    It holds over the points of the program with Z 1 = 1, tr Z = K and Z >= 0, as partitions have.

    Parameters
    ----------
    block : Schur block, optional
        The Z of the model; the only block of the program when omitted. A model with other blocks,
        or whose Z was taken out, gets the bound that holds for any program.
    """
    if z is None or not np.isfinite(z).all():
        return -math.inf
    block = program.blocks[0] if block is None and program.blocks else block
    known = len(program.cones) == 1 and program.cones[0].source is block
    if not known or block.trace is None or program.P is not None:
        return float(program_bound(program, z))
    exact = made_exact(program, z, program.c)
    (part,) = program.cone_slices()
    weights, n_clusters, _ = trace_limit(block)
    scaled, margin = scaled_block(program.cones[0], exact, part, weights)
    root = np.sqrt(weights)
    e = root / np.linalg.norm(root)
    basis = null_space(e[None])
    smallest = eigvalsh(basis.T @ scaled @ basis)[: round(n_clusters) - 1]
    least = e @ scaled @ e + smallest.sum() - 2 * margin * n_clusters
    others, _ = least_over_bounds(program, exact.z, program.c, exact.outside)
    return float(least) - dot_up(program.b, exact.z) + others + program.offset
