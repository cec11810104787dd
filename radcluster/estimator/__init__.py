"""The scikit-learn estimator."""

from radcluster.estimator.radius_kmeans import RadiusKMeans

__all__ = ["RadiusKMeans"]
