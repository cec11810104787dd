"""SDPA's sparse format (.dat-s), which SDPA, CSDP, SDPNAL+ and many others read.

    minimise  c'x   subject to   F_1 x_1 + ... + F_m x_m - F_0  =  X  >=  0,   X block-diagonal

The format knows semidefinite and diagonal blocks only. An equation becomes two inequalities, and a
second-order cone |w| <= t the matrix [[t, w'], [w, tI]]. What the format has no place for, the
constant of the objective and that it is maximised, stands in a comment, which :func:`read_sdpa`
understands and others skip.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from radcluster.conic.arrays import Affine
from radcluster.conic.files.common import Fields, number, program_of, write_lines
from radcluster.conic.program import ConicProgram
from radcluster.conic.psd import PSD
from radcluster.conic.triangle import triangle_indices, triangle_scale
from radcluster.errors import InputError

_COMMENT = "radcluster: offset="


def write_sdpa(model: pyo.Block, path) -> None:
    """Write a model with linear constraints, second-order and semidefinite cones.

    Raises
    ------
    InputError
        For exponential and power cones, which the format lacks; CBF has them.
    """
    program = program_of(model)
    lacking = sorted(program.kinds - {"semidefinite", "second-order"})
    if lacking:
        raise InputError(f"the SDPA format has no {lacking[0]} cone; write a .cbf file instead")
    blocks = _blocks(program)
    sense = "max" if program.sign < 0 else "min"
    lines = [
        f'"{_COMMENT}{number(program.offset)} sense={sense}',
        str(len(program.c)),
        str(len(blocks)),
        " ".join(str(size) for size, _ in blocks),
        " ".join(map(number, program.c)),
    ]
    for block, (_, entries) in enumerate(blocks, start=1):
        for matrix, i, j, value in entries:
            lines.append(f"{matrix} {block} {i} {j} {number(value)}")
    write_lines(path, lines)


def _blocks(program: ConicProgram) -> list[tuple[int, list]]:
    """Size of each block (negative: diagonal), and its entries (matrix, row, column, value)."""
    zero, linear = program.n_zero, program.n_linear
    matrix = sparse.csr_array(program.A)
    blocks = []
    if linear:
        signs = np.concatenate([np.tile([1.0, -1.0], zero), np.ones(linear - zero)])
        rows = np.concatenate([np.repeat(np.arange(zero), 2), np.arange(zero, linear)])
        diagonal = np.arange(1, len(rows) + 1)
        blocks.append((-len(rows), _entries(matrix, program.b, rows, signs, diagonal, diagonal)))
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        rows = np.arange(part.start, part.stop)
        if cone.kind == "semidefinite":
            p, q = triangle_indices(cone.order)
            factors = 1.0 / triangle_scale(cone.order)
            blocks.append((cone.order, _entries(matrix, program.b, rows, factors, p + 1, q + 1)))
            continue
        n = cone.size
        # The first row on the whole diagonal, the others beside its corner.
        rows = np.concatenate([np.repeat(rows[:1], n), rows[1:]])
        i = np.concatenate([np.arange(1, n + 1), np.ones(n - 1, dtype=int)])
        j = np.concatenate([np.arange(1, n + 1), np.arange(2, n + 1)])
        blocks.append((n, _entries(matrix, program.b, rows, np.ones(len(rows)), i, j)))
    return blocks


def _entries(matrix, b, rows, factors, i, j) -> list:
    """The slack b - Ax of these rows, times factors, at the places (i, j)."""
    found = []
    for row, factor, p, q in zip(
        rows.tolist(), factors.tolist(), i.tolist(), j.tolist(), strict=True
    ):
        if b[row]:
            found.append((0, p, q, -factor * b[row]))
        part = slice(*matrix.indptr[row : row + 2])
        for column, value in zip(matrix.indices[part], matrix.data[part], strict=True):
            if value:
                found.append((int(column) + 1, p, q, -factor * value))
    return sorted(found)


def read_sdpa(path) -> pyo.ConcreteModel:
    """A model with variables ``x[0], x[1], ...`` from a file in SDPA's sparse format.

    Diagonal blocks become the constraints ``linear``, the others the matrix inequalities ``psd``.
    """
    text = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    comments = [line for line in text if line[:1] in ('"', "*")]
    body = "\n".join(line for line in text if line[:1] not in ('"', "*"))
    fields = _fields(path, body)
    n = fields.index(10**9)
    sizes = [fields.integer() for _ in range(fields.index(10**6))]
    c = [fields.real() for _ in range(n)]
    entries: list[list] = [[] for _ in sizes]
    while fields:
        matrix, block = fields.index(n + 1), fields.index(len(sizes), first=1)
        i, j = (fields.index(abs(sizes[block]), first=1) for _ in range(2))
        entries[block].append((min(i, j), max(i, j), matrix, fields.real()))
    m = pyo.ConcreteModel(name=Path(path).name)
    m.x = pyo.Var(range(n))
    offset, sign = _from_comment(comments)
    terms = pyo.quicksum(sign * c[k] * m.x[k] for k in range(n) if c[k])
    sense = pyo.maximize if sign < 0 else pyo.minimize
    m.objective = pyo.Objective(expr=terms + sign * offset, sense=sense)
    m.linear = pyo.ConstraintList()
    for block, size in enumerate(sizes):
        if size < 0 or size == 1:
            _add_rows(m, entries[block], abs(size))
    matrices = {k: _matrix(m, entries[k], size) for k, size in enumerate(sizes) if size > 1}
    if matrices:
        m.psd = PSD(list(matrices), rule=_Given(matrices))
    return m


class _Given:
    """A rule that looks its matrix up; unlike a lambda, it can be pickled."""

    def __init__(self, matrices):
        self.matrices = matrices

    def __call__(self, model, block):
        return self.matrices[block]


def _fields(path, body: str) -> Fields:
    """Words of the file; punctuation around sizes and numbers is for the eye, and what stands
    behind the number of variables or of blocks is a remark."""
    lines = [line for line in body.splitlines() if line.strip()]
    if len(lines) < 4:
        raise InputError(f"{path} is no file in SDPA's sparse format")
    heads = [line.split()[0].rstrip("=") for line in lines[:2]]
    rest = re.sub(r"[{}(),]", " ", "\n".join(lines[2:]))
    return Fields(path, [*heads, *rest.split()])


def _from_comment(comments) -> tuple[float, float]:
    for line in comments:
        found = re.search(re.escape(_COMMENT) + r"(\S+) sense=(\w+)", line)
        if found:
            return float(found.group(1)), -1.0 if found.group(2) == "max" else 1.0
    return 0.0, 1.0


def _add_rows(m, entries, size: int) -> None:
    """The rows of a diagonal block; two opposite ones in a row are an equation."""
    rows: list[dict] = [{} for _ in range(size)]
    for i, j, matrix, value in entries:
        if i != j:
            raise InputError("a diagonal block has an entry off its diagonal")
        rows[i][matrix] = rows[i].get(matrix, 0.0) + value
    r = 0
    while r < size:
        row = rows[r]
        pair = r + 1 < size and row and {k: -v for k, v in row.items()} == rows[r + 1]
        variables = {k: v for k, v in row.items() if k}
        if variables:
            body = pyo.quicksum(v * m.x[k - 1] for k, v in variables.items())
            limit = row.get(0, 0.0)
            m.linear.add(body == limit if pair else body >= limit)
        elif row.get(0, 0.0) > 0.0 or (pair and row.get(0, 0.0)):
            m.linear.add(pyo.Constraint.Infeasible)
        r += 2 if pair else 1


def _matrix(m, entries, size: int) -> Affine:
    variables = [m.x[k] for k in range(len(m.x))]
    constant = np.zeros((size, size))
    places, columns, data = [], [], []
    for i, j, matrix, value in entries:
        for p, q in {(i, j), (j, i)}:
            if matrix == 0:
                constant[p, q] -= value
            else:
                places.append(p * size + q)
                columns.append(matrix - 1)
                data.append(value)
    shape = (size * size, len(variables))
    coefficients = sparse.csr_array((data, (places, columns)), shape=shape)
    return Affine((size, size), variables, coefficients, constant.ravel())
