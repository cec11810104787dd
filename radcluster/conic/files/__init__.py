"""Models to and from files, by the ending of the name."""

from __future__ import annotations

from radcluster.errors import InputError


def write(model, path) -> None:
    """Write a model with cones to a file: ``.dat-s`` (SDPA sparse) or ``.cbf``."""
    from radcluster.conic.files.cbf import write_cbf
    from radcluster.conic.files.sdpa import write_sdpa

    _chosen(path, write_sdpa, write_cbf)(model, path)


def read(path):
    """A Pyomo model from a file: ``.dat-s`` (SDPA sparse) or ``.cbf``."""
    from radcluster.conic.files.cbf import read_cbf
    from radcluster.conic.files.sdpa import read_sdpa

    return _chosen(path, read_sdpa, read_cbf)(path)


def _chosen(path, sdpa, cbf):
    name = str(path).lower()
    if name.endswith(".dat-s"):
        return sdpa
    if name.endswith(".cbf"):
        return cbf
    raise InputError(f"{path}: the name must end in .dat-s (SDPA sparse) or .cbf")
