"""Random numbers inside compiled loops, from a state that each call owns."""

from __future__ import annotations

import numpy as np

from radcluster.problem.kernels import helper


@helper
def draw(state, n):
    """A random number below n; ``state`` is an array of one nonzero 64-bit word."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))
