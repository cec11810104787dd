"""Units in which solvers with absolute tolerances are right."""

from __future__ import annotations

import math

from radcluster.problem.instance import Instance, diameter_limit


def normalised(instance: Instance) -> tuple[Instance, float]:
    """The instance in units where the largest admissible d_ij is about 1, and cost_old / cost_new.

    Solvers have absolute tolerances, so data in micrometres or light years would be solved
    wrongly. The unit is a power of two: scaling is exact, and no conflict changes. Weights get a
    unit in the same way: their mean becomes about 1.
    """
    d = instance.sq_distances
    largest = d[d <= diameter_limit(instance.radii.max())].max()
    mass = 2.0 ** -round(math.log2(instance.weights.mean()))
    if mass != 1.0:
        instance = instance.replace(sample_weight=instance.weights * mass)
    if largest == 0:
        return instance, 1.0 / mass
    unit = 2.0 ** -round(math.log2(largest) / 2)
    return instance.scaled(unit), unit**-2 / mass
