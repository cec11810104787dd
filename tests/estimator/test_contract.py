"""scikit-learn's own checks of an estimator."""

import os
import subprocess
import sys

from sklearn.utils.estimator_checks import parametrize_with_checks

from radcluster import RadiusKMeans


@parametrize_with_checks([RadiusKMeans()])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_contract_with_array_dispatch():
    """One of the checks needs a variable that scipy reads when it is first imported."""
    program = """
from functools import partial
from sklearn.utils.estimator_checks import check_array_api_input
from radcluster import RadiusKMeans
check_array_api_input(
    "RadiusKMeans", RadiusKMeans(), array_namespace="numpy", expect_only_array_outputs=False
)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
