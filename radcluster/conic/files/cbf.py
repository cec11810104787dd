"""The Conic Benchmark Format (.cbf), which MOSEK, SCIP-SDP, Hypatia and Pajarito read.

    minimise or maximise  a'x + b   subject to   A x + b in K,   H_1 x_1 + ... + D >= 0

Written are free variables ``F``, rows ``L=`` and ``L+``, the cones ``Q``, ``EXP`` and ``POW``, and
matrix inequalities (``PSDCON``). Read are these, and also cones and bounds on variables, rotated
cones ``QR``, and semidefinite variables (``PSDVAR``).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from radcluster.conic.cones import (
    ExponentialCone,
    PowerCone,
    RotatedSecondOrderCone,
    SecondOrderCone,
)
from radcluster.conic.files.common import Fields, number, program_of, write_lines
from radcluster.conic.program import ConicProgram
from radcluster.conic.psd import PSD
from radcluster.conic.schur import PSDVar
from radcluster.conic.triangle import triangle_indices, triangle_scale
from radcluster.errors import InputError


def write_cbf(model: pyo.Block, path) -> None:
    """Write a model with any of the cones of :mod:`radcluster.conic`."""
    program = program_of(model)
    sense = "MAX" if program.sign < 0 else "MIN"
    lines = ["VER", "4", "", "OBJSENSE", sense, ""]
    powers = [cone.alpha for cone in program.cones if cone.kind == "power"]
    if powers:
        lines += ["POWCONES", f"{len(powers)} {2 * len(powers)}"]
        for alpha in powers:
            lines += ["2", number(alpha), number(1.0 - alpha)]
        lines.append("")
    lines += ["VAR", f"{len(program.c)} 1", f"F {len(program.c)}", ""]
    rows, names = _vector_rows(program)
    if program.orders:
        lines += ["PSDCON", str(len(program.orders)), *map(str, program.orders), ""]
    if names:
        lines += ["CON", f"{len(rows)} {len(names)}", *(f"{n} {k}" for n, k in names), ""]
    lines += _objective(program)
    matrix = sparse.csr_array(program.A)[rows].tocoo()
    cells = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    lines += _section("ACOORD", [f"{i} {j} {number(-a)}" for i, j, a in cells if a])
    b = program.b[rows]
    lines += _section("BCOORD", [f"{i} {number(b[i])}" for i in np.flatnonzero(b).tolist()])
    lines += _matrices(program)
    write_lines(path, lines)


def _section(name: str, lines: list[str]) -> list[str]:
    return [name, str(len(lines)), *lines, ""] if lines else []


def _objective(program: ConicProgram) -> list[str]:
    c = program.sign * program.c
    lines = _section("OBJACOORD", [f"{j} {number(c[j])}" for j in np.flatnonzero(c).tolist()])
    if program.offset:
        lines += ["OBJBCOORD", number(program.sign * program.offset), ""]
    return lines


def _vector_rows(program: ConicProgram):
    """Rows that are not matrices, in CBF's order, and the cones that they lie in."""
    rows = list(range(program.n_linear))
    names = [("L=", program.n_zero), ("L+", program.n_nonnegative)]
    power = 0
    for cone, part in zip(program.cones, program.cone_slices(), strict=True):
        numbers = list(range(part.start, part.stop))
        if cone.kind == "second-order":
            names.append(("Q", cone.size))
        elif cone.kind == "exponential":  # CBF has z >= y exp(x / y) as (z, y, x)
            numbers.reverse()
            names.append(("EXP", 3))
        elif cone.kind == "power":
            names.append((f"@{power}:POW", 3))
            power += 1
        else:
            continue
        rows += numbers
    return np.array(rows, dtype=int), [(name, size) for name, size in names if size]


