"""The bound that gets out of the engine: valid for any multipliers, rounding charged.

Let mu >= 0 and L be symmetric with L <= C + A*mu off the conflicts. For the matrix Y of any
partition, with N = C + A*mu - L,

    <C, Y>  >=  <C + A*mu, Y>  =  <L, Y> + <N, Y>  >=  <L, Y> + sum_i floor_i N_ii

because the cuts hold, N >= 0, Y >= 0, Y_ii >= floor_i, and Y is 0 on conflicts. Of <L, Y> the least
value over Y u = u, tr Y = K, 0 <= Y <= I is u'Lu plus the K - 1 smallest eigenvalues of PLP on the
complement of u.

What a computer adds is charged. |Y| = sqrt(K) at most in the Frobenius norm, so entries of L that
are wrong by E cost at most sqrt(K) |E|; an eigenvalue is wrong by at most a small multiple of
n eps |L| and K of them are added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radcluster.relaxation.engine import kernels
from radcluster.relaxation.engine.program import Program
from radcluster.relaxation.engine.rows import Rows

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class SafeBound:
    """A lower bound on the cost of every partition, and the reduced costs that belong to it.

    Attributes
    ----------
    value : float
        In the units of the instance.
    reduced : array (n, n)
        N, scaled as the program's cost: a partition costs at least ``value`` plus
        scale * <N, Y>, less the part of the floors that ``value`` contains.
    """

    value: float
    reduced: np.ndarray


def safe_bound(program: Program, rows: Rows, mu: np.ndarray, dual: np.ndarray) -> SafeBound:
    """The bound of multipliers mu >= 0 of the cuts and of any symmetric ``dual``."""
    n, k = program.n_groups, program.n_clusters
    total, size = np.zeros((n, n)), np.zeros((n, n))
    terms = kernels.adjoint(rows.start, rows.place, rows.coef, mu, total, size)
    ceiling = program.cost + total + np.triu(total, 1).T
    size += program.cost
    least = np.where(program.conflicts, dual, np.minimum(dual, ceiling))
    least = np.triu(least) + np.triu(least, 1).T
    ceiling = np.triu(ceiling) + np.triu(ceiling, 1).T
    u = program.unit
    image = least @ u
    corner = float(u @ image)
    inside = least - np.outer(u, image) - np.outer(image, u) + corner * np.outer(u, u)
    length = float(np.linalg.norm(least))
    # u itself goes to the far end of the spectrum.
    inside += 4.0 * (length + 1.0) * np.outer(u, u)
    smallest = np.linalg.eigvalsh(inside)[: k - 1]
    reduced = np.where(program.conflicts, 0.0, ceiling - least)
    value = corner + float(smallest.sum()) + float(program.floor @ np.diag(reduced))
    margin = 16.0 * n * k * _EPS * (length + 1.0)
    margin += (terms + 8) * _EPS * np.sqrt(k) * 2.0 * float(np.linalg.norm(size))
    value = float((value - margin) * program.scale)
    # The entries of the cost are relatively exact to within ``error``, and so is the optimum.
    return SafeBound(value - 2.0 * program.error * abs(value), reduced)
