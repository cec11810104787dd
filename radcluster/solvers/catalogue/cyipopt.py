"""Ipopt through cyipopt: semidefinite blocks as a factorised nonlinear program."""

from __future__ import annotations

import importlib

from radcluster.solvers.record import ConicInterface, SolverInfo

_INSTALL = "see docs/solvers.md, Ipopt: .ci/install_ipopt, then pip install 'radcluster[ipopt]'"


def _pynumero_library() -> str | None:
    asl = importlib.import_module("pyomo.contrib.pynumero.asl")
    if asl.AmplInterface.available():
        return None
    return f"is installed, but the PyNumero library that Pyomo needs for it is not: {_INSTALL}"


CYIPOPT = SolverInfo(
    "cyipopt",
    ("SDP", "NLP"),
    _INSTALL,
    modules=("cyipopt",),
    distribution="cyipopt",
    check=_pynumero_library,
    conic=ConicInterface(("semidefinite",)),
)
