"""Claims of a solver that a verified partition refutes, beyond what tolerances explain.

A bound that crosses by a little is dropped and the partition is kept: solvers round. One that
crosses by more is a lie, and the answer that it came with is not to be trusted either.
"""

from __future__ import annotations

from radcluster.errors import SolverFailure
from radcluster.problem.instance import Instance
from radcluster.problem.units import normalised
from radcluster.result import Answer, StepReport

#: What tolerances may explain: so much of the cost, and so much of the largest distance.
OF_THE_COST = 1e-4
OF_THE_UNIT = 1e-6
#: How a step says that a local search found a partition below its bound.
REFUTED = "a partition costs less"


def refuse_refuted(instance: Instance, answer: Answer, cost: float) -> None:
    """Raise if a solver claimed what a verified partition of this cost refutes."""
    for step in answer.steps:
        if step.bound is None or REFUTED not in (step.note or ""):
            continue
        slack = OF_THE_COST * cost + OF_THE_UNIT * normalised(instance)[1]
        if step.bound > cost + slack:
            raise SolverFailure(f"{_claim(step, cost + slack)}, but a partition costs {cost:.9g}")


def _claim(step: StepReport, most: float) -> str:
    """What the solver said: that its own partition is optimal, or only that none costs less."""
    if step.status == "optimal" and step.objective is not None and step.objective > most:
        return f"{step.solver} calls a partition of cost {step.objective:.9g} optimal"
    return f"{step.solver} claims that no partition costs less than {step.bound:.9g}"
