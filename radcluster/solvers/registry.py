"""Solvers by name: what each can solve, whether it is here, how to get it.

A formulation names the class of program it is; a solver lists the classes it takes. Both are
compared before anything is built.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from radcluster.errors import InputError, SolverUnavailable

#: Problem classes. A nonconvex quadratic constraint makes an MIQCP, a ratio an MINLP.
CLASSES = ("LP", "MILP", "MIQCP", "MINLP", "SDP", "NLP")


@dataclass(frozen=True)
class SolverInfo:
    """A solver radcluster knows, installed or not.

    Attributes
    ----------
    name : str
    classes : tuple of str
        What it solves, of :data:`CLASSES`.
    install : str
        How to install it.
    module, distribution : str or None
        What it imports as, and what package carries its version.
    executable : str or None
        The command of a solver that Pyomo calls as a program.
    """

    name: str
    classes: tuple[str, ...]
    install: str
    module: str | None = None
    distribution: str | None = None
    executable: str | None = None

    @property
    def installed(self) -> bool:
        if self.executable:
            return shutil.which(self.executable) is not None
        return all(importlib.util.find_spec(name) for name in self.module.split())

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be used here, and what to do about it; None when it can."""
        if not self.installed:
            return f"is not installed: {self.install}"
        check = _CHECKS.get(self.name)
        return check() if check else None

    @property
    def version(self) -> str | None:
        """Version of the installed solver; None when it is not installed."""
        return _version(self.name) if self.installed else None


_CONIC_EXTRA = "pip install 'radcluster[conic]'"

SOLVERS = {
    info.name: info
    for info in (
        SolverInfo("highs", ("LP", "MILP"), "pip install highspy", "highspy", "highspy"),
        SolverInfo(
            "scip",
            ("LP", "MILP", "MIQCP", "MINLP"),
            "pip install pyscipopt",
            "pyscipopt",
            "pyscipopt",
        ),
        SolverInfo("cbc", ("LP", "MILP"), "apt-get install coinor-cbc", executable="cbc"),
        SolverInfo("glpk", ("LP", "MILP"), "apt-get install glpk-utils", executable="glpsol"),
        SolverInfo(
            "gurobi",
            ("LP", "MILP", "MIQCP", "MINLP"),
            "pip install gurobipy (a licence is needed beyond 2000 variables)",
            "gurobipy",
            "gurobipy",
        ),
        SolverInfo(
            "xpress",
            ("LP", "MILP"),
            "pip install xpress (a licence is needed beyond 5000 rows and columns)",
            "xpress",
            "xpress",
        ),
        SolverInfo(
            "cplex",
            ("LP", "MILP"),
            "pip install cplex (a licence is needed beyond 1000 variables)",
            "cplex",
            "cplex",
        ),
        SolverInfo("clarabel", ("SDP",), "pip install clarabel", "clarabel", "clarabel"),
        SolverInfo("scs", ("SDP",), "pip install scs", "scs", "scs"),
        SolverInfo("cvxopt", ("SDP",), _CONIC_EXTRA, "cvxpy cvxopt", "cvxopt"),
        SolverInfo("sdpa", ("SDP",), _CONIC_EXTRA, "cvxpy sdpap", "sdpa-python"),
        SolverInfo(
            "mosek",
            ("SDP",),
            "pip install cvxpy Mosek (a licence is needed)",
            "cvxpy mosek",
            "Mosek",
        ),
        SolverInfo(
            "copt",
            ("SDP",),
            "pip install cvxpy coptpy (a licence is needed for large programs)",
            "cvxpy coptpy",
            "coptpy",
        ),
        SolverInfo(
            "cyipopt",
            ("SDP", "NLP"),
            "pip install 'radcluster[ipopt]' after the steps under \"Ipopt\" in the README",
            "cyipopt",
            "cyipopt",
        ),
    )
}

#: The first installed one is taken when none is named.
_PREFERENCE = {
    "LP": ("highs", "scip"),
    "MILP": ("highs", "scip"),
    "MIQCP": ("scip", "gurobi"),
    "MINLP": ("scip", "gurobi"),
    "SDP": ("clarabel", "scs"),
    "NLP": ("cyipopt",),
}


def get(name: str) -> SolverInfo:
    """The solver of this name, installed or not."""
    if name in SOLVERS:
        return SOLVERS[name]
    near = difflib.get_close_matches(str(name), SOLVERS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(f"unknown solver {name!r}.{hint} Installed solvers: {_names(usable())}.")


def usable(problem_class: str | None = None) -> list[SolverInfo]:
    """Solvers that are installed and can run, all or those that take a class."""
    return [
        info
        for info in SOLVERS.values()
        if (problem_class is None or problem_class in info.classes) and info.obstacle is None
    ]


def require(name: str | None, problem_class: str, formulation: str) -> SolverInfo:
    """The named solver (None: the default), once it is known to be here and to fit.

    >>> require("scs", "MILP", "milp:linear")
    Traceback (most recent call last):
    radcluster.errors.InputError: scs cannot solve milp:linear (needs MILP). ...
    """
    if name is None:
        return default(problem_class)
    info = get(name)
    if problem_class not in info.classes:
        raise InputError(
            f"{name} cannot solve {formulation} (needs {problem_class}). "
            f"Installed solvers that can: {_names(usable(problem_class))}."
        )
    if obstacle := info.obstacle:
        raise SolverUnavailable(
            f"solver {name} {obstacle}. "
            f"Installed solvers that can solve {formulation}: {_names(usable(problem_class))}."
        )
    return info


def default(problem_class: str) -> SolverInfo:
    """The solver taken for a class when none is named."""
    for name in _PREFERENCE[problem_class]:
        if SOLVERS[name].installed:
            return SOLVERS[name]
    wanted = SOLVERS[_PREFERENCE[problem_class][0]]
    raise SolverUnavailable(f"no solver for {problem_class} is installed: {wanted.install}")


def _mosek_licence() -> str | None:
    mosek = importlib.import_module("mosek")
    try:
        with mosek.Env() as env:
            env.checkoutlicense(mosek.feature.pts)
    except mosek.Error as error:
        return (
            f"is installed, but has no licence ({error.errno}): put mosek.lic into ~/mosek, "
            "or its place into MOSEKLM_LICENSE_FILE"
        )


def _pynumero_library() -> str | None:
    asl = importlib.import_module("pyomo.contrib.pynumero.asl")
    if not asl.AmplInterface.available():
        return (
            "is installed, but the PyNumero library that Pyomo needs for it is not: "
            f"{SOLVERS['cyipopt'].install}"
        )


#: What an installed solver needs besides its package.
_CHECKS = {"mosek": _mosek_licence, "cyipopt": _pynumero_library}


def _names(infos) -> str:
    return ", ".join(info.name for info in infos) or "none"


@cache
def _version(name: str) -> str | None:
    info = SOLVERS[name]
    if info.distribution:
        return importlib.metadata.version(info.distribution)
    flags = {"cbc": ["-stop"], "glpk": ["--version"]}[name]
    run = subprocess.run(
        [info.executable, *flags], capture_output=True, text=True, timeout=10, check=False
    )
    found = re.search(r"(\d+\.\d+(?:\.\d+)*)", run.stdout)
    return found.group(1) if found else None
