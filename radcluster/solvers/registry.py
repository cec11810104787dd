"""Solvers by name: which take a class of program, which are here.

A formulation names the class of program it is; a solver lists the classes it takes. Both are
compared before anything is built.
"""

from __future__ import annotations

import difflib

from radcluster.errors import InputError, SolverUnavailable
from radcluster.solvers.catalogue import PREFERENCE, SOLVERS
from radcluster.solvers.record import SolverInfo


def get(name: str) -> SolverInfo:
    """The solver of this name in upper or lower case, installed or not."""
    lower = str(name).lower()
    if lower in SOLVERS:
        return SOLVERS[lower]
    near = difflib.get_close_matches(lower, SOLVERS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(f"unknown solver {name!r}.{hint} Installed solvers: {_names(usable())}.")


def usable(problem_class: str | None = None, formulation: str | None = None) -> list[SolverInfo]:
    """Solvers that are installed and can run: all, or those for a class or a formulation of it."""
    return [
        info
        for info in SOLVERS.values()
        if (problem_class is None or problem_class in info.classes)
        and (problem_class is None or not info.only or formulation in info.only)
        and info.obstacle is None
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
    others = _names(usable(problem_class, formulation))
    if problem_class not in info.classes:
        raise InputError(
            f"{name} cannot solve {formulation} (needs {problem_class}). "
            f"Installed solvers that can: {others}."
        )
    if info.only and formulation not in info.only:
        raise InputError(
            f"{name} cannot solve {formulation}, only {', '.join(info.only)}. "
            f"Installed solvers that can: {others}."
        )
    if obstacle := info.obstacle:
        raise SolverUnavailable(
            f"solver {name} {obstacle}. Installed solvers that can solve {formulation}: {others}."
        )
    return info


def default(problem_class: str) -> SolverInfo:
    """The solver taken for a class when none is named."""
    for name in PREFERENCE[problem_class]:
        if SOLVERS[name].installed:
            return SOLVERS[name]
    wanted = SOLVERS[PREFERENCE[problem_class][0]]
    raise SolverUnavailable(f"no solver for {problem_class} is installed: {wanted.install}")


def _names(infos) -> str:
    return ", ".join(info.name for info in infos) or "none"
