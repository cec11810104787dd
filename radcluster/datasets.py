"""The data of the paper, and the data on which a radius shows what it is good for.

Nothing is downloaded: the sets are drawn, shipped with this package or with scikit-learn, or (the
airports) taken from the ``vega_datasets`` wheel. Every function returns ``(points, classes)``.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.utils import check_random_state

from radcluster.errors import InputError

#: Class of the moon that the paper calls convex, its Omega: the small one.
CONVEX_MOON = 1

_EARTH_RADIUS_KM = 6371.0088


def two_moons(
    seed: int = 10, n: tuple[int, int] = (85, 15), noise: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """The imbalanced two moons of the paper's Figures 1-2 and Table 1.

    With the defaults these are the authors' 100 points, which they drew by ``np.random.seed(10)``
    followed by ``make_moons``; numpy's global state is left alone here.

    >>> points, classes = two_moons()
    >>> points.shape, int((classes == CONVEX_MOON).sum())
    ((100, 2), 15)
    """
    return make_moons(n_samples=tuple(n), shuffle=False, noise=noise, random_state=seed)


def three_uniforms(
    seed: int = 0, n: tuple[int, ...] = (51, 26, 25)
) -> tuple[np.ndarray, np.ndarray]:
    """The paper's 1-D data: n[0] points from U(-3,-1), n[1] from U(-1,1), n[2] from U(1,3).

    >>> points, classes = three_uniforms()
    >>> points.shape, np.bincount(classes).tolist()
    ((102, 1), [51, 26, 25])
    """
    rng = check_random_state(seed)
    lows = -len(n) + 2 * np.arange(len(n))
    points = np.concatenate(
        [rng.uniform(low, low + 2, size) for low, size in zip(lows, n, strict=True)]
    )
    return points[:, None], np.repeat(np.arange(len(n)), n)


def ruspini() -> tuple[np.ndarray, np.ndarray]:
    """Ruspini's 75 points in the plane, in four groups of 20, 23, 17 and 15."""
    with files("radcluster").joinpath("data/ruspini.csv").open() as file:
        points = np.loadtxt(file, delimiter=",")
    return points, np.repeat(np.arange(4), [20, 23, 17, 15])


def digits_imbalanced(
    seed: int = 0,
    common: tuple[int, ...] = (1, 2, 3),
    rare: tuple[int, ...] = (0, 4),
    n_common: int = 100,
    n_rare: int = 5,
) -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits (scikit-learn's, 8 x 8) with some classes nearly absent.

    >>> points, classes = digits_imbalanced()
    >>> points.shape, np.bincount(classes).tolist()
    ((310, 64), [5, 100, 100, 100, 5])
    """
    images, digits = load_digits(return_X_y=True)
    rng = check_random_state(seed)
    chosen = []
    for digit in sorted((*common, *rare)):
        wanted = n_rare if digit in rare else n_common
        available = np.flatnonzero(digits == digit)
        if wanted > len(available):
            raise InputError(f"digit {digit} has {len(available)} images, fewer than {wanted}")
        chosen.append(rng.choice(available, size=wanted, replace=False))
    chosen = np.concatenate(chosen)
    return images[chosen], digits[chosen]


def airports(seed: int = 0, n: int | None = 800) -> tuple[np.ndarray, np.ndarray]:
    """Airports of the United States from Hawaii to Puerto Rico, as points in space, in kilometres.

    Longitude and latitude become coordinates on a sphere of the Earth's radius, so that the
    distance of two points is the chord: within half a percent of the way on the ground below
    2000 km. The classes are the states. ``n=None`` takes all airports.
    """
    try:
        from vega_datasets import local_data
    except ImportError:
        raise InputError(
            "the airports come with vega_datasets: pip install 'radcluster[airports]'"
        ) from None
    table = local_data.airports()
    latitude = table["latitude"].to_numpy(dtype=float)
    longitude = table["longitude"].to_numpy(dtype=float)
    state = table["state"].to_numpy(dtype=object)
    # Guam, Samoa and the Marianas lie an ocean away: each would be a cluster of its own.
    near = (longitude < 0) & (latitude > 0)
    kept = np.flatnonzero(near & np.array([isinstance(name, str) for name in state]))
    if n is not None:
        kept = np.sort(check_random_state(seed).choice(kept, size=n, replace=False))
    _, classes = np.unique(state[kept].astype(str), return_inverse=True)
    return _on_sphere(latitude[kept], longitude[kept]), classes


def _on_sphere(latitude, longitude):
    phi, theta = np.radians(latitude), np.radians(longitude)
    unit = np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=1)
    return _EARTH_RADIUS_KM * unit