def _matrices(program: ConicProgram) -> list[str]:
    """HCOORD and DCOORD: the lower triangles of the matrix inequalities."""
    matrix = sparse.csr_array(program.A)
    h, d = [], []
    for k, (order, part) in enumerate(zip(program.orders, program.block_slices(), strict=True)):
        p, q = triangle_indices(order)
        scale = triangle_scale(order)
        block = matrix[part].tocoo()
        for r, column, a in zip(block.row, block.col, block.data, strict=True):
            if a:
                h.append(f"{k} {column} {q[r]} {p[r]} {number(-a / scale[r])}")
        for r in np.flatnonzero(program.b[part]).tolist():
            d.append(f"{k} {q[r]} {p[r]} {number(program.b[part][r] / scale[r])}")
    return _section("HCOORD", h) + _section("DCOORD", d)


def read_cbf(path) -> pyo.ConcreteModel:
    """A model with variables ``x[0], x[1], ...`` from a file in the Conic Benchmark Format."""
    lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    words = [word for line in lines for word in line.split("#")[0].split()]
    return _Reader(path, Fields(path, words)).model()


class _Reader:
    """Reads one file, section by section, and builds the model."""

    def __init__(self, path, fields: Fields):
        self.path, self.fields = path, fields
        self.sense, self.offset = "MIN", 0.0
        self.variables: list[tuple[str, int]] = []
        self.constraints: list[tuple[str, int]] = []
        self.powers: list[list[float]] = []
        self.psd_variables: list[int] = []
        self.psd_constraints: list[int] = []
        self.integers: list[int] = []
        self.cells: dict[str, list] = {}

    def model(self) -> pyo.ConcreteModel:
        readers = {
            "VER": self._version,
            "OBJSENSE": self._sense,
            "VAR": lambda: self._cones(self.variables),
            "CON": lambda: self._cones(self.constraints),
            "POWCONES": self._powers,
            "PSDVAR": lambda: self._orders(self.psd_variables),
            "PSDCON": lambda: self._orders(self.psd_constraints),
            "INT": lambda: self._orders(self.integers),
            "OBJBCOORD": self._offset,
        }
        # Whole numbers that stand before the value in each line of a section.
        depth = {
            "OBJACOORD": 1,
            "OBJFCOORD": 3,
            "ACOORD": 2,
            "BCOORD": 1,
            "FCOORD": 4,
            "HCOORD": 4,
            "DCOORD": 3,
        }
        while self.fields:
            word = self.fields.word()
            if word in readers:
                readers[word]()
            elif word in depth:
                self.cells[word] = self._coordinates(depth[word])
            else:
                raise InputError(f"{self.path}: the section {word!r} is not understood")
        return self._built()

    def _version(self):
        if not 1 <= self.fields.integer() <= 4:
            raise InputError(f"{self.path} has a version of the format that is not known")

    def _sense(self):
        self.sense = self.fields.word()
        if self.sense not in ("MIN", "MAX"):
            raise InputError(f"{self.path}: OBJSENSE must be MIN or MAX")

    def _cones(self, into: list):
        total, count = self.fields.integer(), self.fields.integer()
        into += [(self.fields.word(), self.fields.integer()) for _ in range(count)]
        if sum(size for _, size in into) != total:
            raise InputError(f"{self.path}: the sizes of the cones do not add up to {total}")

    def _powers(self):
        count, _ = self.fields.integer(), self.fields.integer()
        for _ in range(count):
            self.powers.append([self.fields.real() for _ in range(self.fields.integer())])

    def _orders(self, into: list):
        into += [self.fields.integer() for _ in range(self.fields.integer())]

    def _offset(self):
        self.offset = self.fields.real()

    def _coordinates(self, depth: int) -> list:
        return [
            (*(self.fields.index(10**9) for _ in range(depth)), self.fields.real())
            for _ in range(self.fields.integer())
        ]

    def _built(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel(name=Path(self.path).name)
        n = sum(size for _, size in self.variables)
        m.x = pyo.Var(range(n))
        for j in self.integers:
            m.x[j].domain = pyo.Integers
        if self.psd_variables:
            m.X = pyo.Block(range(len(self.psd_variables)))
            for k, order in enumerate(self.psd_variables):
                m.X[k].matrix = PSDVar(order)
        m.rows, m.cones = pyo.ConstraintList(), pyo.Block(pyo.Any)
        try:
            objective = self._sums(m, [(0, *c) for c in self.cells.get("OBJACOORD", [])], 1)
            self._add_inner(m, objective, [(0, *c) for c in self.cells.get("OBJFCOORD", [])])
            self._state(m, list(m.x.values()), self.variables)
            self._state(m, self._rows(m), self.constraints)
            self._add_matrices(m)
        except (IndexError, KeyError):
            raise InputError(f"{self.path}: an index is out of range") from None
        sense = pyo.maximize if self.sense == "MAX" else pyo.minimize
        m.objective = pyo.Objective(expr=pyo.quicksum(objective[0]) + self.offset, sense=sense)
        return m

    def _sums(self, m, cells, count: int) -> list[list]:
        sums: list[list] = [[] for _ in range(count)]
        for i, j, a in cells:
            sums[i].append(a * m.x[j])
        return sums

    def _add_inner(self, m, sums, cells) -> None:
        for i, k, p, q, a in cells:
            factor = a if p == q else 2.0 * a
            sums[i].append(factor * m.X[k].matrix.entry(p, q))

    def _rows(self, m) -> list:
        n = sum(size for _, size in self.constraints)
        sums = self._sums(m, self.cells.get("ACOORD", []), n)
        self._add_inner(m, sums, self.cells.get("FCOORD", []))
        for i, b in self.cells.get("BCOORD", []):
            sums[i].append(b)
        return [pyo.quicksum(terms) for terms in sums]

    def _state(self, m, entries: list, cones) -> None:
        """Put entries into cones, one after the other."""
        first = 0
        for name, size in cones:
            part = entries[first : first + size]
            first += size
            if name == "F":
                continue
            if name in ("L=", "L+", "L-"):
                for entry in part:
                    self._state_linear(m, name, entry)
            else:
                m.cones[len(m.cones)].c = self._cone(name, part)

    def _state_linear(self, m, name: str, entry) -> None:
        if not hasattr(entry, "is_potentially_variable"):
            holds = {"L=": entry == 0, "L+": entry >= 0, "L-": entry <= 0}[name]
            m.rows.add(pyo.Constraint.Feasible if holds else pyo.Constraint.Infeasible)
        else:
            m.rows.add({"L=": entry == 0, "L+": entry >= 0, "L-": entry <= 0}[name])

    def _cone(self, name: str, part: list):
        if name == "Q":
            return SecondOrderCone(part[0], part[1:])
        if name == "QR":
            return RotatedSecondOrderCone(part[0], part[1], part[2:])
        if name == "EXP" and len(part) == 3:
            return ExponentialCone(part[2], part[1], part[0])
        if name.startswith("@") and name.endswith(":POW") and len(part) == 3:
            weights = self.powers[int(name[1:-4])]
            if len(weights) == 2:
                return PowerCone(*part, weights[0] / sum(weights))
        raise InputError(f"{self.path}: the cone {name} of size {len(part)} is not understood")

    def _add_matrices(self, m) -> None:
        for k, order in enumerate(self.psd_constraints):
            sums: dict = {(p, q): [] for q in range(order) for p in range(q + 1)}
            for block, j, p, q, a in self.cells.get("HCOORD", []):
                if block == k:
                    sums[min(p, q), max(p, q)].append(a * m.x[j])
            for block, p, q, a in self.cells.get("DCOORD", []):
                if block == k:
                    sums[min(p, q), max(p, q)].append(a)
            entries = {pair: pyo.quicksum(terms) for pair, terms in sums.items()}
            m.cones[len(m.cones)].c = PSD(entries, order=order)
