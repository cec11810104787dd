"""Conic solvers behind one call."""

from radcluster.conic.backends.solve import solve_program

__all__ = ["solve_program"]
