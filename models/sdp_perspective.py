"""The relaxed program with free cardinalities: ``form="perspective"``, instead of Eq. 14.

Z^k = pi^k pi^k' / n_k (Charnes-Cooper, one block at a time; no common scaling exists, because a sum
of ratios is not one ratio):

    min   1/2 <D, sum_k Z^k>
    s.t.  [[Z^k, pi^k], [pi^k', n_k]] >= 0,   tr Z^k = 1,   Z^k 1 = pi^k,   1'pi^k = n_k >= 1,
          Z^k >= 0,   Z_ij^k = 0 on conflicts,   0 <= pi <= 1,   sum_k pi^k = 1

With weights w, sums over points are weighted: D_ij = w_i w_j d_ij, sum_i w_i Z_ii^k = 1,
Z^k w = pi^k, w'pi^k = n_k >= min w.

Z^k 1 = pi^k and 1'pi^k = n_k put (1, -1) into the kernel of every such block: the border says no
more than Z^k >= 0 (psd), and leaves the block without an interior, on which interior-point methods
stall. So the default states Z^k >= 0 with pi = Z 1 and n = 1'pi as expressions, where the bounds on
pi and n follow from the rest; ``border=True`` states the program as above, with the same value.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.conic.schur import SchurBlock
from radcluster.models.parts import groups
from radcluster.models.parts.clusters import zero_entries
from radcluster.problem.instance import Instance


def add_program(m, instance: Instance, data: groups.Groups, *, border: bool):
    """The program over the clusters and pairs of ``m``; see :func:`radcluster.models.sdp.build`."""
    total, least = float(data.weights.sum()), float(data.weights.min())
    largest = total - (instance.n_clusters - 1) * least
    if border:
        m.pi = pyo.Var(m.PAIRS, bounds=(0, 1))
        m.n = pyo.Var(m.CLUSTERS, bounds=(least, largest))

    def block(b, k):
        members = m.members[k]
        corner = {"y": lambda i: m.pi[i, k], "s": m.n[k]} if border else {}
        weights = {i: m.weight[i] for i in members} | {None: 1.0 / total}
        b.build(
            order=members,
            X=zero_entries(members, data.conflicts[k][np.ix_(*2 * (data.positions(members),))]),
            within=pyo.NonNegativeReals,
            trace=(weights, 1.0 + border * largest / total),
            **corner,
        )

    m.Z = SchurBlock(m.CLUSTERS, rule=block, doc="Z = pi pi' / n, relaxed")
    row_sums = {
        (i, k): pyo.quicksum(terms)
        for k in m.CLUSTERS
        for i, terms in data.row_terms(m.Z[k]).items()
    }
    if border:
        _add_border_rows(m, row_sums)
    else:
        m.pi = pyo.Expression(m.PAIRS, initialize=row_sums, doc="pi = Z 1")

    @m.Constraint(m.CLUSTERS, doc="tr Z = 1")
    def trace(m, k):
        return pyo.quicksum(m.weight[i] * m.Z[k].X[i, i] for i in m.members[k]) == 1

    @m.Constraint(data.names, doc="sum_k pi_ik = 1")
    def one_cluster(m, i):
        return pyo.quicksum(len(m.stands_for[k]) * m.pi[i, k] for k in m.clusters_of[i]) == 1

    @m.Objective(doc="1/2 <D, sum_k Z^k>")
    def within_cluster_scatter(m):
        return pyo.quicksum(len(m.stands_for[k]) * data.half_inner(m.Z[k]) for k in m.CLUSTERS)


def _add_border_rows(m, row_sums):
    @m.Constraint(m.PAIRS, doc="Z 1 = pi")
    def row_sum(m, i, k):
        return row_sums[i, k] == m.pi[i, k]

    @m.Constraint(m.CLUSTERS, doc="1'pi = n")
    def cardinality(m, k):
        return pyo.quicksum(m.weight[i] * m.pi[i, k] for i in m.members[k]) == m.n[k]
