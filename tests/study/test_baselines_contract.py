"""The baselines are estimators like any other: scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from radcluster.study.baselines import CardinalityKMeans, CompleteLinkage, GreedyKCenter, KMedoids
from radcluster.study.tkmeans import TKMeans

BASELINES = [
    KMedoids(2),
    GreedyKCenter(2),
    CardinalityKMeans(2, n_init=2),
    CompleteLinkage(2),
    TKMeans(2),
    TKMeans(2, variant="full"),
]


@parametrize_with_checks(BASELINES)
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", BASELINES, ids=str)
def test_what_they_know_after_fitting(estimator):
    fitted = estimator.fit([[0.0, 0.0], [0.1, 0.0], [5.0, 1.0], [5.1, 1.0]])
    assert fitted.n_features_in_ == 2 and fitted.cluster_centers_.shape == (2, 2)
    if not isinstance(estimator, CompleteLinkage):
        assert fitted.n_iter_ >= 1
