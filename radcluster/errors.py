"""What can go wrong, sorted by who has to act."""

from __future__ import annotations


class InputError(ValueError):
    """The data, an option or a combination of them cannot be used; the message says which."""


class InfeasibleError(ValueError):
    """No partition keeps the radius and the links; the message proves it in words.

    Attributes
    ----------
    certificate : dict
        The proof; its ``kind`` says how to check it. Points are numbered by rows of the data.
    fewest_clusters : int or None
        The fewest clusters that the radius allows, where known.
    smallest_radius : float or None
        The smallest radius for the number of clusters asked for, where known.
    """

    def __init__(self, message, certificate=None, fewest_clusters=None, smallest_radius=None):
        super().__init__(message, certificate, fewest_clusters, smallest_radius)
        self.certificate = certificate
        self.fewest_clusters = fewest_clusters
        self.smallest_radius = smallest_radius

    def __str__(self):
        return str(self.args[0])


class SolverUnavailable(RuntimeError):
    """A known solver that is not installed here; the message says how to install it."""


class SolverFailure(RuntimeError):
    """A solver stopped without an answer that can be used."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came while a solver ran as a program of its own, which was ended before."""


class CompilingTimeUp(SolverFailure):
    """The time limit passed while kernels were being compiled, before there was any answer."""
