"""The relaxed program without labels: ``form="peng_wei"`` (Peng and Wei 2007, with the conflicts).

Z = sum_k Z^k, the sum of the matrices of all clusters:

    min   1/2 <D, Z>   s.t.  Z >= 0 (psd),   Z 1 = 1,   tr Z = K,   Z >= 0,   Z_ij = 0 on conflicts

With weights w: D_ij = w_i w_j d_ij, Z w = 1, sum_i w_i Z_ii = K. Admissible pairs enter only as
further pairs of points that share no admissible cluster.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from radcluster.conic.schur import SchurBlock
from radcluster.models.parts import groups
from radcluster.models.parts.clusters import zero_entries
from radcluster.problem.instance import Instance


def add_program(m, instance: Instance, data: groups.Groups):
    """The program over the points of ``data``; see :func:`radcluster.models.sdp.build`."""
    names, m.weight = data.names, dict(data.weight)
    shared = data.allowed.astype(float) @ data.allowed.T.astype(float) > 0
    widest_radius = int(np.argmax(instance.radii))
    apart = data.conflicts[widest_radius] | ~shared
    np.fill_diagonal(apart, False)
    m.Z = SchurBlock(
        order=names,
        X=zero_entries(names, apart),
        within=pyo.NonNegativeReals,
        trace=(m.weight, float(instance.n_clusters)),
        doc="Z >= 0",
    )
    rows = data.row_terms(m.Z)

    @m.Constraint(names, doc="Z 1 = 1")
    def row_sum(m, i):
        return pyo.quicksum(rows[i]) == 1

    @m.Constraint(doc="tr Z = K")
    def trace(m):
        return pyo.quicksum(m.weight[i] * m.Z.X[i, i] for i in names) == instance.n_clusters

    @m.Objective(doc="1/2 <D, Z>")
    def within_cluster_scatter(m):
        return data.half_inner(m.Z)
