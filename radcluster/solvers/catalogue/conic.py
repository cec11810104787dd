"""Conic solvers, reached through :mod:`radcluster.conic`."""

from __future__ import annotations

import importlib

from radcluster.solvers.record import CONES, ConicInterface, SolverInfo

_EXTRA = "pip install 'radcluster[conic]'"


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
    return None


CLARABEL = SolverInfo(
    "clarabel",
    ("SDP",),
    "pip install clarabel",
    modules=("clarabel",),
    distribution="clarabel",
    conic=ConicInterface(CONES, "clarabel", quadratic=True),
)
SCS = SolverInfo(
    "scs",
    ("SDP",),
    "pip install scs",
    modules=("scs",),
    distribution="scs",
    conic=ConicInterface(CONES, "scs", quadratic=True, tolerance=1e-4),
)
CVXOPT = SolverInfo(
    "cvxopt",
    ("SDP",),
    _EXTRA,
    modules=("cvxpy", "cvxopt"),
    distribution="cvxopt",
    conic=ConicInterface(
        CONES[:2], "cvxopt", option_names={"tolerance": ("abstol", "reltol", "feastol")}
    ),
)
SDPA = SolverInfo(
    "sdpa",
    ("SDP",),
    _EXTRA,
    modules=("cvxpy", "sdpap"),
    distribution="sdpa-python",
    conic=ConicInterface(
        CONES[:2],
        "sdpa",
        own_columns=False,
        option_names={"tolerance": ("epsilonStar", "epsilonDash"), "threads": ("numThreads",)},
    ),
)
# Pyomo has a ``mosek`` of its own, and other packages a ``copt``, for programs without matrices.
MOSEK = SolverInfo(
    "mosek",
    ("SDP",),
    "pip install cvxpy Mosek (a licence is needed)",
    modules=("cvxpy", "mosek"),
    distribution="Mosek",
    check=_mosek_licence,
    errors=("mosek:Error",),
    conic=ConicInterface(
        CONES,
        "mosek_sdp",
        option_names={
            "tolerance": (
                "MSK_DPAR_INTPNT_CO_TOL_PFEAS",
                "MSK_DPAR_INTPNT_CO_TOL_DFEAS",
                "MSK_DPAR_INTPNT_CO_TOL_REL_GAP",
            ),
            "time_limit": ("MSK_DPAR_OPTIMIZER_MAX_TIME",),
            "threads": ("MSK_IPAR_NUM_THREADS",),
        },
    ),
)
COPT = SolverInfo(
    "copt",
    ("SDP",),
    "pip install cvxpy coptpy (a licence is needed for large programs)",
    modules=("cvxpy", "coptpy"),
    distribution="coptpy",
    errors=("coptpy:CoptError",),
    conic=ConicInterface(
        CONES[:3],
        "copt_sdp",
        crashes=True,
        option_names={
            "tolerance": ("FeasTol", "DualTol", "RelGap"),
            "time_limit": ("TimeLimit",),
            "threads": ("Threads",),
        },
    ),
)
#: The engine of :mod:`radcluster.relaxation.engine`.
ADMM = SolverInfo(
    "admm",
    ("SDP",),
    "part of radcluster",
    modules=("radcluster",),
    distribution="radcluster",
    only=("sdp:peng_wei",),
)
