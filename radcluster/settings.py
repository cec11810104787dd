"""Settings: the same keys in Python, on the command line and in a TOML file.

method = "pipeline"
time_limit = 60.0
step1 = "sdp:perspective"

[solver]                 # or one name: solver = "scip"
step1 = "scs"
step4 = "scip"

[sdp]                    # options of Step 1's relaxed program
tolerance = 1e-6

[native.scip]            # a solver's own options, handed over as they are
"limits/nodes" = 1000
"""

from __future__ import annotations

import difflib
import math
import numbers
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from radcluster.errors import InputError
from radcluster.solvers import registry
from radcluster.solvers.options import Options

STEPS = ("step1", "step2", "step4")
#: What the package itself offers for Step 1, and for Steps 2 and 4.
STEP1 = ("sdp:perspective", "sdp:paper", "sdp:peng_wei", "kcenter", "kcenter:exact")
ROUNDING = "rounding"
CUTS = ("pair", "triangle", "clique")
CONSTRAINTS = ("quadratic", "conflict", "clique")
SDP_OPTIONS = (
    "rlt",
    "card_rows",
    "cardinalities",
    "border",
    "reduce",
    "tolerance",
    "rounds",
    "rank",
)


#: Algorithm 1 as the paper prints it.
AS_PRINTED = {
    "method": "pipeline",
    "step1": "sdp:paper",
    "anchored": False,
    "constraints": "quadratic",
    "repeat": False,
}


