"""Cones in Pyomo: matrix inequalities, second-order, exponential and power cones, free solvers.

    import pyomo.environ as pyo
    from radcluster.conic import PSD, PSDVar

    m.P = PSDVar(2)
    P = m.P.matrix_expression()
    m.lyapunov = PSD(A.T @ P + P @ A, sense="<=", rhs=-I)
    pyo.SolverFactory("clarabel").solve(m)

This package knows nothing of clustering, and importing it imports none of it.
"""

from __future__ import annotations

import importlib

# Loaded on first use, so that Pyomo's factories learn the names of the solvers at little cost.
_WHERE = {
    "Affine": "arrays",
    "Compiler": "compiling.compiler",
    "ConicProgram": "program",
    "ConicSolution": "program",
    "ConicStatus": "program",
    "ExponentialCone": "cones",
    "PSD": "psd",
    "PSDVar": "schur",
    "PowerCone": "cones",
    "RotatedSecondOrderCone": "cones",
    "SchurBlock": "schur",
    "SecondOrderCone": "cones",
    "SymmetricVar": "schur",
    "affine": "arrays",
    "compile_model": "compiling.compiler",
    "dual_matrices": "schur",
    "read": "files",
    "register": "plugin.register",
    "safe_bound": "bounds",
    "solve_program": "backends",
    "write": "files",
}

__all__ = list(_WHERE)


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"module 'radcluster.conic' has no attribute {name!r}")
    return getattr(importlib.import_module(f"radcluster.conic.{_WHERE[name]}"), name)


def __dir__():
    return sorted([*globals(), *_WHERE])
