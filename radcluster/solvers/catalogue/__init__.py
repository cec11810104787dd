"""The solvers that radcluster knows: one record each, and their order of preference."""

from radcluster.solvers.catalogue.cbc import CBC
from radcluster.solvers.catalogue.conic import ADMM, CLARABEL, COPT, CVXOPT, MOSEK, SCS, SDPA
from radcluster.solvers.catalogue.cplex import CPLEX
from radcluster.solvers.catalogue.cyipopt import CYIPOPT
from radcluster.solvers.catalogue.glpk import GLPK
from radcluster.solvers.catalogue.gurobi import GUROBI
from radcluster.solvers.catalogue.highs import HIGHS
from radcluster.solvers.catalogue.scip import SCIP
from radcluster.solvers.catalogue.xpress import XPRESS

SOLVERS = {
    info.name: info
    for info in (
        HIGHS,
        SCIP,
        CBC,
        GLPK,
        GUROBI,
        XPRESS,
        CPLEX,
        CLARABEL,
        SCS,
        CVXOPT,
        SDPA,
        MOSEK,
        COPT,
        CYIPOPT,
        ADMM,
    )
}

#: The first installed one is taken when none is named.
PREFERENCE = {
    "LP": ("highs", "scip"),
    "MILP": ("highs", "scip"),
    "MIQCP": ("scip", "gurobi"),
    "MINLP": ("scip", "gurobi"),
    "SDP": ("clarabel", "scs"),
    "NLP": ("cyipopt",),
}
