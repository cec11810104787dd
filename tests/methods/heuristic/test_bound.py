"""What the quick methods say of the cost: a bound that is there at once, and no cost left lying."""

import numpy as np

from radcluster import Instance, RadiusKMeans, solve
from radcluster.datasets import two_moons
from radcluster.methods.heuristic.search import fewest_partition
from radcluster.problem.partition import objective_of
from radcluster.proof.verify import violations


def blobs(n, seed=0):
    rng = np.random.default_rng(seed)
    centers = 1.5 * rng.normal(size=(8, 12))
    return centers[rng.integers(8, size=n)] + rng.normal(size=(n, 12))


def test_many_dimensions_have_a_bound_at_once():
    result = solve(Instance(blobs(3000), 8), "heuristic")
    assert 0.3 * result.objective < result.lower_bound <= result.objective


def test_an_estimator_with_time_bounds_many_points():
    model = RadiusKMeans(8, time_limit=6.0).fit(blobs(3000))
    assert model.gap_ < 0.3
    assert model.lower_bound_ <= model.inertia_


def test_the_fewest_clusters_are_made_cheaper():
    points, _ = two_moons(n=(2550, 450))
    few = fewest_partition(points, 0.1)
    cheap = fewest_partition(points, 0.1, cheaper=True)
    instance = Instance(points, int(few.max()) + 1, 0.1)
    assert cheap.max() == few.max() and not violations(instance, cheap)
    assert objective_of(instance, cheap) < 0.99 * objective_of(instance, few)
    weights = np.where(points[:, 0] > 0.5, 50.0, 1.0)
    weighted = Instance(points, 1, 0.1, sample_weight=weights)
    other = fewest_partition(weighted, cheaper=True)
    whole = weighted.replace(n_clusters=int(other.max()) + 1)
    assert not violations(whole, other)
    if other.max() == cheap.max():
        assert objective_of(whole, other) <= objective_of(whole, cheap)
