"""Whether the compiled kernels are at hand.

Numba compiles them on their first call on a machine, which takes some twenty seconds, and keeps
them beside their sources, or where NUMBA_CACHE_DIR says.
"""

from __future__ import annotations

from pathlib import Path

from radcluster.colgen.boxes import price_cells


def compiled() -> bool:
    """Whether the pricing kernel was compiled before, in this process or in an earlier one."""
    if price_cells.signatures:
        return True
    folder = Path(price_cells.stats.cache_path)
    return any(folder.glob(f"boxes.{price_cells.__name__}*.nbi"))
