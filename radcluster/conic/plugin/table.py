"""Which backend takes which cone, from the solvers' records."""

from __future__ import annotations

from radcluster.solvers.catalogue import SOLVERS
from radcluster.solvers.record import CONES


def backends_table() -> str:
    """A Markdown table of the conic solvers and the cones that they take.

    >>> print(backends_table().splitlines()[2])
    | `clarabel` | yes | yes | yes | yes | as it is | updated in place |
    """
    again = {"clarabel": "updated in place", "scs": "updated in place, warm start"}
    heads = ["Pyomo's name", *CONES, "quadratic objective", "solving again"]
    lines = [_line(heads), _line(["---"] * len(heads))]
    for info in SOLVERS.values():
        if info.conic is None or info.conic.pyomo_name is None:
            continue
        takes = ["yes" if cone in info.conic.cones else "" for cone in CONES]
        curved = "as it is" if info.conic.quadratic else "by a cone"
        row = [f"`{info.conic.pyomo_name}`", *takes, curved, again.get(info.name, "compiled part")]
        lines.append(_line(row))
    return "\n".join(lines)


def _line(cells) -> str:
    return f"| {' | '.join(cells)} |"