@dataclass(frozen=True)
class Settings:
    """How to solve an instance. Built-in names are known in upper and lower case.

    Attributes
    ----------
    method : str
        A name of :data:`radcluster.methods.register.METHODS`.
    solver : str, sequence of str, or mapping of step to str, optional
        A name goes to the steps whose programs the solver can take; of several names each step
        takes the first that can. A mapping names the solver of each step of the pipeline.
    time_limit : float, optional
        Seconds for the whole call.
    rel_gap : float
        ``optimal`` means (objective - bound) / objective at most this.
    threads, seed, verbose
        Handed to every solver.
    native : mapping of solver name to options
        A solver's own options.
    anchored : bool
        Fix a clique of conflicting points to different clusters and propagate; False leaves all
        N K pairs, as the paper does.
    constraints : {"clique", "conflict", "quadratic"}, optional
        How the radius constraint is stated; None lets each formulation choose.
    formulation : callable or "module:function", optional
        Builds the model of ``milp`` and ``minlp`` in place of :func:`radcluster.models.milp.build`:
        ``f(instance, labelling) -> ConcreteModel`` with variables ``pi[i, k]``.
    cuts : sequence of {"pair", "triangle", "clique"}
        Cuts that tighten the SDP of Step 1, separated in rounds.
    sdp : mapping
        Further options of that SDP: ``rlt``, ``card_rows``, ``cardinalities`` (form paper),
        ``border`` (form perspective), ``reduce``; ``tolerance`` of its solver, ``rounds`` of cuts,
        ``rank`` of the factors of ``cyipopt``. See :func:`radcluster.relaxation.sdp.solve_sdp`.
    step1, step2, step4 : str or callable
        Steps of the pipeline; see :mod:`radcluster.methods.pipeline`.
    repeat : bool
        Repeat Steps 3-4 until nothing changes; False runs them once, as the paper does.
    initial : labels, optional
        A valid partition to start from. The result is never worse than it.
    as_printed : bool
        Run Algorithm 1 exactly as the paper prints it: the settings of :data:`AS_PRINTED`.
    n_jobs : int, optional
        Processes for methods that can use several; None: one, -1: one per core.
    """

    method: str = "exact"
    solver: str | Sequence[str] | Mapping[str, str] | None = None
    time_limit: float | None = None
    rel_gap: float = 1e-6
    threads: int | None = None
    seed: int | None = None
    verbose: bool = False
    native: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    anchored: bool = True
    constraints: str | None = None
    formulation: str | Callable | None = None
    cuts: Sequence[str] = ()
    sdp: Mapping[str, Any] = field(default_factory=dict)
    step1: str | Callable = "sdp:perspective"
    step2: str | Callable = "rounding"
    step4: str | Callable = "rounding"
    repeat: bool = True
    initial: Sequence[int] | None = None
    n_jobs: int | None = None
    as_printed: bool = False

    def __post_init__(self):
        self._lower_names()
        if self.time_limit is not None and not 0 <= _number(self.time_limit) < math.inf:
            raise InputError(f"time_limit must be a number >= 0, got {self.time_limit!r}")
        if not 0 <= _number(self.rel_gap) < 1:
            raise InputError(f"rel_gap must be a number from 0 to 1, got {self.rel_gap!r}")
        for key in ("threads", "seed"):
            value = getattr(self, key)
            if value is not None and not (_is_whole(value) and 0 <= value < 2**31):
                raise InputError(f"{key} must be a whole number >= 0, got {value!r}")
        if self.n_jobs is not None and not (_is_whole(self.n_jobs) and self.n_jobs != 0):
            raise InputError(f"n_jobs must be a whole number other than 0, got {self.n_jobs!r}")
        for key in ("verbose", "anchored", "repeat", "as_printed"):
            if not isinstance(getattr(self, key), bool):
                raise InputError(f"{key} must be true or false, got {getattr(self, key)!r}")
        if self.constraints is not None:
            check_choice("constraints", self.constraints, CONSTRAINTS)
        if isinstance(self.cuts, str) or not isinstance(self.cuts, Sequence):
            raise InputError(f"cuts must be a list of {', '.join(CUTS)}, got {self.cuts!r}")
        for family in self.cuts:
            check_choice("cut", family, CUTS)
        if isinstance(self.step1, str) and self.step1.lower().startswith(("sdp:", "kcenter:")):
            check_choice("step1", self.step1, STEP1)
        self._check_solver()
        self._check_native()
        self._check_sdp()

    def _lower_names(self):
        """Everything that is built in gets the name by which the package knows it."""
        for key in ("method", "constraints"):
            object.__setattr__(self, key, _lower(getattr(self, key)))
        for key in STEPS:
            object.__setattr__(self, key, built_in(getattr(self, key)))
        if isinstance(self.cuts, Sequence) and not isinstance(self.cuts, str):
            kind = list if isinstance(self.cuts, list) else tuple
            object.__setattr__(self, "cuts", kind(_lower(cut) for cut in self.cuts))

    def _check_solver(self):
        names = self.solver
        if names is None:
            return
        steps = None
        if isinstance(names, Mapping):
            steps, names = [_lower(step) for step in names], list(names.values())
            for step in steps:
                check_choice("solver step", step, STEPS)
        elif isinstance(names, str):
            names = [names]
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise InputError(f"solver must be a name or a list of names, got {self.solver!r}")
        names = [registry.get(name).name for name in names]
        known = names[0] if isinstance(self.solver, str) else names
        object.__setattr__(
            self, "solver", known if steps is None else dict(zip(steps, names, strict=True))
        )

    def _check_native(self):
        if not isinstance(self.native, Mapping):
            raise InputError(f"native must hold a table of options per solver, got {self.native!r}")
        native: dict[str, Mapping[str, Any]] = {}
        for name, options in self.native.items():
            if not isinstance(options, Mapping):
                raise InputError(f"native.{name} must be a table of options, got {options!r}")
            known = registry.get(name).name
            native[known] = {**native.get(known, {}), **options}
        object.__setattr__(self, "native", native)

    def _check_sdp(self):
        if not isinstance(self.sdp, Mapping):
            raise InputError(f"sdp must be a table of options, got {self.sdp!r}")
        for key, value in self.sdp.items():
            check_choice("sdp option", key, SDP_OPTIONS)
            if key in ("card_rows", "border", "reduce") and not isinstance(value, bool):
                raise InputError(f"sdp.{key} must be true or false, got {value!r}")
            if key == "tolerance" and not 0 < _number(value) < 1:
                raise InputError(f"sdp.tolerance must be a number from 0 to 1, got {value!r}")
            if key in ("rounds", "rank") and not (_is_whole(value) and value >= 1):
                raise InputError(f"sdp.{key} must be a whole number >= 1, got {value!r}")

    def options(self, solver: str | None, time_limit: float | None) -> Options:
        """Options for one call of one solver."""
        return Options(
            time_limit=time_limit,
            # The bound is made safe afterwards, which costs a little of the gap asked for.
            rel_gap=self.rel_gap / 2,
            threads=self.threads,
            seed=self.seed,
            verbose=self.verbose,
            native=self.native.get(solver, {}) if solver else {},
        )

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Settings:
        """Settings from keys as a TOML file or the command line gives them."""
        for key in values:
            if key in ("n_clusters", "radius", "cannot_link", "must_link"):
                raise InputError(f"{key} belongs to the instance, not to the settings")
            check_choice("setting", key, [f.name for f in fields(cls)])
        if values.get("as_printed") is True:
            values = _as_printed(values)
        return cls(**values)


def _as_printed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those of the paper; refuses what contradicts them."""
    for key, stated in AS_PRINTED.items():
        given = _lower(values.get(key, stated))
        # ``solve`` states the method whether or not its caller does.
        if given != stated and (key, given) != ("method", Settings.method):
            raise InputError(f"as_printed means {key}={stated!r}: {key}={given!r} contradicts it")
    return {**values, **AS_PRINTED}


def read_toml(path: str | Path) -> dict[str, Any]:
    """The settings written in a TOML file."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also a NUL in the path
        raise InputError(f"{path} is not valid TOML: {error}") from None


def built_in(step: Any) -> Any:
    """A built-in step by its name in lower case; the user's own as it is.

    >>> built_in("SDP:Paper"), built_in("Mine:Step")
    ('sdp:paper', 'Mine:Step')
    """
    return _lower(step) if _lower(step) in (*STEP1, ROUNDING) else step


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _number(value) -> float:
    """The value as a float; nan when it is no number."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def _is_whole(value) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_choice(what: str, value, choices) -> None:
    """Refuse a name that is not among the choices, and say which one is nearest."""
    if value in choices:
        return
    near = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise InputError(f"unknown {what} {value!r}. {hint}Valid: {', '.join(choices)}.")
