"""What the parameters of :class:`RadiusKMeans` ask for, checked and made definite."""

from __future__ import annotations

import numbers
from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from radcluster.errors import InfeasibleError, InputError
from radcluster.estimator import rows as rows_of
from radcluster.estimator.solving import (
    DEFAULT_CLUSTERS,
    Request,
    Start,
    with_fewest_clusters,
    with_smallest_radius,
)


def checked_limit(seconds) -> float | None:
    """A time limit: a number of seconds, or None."""
    if seconds is not None and not (isinstance(seconds, numbers.Real) and seconds >= 0):
        raise InputError(f"time_limit must be a number of seconds or None, got {seconds!r}")
    return seconds


def chosen_rows(model, space, weights) -> rows_of.Chosen:
    cannot, must = model.cannot_link, model.must_link
    plain = cannot is None and must is None and isinstance(model.init, str)
    chosen = rows_of.choose(space, weights, merge=plain)
    count = model.n_clusters
    if isinstance(count, numbers.Integral) and count > len(chosen.rows):
        # More clusters than distinct points: duplicates have to be told apart.
        apart = rows_of.choose(space, weights, merge=False)
        if len(chosen.rows) < len(apart.rows):
            return replace(apart, place=chosen.point_of[apart.rows])
    return chosen


def request_of(model, clock) -> Request:
    n_init = 1 if model.n_init == "auto" else model.n_init
    if not isinstance(n_init, numbers.Integral) or n_init < 1:
        raise InputError(f"n_init must be a whole number >= 1 or 'auto', got {model.n_init!r}")
    return Request(
        method=model.method,
        solver=model.solver,
        rel_gap=model.rel_gap,
        n_init=int(n_init),
        seed=int(check_random_state(model.random_state).randint(2**31 - 1)),
        n_jobs=model.n_jobs,
        verbose=bool(model.verbose),
        clock=clock,
    )


def start_of(model, space, chosen: rows_of.Chosen, request: Request) -> Start:
    """The instance, once the number of clusters and the radius are settled."""
    count, radius = model.n_clusters, model.radius
    if isinstance(count, str) and count != "auto":
        raise InputError(f"n_clusters must be a whole number, 'auto' or None, got {count!r}")
    fewest = count is None or (isinstance(count, str) and np.ndim(radius) == 0)
    if radius is None:
        if not isinstance(count, numbers.Integral):
            raise InputError("radius=None asks for the smallest radius: give n_clusters")
        start = with_smallest_radius(_instance(model, space, chosen, count, np.inf), request)
    elif fewest and (count is None or np.isfinite(radius)):
        start = with_fewest_clusters(_instance(model, space, chosen, 1, radius), request)
    else:
        if isinstance(count, str):
            count = len(radius) if np.ndim(radius) else min(DEFAULT_CLUSTERS, len(chosen.rows))
        start = Start(_instance(model, space, chosen, count, radius))
    if isinstance(count, numbers.Integral) and chosen.n_places < count <= len(chosen.rows):
        start = replace(start, labels=_split_places(chosen, int(count)), settled=True)
    if not isinstance(model.init, str):
        start = replace(start, labels=_initial(model, start, chosen))
    elif model.init != "k-means++":
        raise InputError(f"init must be 'k-means++' or labels, got {model.init!r}")
    return start


def _split_places(chosen: rows_of.Chosen, n_clusters: int) -> np.ndarray:
    """Labels at no cost of points at fewer places than clusters: some places are split."""
    labels, seen = chosen.place.copy(), np.zeros(len(chosen.place), dtype=bool)
    seen[np.unique(labels, return_index=True)[1]] = True
    spare = np.flatnonzero(~seen)[: n_clusters - chosen.n_places]
    labels[spare] = np.arange(chosen.n_places, n_clusters)
    return labels


def _instance(model, space, chosen: rows_of.Chosen, n_clusters, radius):
    links = {
        name: chosen.pairs(getattr(model, name), name) for name in ("cannot_link", "must_link")
    }
    return space.instance(chosen.rows, n_clusters, radius, sample_weight=chosen.weights, **links)


def _initial(model, start: Start, chosen: rows_of.Chosen) -> np.ndarray:
    labels = np.asarray(model.init)
    if labels.ndim != 1 or len(labels) != chosen.n_rows:
        raise InputError(
            f"init must be 'k-means++' or {chosen.n_rows} labels, got shape {labels.shape}"
        )
    return labels[chosen.rows]


def refuse(model, space, chosen: rows_of.Chosen, certificate) -> None:
    certificate = chosen.in_rows(certificate)
    if "smallest_radius" in certificate:
        certificate["smallest_radius"] = float(space.radius_from(certificate["smallest_radius"]))
    count = model.n_clusters if isinstance(model.n_clusters, numbers.Integral) else 1
    radius = np.inf if model.radius is None else model.radius
    links = {
        name: () if getattr(model, name) is None else getattr(model, name)
        for name in ("cannot_link", "must_link")
    }
    whole = space.instance(np.arange(len(space)), count, radius, **links)
    raise InfeasibleError(
        certificate.explain(whole),
        certificate.about(whole),
        certificate.get("fewest_clusters"),
        certificate.get("smallest_radius"),
    )
