"""The relaxed semidefinite program of Step 1 (Eq. 14), in three forms that share one block.

Every form states [[X, y], [y', s]] >= 0 through :class:`radcluster.conic.schur.SchurBlock`; a
point i is left out of the block of a cluster k that it may not join.

- ``form="paper"`` is Eq. 14 as printed, with given cardinalities: ``sdp_paper.py``;
- ``form="perspective"`` has free cardinalities, and is the one that works: ``sdp_perspective.py``;
- ``form="peng_wei"`` has no labels, one matrix for all clusters: ``sdp_peng_wei.py``.

This file is the switch between them.

``reduce=True`` merges clusters that are told apart by nothing (same admissible points, radius and
cardinality) into one block that stands for all of them: averaging a solution over permutations of
their labels changes neither feasibility nor value. Must-linked points are one weighted point
(:mod:`radcluster.models.parts.groups`), under the number of the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from radcluster.errors import InputError
from radcluster.graph.conflicts import AdmissiblePairs
from radcluster.models import sdp_paper, sdp_peng_wei, sdp_perspective
from radcluster.models.parts import groups
from radcluster.models.parts.clusters import add_clusters
from radcluster.models.parts.formulation import Formulation
from radcluster.problem.instance import Instance

FORMS = ("perspective", "paper", "peng_wei")
RLT = ("none", "lower", "all")

_WRITTEN_IN = {"paper": sdp_paper, "perspective": sdp_perspective, "peng_wei": sdp_peng_wei}


def build(
    instance: Instance,
    labelling: AdmissiblePairs | None = None,
    *,
    form: str = "perspective",
    rlt: str = "none",
    card_rows: bool = False,
    cardinalities: Sequence[float] | None = None,
    border: bool = False,
    reduce: bool = False,
) -> pyo.ConcreteModel:
    """The relaxed program of an instance.

    Parameters
    ----------
    labelling : AdmissiblePairs, optional
        Admissible pairs, e.g. anchored ones; all of them when omitted.
    form : {"perspective", "paper", "peng_wei"}
    rlt : {"none", "lower", "all"}
        Reformulation-linearisation inequalities of the paper form.
    card_rows : bool
        Whether the paper form has M 1 = (2 n - N) b.
    cardinalities : sequence of K numbers, optional
        The n_k of the paper form, which add up to N; N/K each when omitted.
    border : bool
        Whether the perspective form states its redundant border.
    reduce : bool
        One block for clusters that nothing tells apart.

    Returns
    -------
    ConcreteModel
        With the set ``CLUSTERS``, memberships ``pi`` (perspective) or ``b`` (paper), and the
        Schur block ``Z`` (perspective, peng_wei) or ``M`` (paper). ``m.members[k]`` lists the
        points i that have a ``pi[i, k]``. Must-linked points appear once, under the first of
        them; ``m.weight[i]`` is the weight of the points that i stands for (their number, without
        sample weights). So the size of cluster k
        is ``sum(m.weight[i] * m.pi[i, k] for i in m.members[k])``.

    Examples
    --------
    >>> m = build(Instance([[0.0], [1.0], [5.0]], n_clusters=2, radius=0.5))
    >>> len(m.pi), len(m.Z[0].X)
    (6, 4)
    """
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}: {form!r}")
    if rlt not in RLT:
        raise InputError(f"rlt must be one of {', '.join(RLT)}: {rlt!r}")
    if form != "paper" and (rlt != "none" or card_rows or cardinalities is not None):
        raise InputError("rlt, card_rows and cardinalities are options of the form paper")
    if form != "perspective" and border:
        raise InputError("border is an option of the form perspective")
    data = groups.merge(instance, labelling)
    _check_admissible(data)
    m = Formulation(f"sdp:{form}", _WRITTEN_IN[form].__doc__)
    m.form = form
    # Hundreds of thousands of small objects, none of them garbage.
    with PauseGC():
        if form == "peng_wei":
            sdp_peng_wei.add_program(m, instance, data)
        elif form == "perspective":
            add_clusters(m, instance, data, reduce)
            sdp_perspective.add_program(m, instance, data, border=border)
        else:
            sizes = sdp_paper.check_cardinalities(instance, cardinalities)
            add_clusters(m, instance, data, reduce, sizes)
            sdp_paper.add_program(m, instance, data, sizes, rlt=rlt, card_rows=card_rows)
    return m


def _check_admissible(data: groups.Groups):
    if not data.allowed.any(axis=1).all():
        stuck = data.names[int(np.argmin(data.allowed.any(axis=1)))]
        raise InputError(f"point {stuck} has no admissible cluster")
    if not data.allowed.any(axis=0).all():
        hollow = int(np.argmin(data.allowed.any(axis=0)))
        raise InputError(f"cluster {hollow} has no admissible point")
