"""tk-means: k-means with the long tails of Student's t (Li et al. 2021).

*Full*: the points are an equal mixture of K t-distributions in p dimensions with one scale alpha
and one number of degrees of freedom nu. With D_ij = ||x_j - mu_i||^2, each iteration of
expectation-maximisation takes

    tau_ij  proportional to  (1 + D_ij / (nu alpha))^(-(nu+p)/2)          memberships, sum_i = 1
    rho_ij = (nu + p) / (nu + D_ij / alpha)                               weights
    mu_i   = sum_j tau_ij rho_ij x_j / sum_j tau_ij rho_ij
    alpha  = sum_ij tau_ij rho_ij D_ij / (N p)
    nu     solves, with nu' its last value,
           log(nu/2) - psi(nu/2) + 1 + c + psi((nu'+p)/2) - log((nu'+p)/2) = 0,
           c = (1/N) sum_ij tau_ij (log rho_ij - rho_ij)

*Fast*: memberships at nu = 1 in the limit alpha -> 0, weights left out:

    tau_ij  proportional to  D_ij^(-(1+p)/2),    mu_i = sum_j tau_ij x_j / sum_j tau_ij

Both start from centres drawn uniformly from the bounding box of the data, and both report as
``cluster_centers_`` the means of the points that are labelled by their largest membership (the mu
of a label that no point has).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import digamma, gammaln, logsumexp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from radcluster.errors import InputError
from radcluster.problem.partition import cluster_centers

_TINY = np.finfo(float).tiny
_NU_RANGE = (1e-2, 1e3)


class TKMeans(ClusterMixin, BaseEstimator):
    """tk-means, fast or full.

    Parameters
    ----------
    variant : {"fast", "full"}
    tol : float
        An iteration is calm when its criterion (the log-likelihood; for ``fast`` the expected
        one, up to constants) changes by less than this.
    patience : int
        Stop after more than this many calm iterations in a row.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> TKMeans(2, random_state=1).fit(X).n_iter_ > 3
    True
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        variant="fast",
        max_iter=200,
        tol=0.1,
        patience=3,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.variant = variant
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.random_state = random_state

    def fit(self, X, y=None) -> TKMeans:
        """Cluster the rows of ``X``; ``y`` is not used."""
        if self.variant not in _STEPS:
            raise InputError(f"variant must be one of {', '.join(_STEPS)}: {self.variant!r}")
        X = validate_data(self, X, dtype=np.float64)
        if self.n_clusters > len(X):
            raise InputError(f"n_clusters={self.n_clusters} exceeds n_samples = {len(X)}")
        rng = check_random_state(self.random_state)
        centers = rng.uniform(X.min(axis=0), X.max(axis=0), (self.n_clusters, X.shape[1]))
        step, state = _STEPS[self.variant]
        criterion, calm, self.n_iter_ = np.inf, 0, 0
        for _ in range(self.max_iter):
            before = criterion
            self.n_iter_ += 1
            memberships, centers, state, criterion = step(X, centers, state)
            calm = calm + 1 if abs(criterion - before) < self.tol else 0
            if calm > self.patience:
                break
        if state is not None:
            self.scale_, self.degrees_of_freedom_ = state
        self.labels_ = memberships.argmax(axis=0)
        self.cluster_centers_ = centers
        used, members = np.unique(self.labels_, return_inverse=True)
        self.cluster_centers_[used] = cluster_centers(X, members, len(used))
        return self


def _fast_step(X, centers, state=None):
    """One iteration without scale and weights, so without a state."""
    # A centre may meet a point: there the membership is one, and no logarithm is infinite.
    logs = np.log(np.maximum(cdist(centers, X, "sqeuclidean"), _TINY))
    scores = -(1 + X.shape[1]) / 2 * logs
    memberships = np.exp(scores - logsumexp(scores, axis=0))
    centers = memberships @ X / memberships.sum(axis=1)[:, None]
    return memberships, centers, state, float((memberships * scores).sum())


def _full_step(X, centers, state):
    """One iteration of expectation-maximisation for centres, scale and degrees of freedom."""
    alpha, nu = state
    n, p = X.shape
    scaled = cdist(centers, X, "sqeuclidean") / alpha
    scores = -(nu + p) / 2 * np.log1p(scaled / nu)
    totals = logsumexp(scores, axis=0)
    memberships = np.exp(scores - totals)
    density = gammaln((nu + p) / 2) - gammaln(nu / 2) - p / 2 * np.log(np.pi * nu * alpha)
    likelihood = float(totals.sum() + n * (density - np.log(len(centers))))
    weights = (nu + p) / (nu + scaled)
    pull = memberships * weights
    centers = pull @ X / pull.sum(axis=1)[:, None]
    alpha = float((pull * cdist(centers, X, "sqeuclidean")).sum() / (n * p))
    spread = float((memberships * (np.log(weights) - weights)).sum() / n)
    return memberships, centers, (max(alpha, _TINY), _degrees(nu, p, spread)), likelihood


def _degrees(nu, p, spread):
    """Root of the likelihood equation for nu, or the end of its range towards which it tends."""
    constant = 1 + spread + digamma((nu + p) / 2) - np.log((nu + p) / 2)

    def slope(value):
        return np.log(value / 2) - digamma(value / 2) + constant

    low, high = _NU_RANGE
    if slope(low) <= 0:
        return low
    if slope(high) >= 0:
        return high
    return float(brentq(slope, low, high))


#: The iteration of each variant, and its starting state: alpha and nu for the full one.
_STEPS = {"fast": (_fast_step, None), "full": (_full_step, (0.01, 15.0))}
