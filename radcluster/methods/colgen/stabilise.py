"""Dual stabilisation: price at a point between the best prices so far and the master's.

The master's optimal prices jump about while columns are few. Pricing at

    alpha * (prices of the best bound) + (1 - alpha) * (the master's prices)

(Wentges 1997) damps that, and because the bound holds at any prices nothing is lost. When the
smoothed prices yield no column for the master, alpha is reduced; at 0 pricing is the plain one.
"""

from __future__ import annotations

import numpy as np

#: Weight of the best prices. The master's are those of an interior point, which need little of it.
ALPHA = 0.3


class Smoothing:
    """The prices with the best bound so far, and mixtures with them.

    Prices travel as one vector, sigma last.
    """

    def __init__(self, alpha: float, bound: float):
        self.alpha = alpha
        self.bound = bound
        self.center: np.ndarray | None = None

    def mixtures(self, prices: np.ndarray):
        """Prices to try in turn, the master's own last."""
        alpha = self.alpha if self.center is not None else 0.0
        while alpha > 0.1:
            yield alpha * self.center + (1 - alpha) * prices
            alpha /= 2
        yield prices

    def learn(self, prices: np.ndarray, bound: float) -> None:
        """Take note of the bound obtained at some prices."""
        if bound > self.bound:
            self.center, self.bound = prices, bound
