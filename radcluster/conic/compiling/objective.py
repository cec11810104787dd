"""Objectives: linear, or convex quadratic (concave when maximised).

A quadratic objective q(x) is kept as 1/2 x'Px + c'x + offset. For solvers that take linear
objectives only, :func:`with_epigraph` minimises t + c'x subject to 1/2 x'Px <= t instead, which is
the rotated cone |F'x|^2 <= 2 t with P = FF'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from pyomo.repn.quadratic import QuadraticRepnVisitor
from pyomo.repn.util import OrderedVarRecorder
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from radcluster.conic.compiling.linear import LinearReader, NotAffine
from radcluster.conic.program import ConeRows, ConicProgram
from radcluster.errors import InputError

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Curve:
    """An objective over all variables: a linear row, its constant, and quadratic terms."""

    linear: sparse.csr_array
    constant: float
    rows: np.ndarray
    columns: np.ndarray
    data: np.ndarray


def read_objective(objective, reader: LinearReader) -> Curve:
    """Read a linear or quadratic objective.

    Raises
    ------
    InputError
        When it is neither.
    """
    nothing = np.empty(0, dtype=int)
    try:
        reader.read(objective.expr)
    except NotAffine:
        pass
    except InputError as error:
        raise InputError(f"objective {objective.name}: {error}") from None
    else:
        return Curve(reader.matrix(), reader.constants[0], nothing, nothing, np.empty(0))
    visitor = QuadraticRepnVisitor({}, var_recorder=OrderedVarRecorder({}, {}, None))
    found = visitor.walk_expression(objective.expr)
    if found.nonlinear is not None:
        raise InputError(
            f"conic solvers take linear and convex quadratic objectives: {objective.name} is "
            "neither"
        )
    known = visitor.var_map
    squares = found.quadratic or {}
    pairs = [(reader.column(known[v]), reader.column(known[w])) for v, w in squares]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    linear = [reader.column(known[key]) for key in found.linear]
    factors = np.array(list(found.linear.values()), dtype=float)
    row = (factors, (np.zeros(len(linear), dtype=int), linear))
    shape = (1, len(reader.variables))
    data = np.array(list(squares.values()), dtype=float)
    return Curve(sparse.csr_array(row, shape=shape), float(found.constant), rows, columns, data)


def hessian(curve: Curve, n: int) -> sparse.csc_array:
    """P of the quadratic terms, both triangles."""
    half = sparse.csc_array((curve.data, (curve.rows, curve.columns)), shape=(n, n))
    return sparse.csc_array(half + half.T)


def factors(P: sparse.csc_array) -> tuple[sparse.csr_array, float]:
    """F with P = FF' up to rounding, and the most negative eigenvalue that was left out.

    Variables that no product connects are taken apart, so that only blocks of P are decomposed.
    """
    n_parts, part_of = connected_components(P, directed=False)
    used = np.diff(P.indptr) > 0
    members = np.split(np.argsort(part_of, kind="stable"), np.cumsum(np.bincount(part_of))[:-1])
    rows, columns, data, n_columns, worst = [], [], [], 0, 0.0
    diagonal = P.diagonal()
    for part in range(n_parts):
        group = members[part]
        if len(group) == 1:
            if not used[group[0]]:
                continue
            values, vectors = diagonal[group], np.ones((1, 1))
            error = 0.0
        else:
            values, vectors = np.linalg.eigh(P[group][:, group].toarray())
            error = 8 * len(group) * _EPS * np.abs(values).max()
        worst = min(worst, float(values[0]) - error)
        kept = np.flatnonzero(values > error)
        root = vectors[:, kept] * np.sqrt(values[kept])
        rows.append(np.repeat(group, len(kept)))
        columns.append(np.tile(n_columns + np.arange(len(kept)), len(group)))
        data.append(root.ravel())
        n_columns += len(kept)
    shape = (P.shape[0], n_columns)
    if not rows:
        return sparse.csr_array(shape), worst
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(data), where), shape=shape), worst


def require_convex(P: sparse.csc_array, name: str, maximised: bool) -> None:
    """Refuse a Hessian with a negative eigenvalue beyond rounding."""
    _, worst = factors(P)
    largest = float(np.abs(P.data).max(initial=0.0))
    if worst < -1e-9 * largest * max(1.0, math.sqrt(P.shape[0])):
        word = "concave (it is maximised)" if maximised else "convex"
        raise InputError(
            f"the quadratic objective {name} is not {word}: its matrix has the eigenvalue "
            f"{-worst if maximised else worst:.3g}. Conic solvers cannot take it."
        )


def with_epigraph(program: ConicProgram) -> ConicProgram:
    """The same program with a linear objective, by one more column and one more cone.

    The new cone comes first among the cones, so the rows after the linear ones move down by its
    size; :func:`without_epigraph` undoes that in a solution.
    """
    factor, _ = factors(program.P)
    n, k = factor.shape
    half = math.sqrt(0.5)
    # (t + 1, t - 1) / sqrt 2 and F'x are the entries of the second-order cone.
    head = sparse.csr_array(([half, half], ([0, 1], [n, n])), shape=(2, n + 1))
    tail = sparse.hstack([factor.T, sparse.csr_array((k, 1))], format="csr")
    A = sparse.csr_array(program.A)
    A.resize((A.shape[0], n + 1))
    p = program.n_linear
    return replace(
        program,
        c=np.append(program.c, 1.0),
        P=None,
        A=sparse.csc_array(sparse.vstack([A[:p], -head, -tail, A[p:]])),
        b=np.concatenate([program.b[:p], [half, -half], np.zeros(k), program.b[p:]]),
        cones=[ConeRows("second-order", k + 2), *program.cones],
    )


def without_epigraph(program: ConicProgram, vector: np.ndarray | None, what: str):
    """x or z of the program before :func:`with_epigraph`, whose result ``program`` is."""
    if vector is None:
        return None
    if what == "x":
        return vector[:-1]
    p = program.n_linear
    return np.concatenate([vector[:p], vector[p + program.cones[0].size :]])
