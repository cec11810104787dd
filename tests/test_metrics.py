"""Metrics on partitions small enough to check by hand."""

import numpy as np
import pytest

from radcluster import metrics

LINE = np.array([[0.0], [2.0], [3.0], [9.0]])


def test_radii_by_hand():
    labels = [0, 0, 1, 2]
    assert metrics.partition_radii(LINE, labels).tolist() == [1.0, 0.0, 0.0]
    assert metrics.k_radii(LINE, labels, [[0.5], [3.0], [8.0]]).tolist() == [1.5, 0.0, 1.0]


def test_a_cluster_without_points_has_radius_zero():
    assert metrics.partition_radii(LINE, [0, 0, 0, 2], n_clusters=4).tolist() == [
        1.5,
        0.0,
        0.0,
        0.0,
    ]
    assert metrics.k_radii(LINE, [0, 0, 0, 0], [[0.0], [5.0]]).tolist() == [9.0, 0.0]


def test_voronoi_and_assigned_radii_differ_where_a_point_is_not_at_its_nearest_centre():
    labels = np.array([0, 0, 1, 1])  # centres 1 and 6: the point at 3 is nearer to 1
    row = metrics.summary(LINE, labels)
    assert row["assigned_partition_radius"] == 3.0
    assert row["partition_radius"] == 1.5
    assert row["assigned_k_radius"] == 3.0
    assert row["k_radius"] == 3.0
    assert row["wcss"] == pytest.approx(1 + 1 + 9 + 9)


def test_wcss_is_the_pairwise_form_of_the_paper():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(30, 3)), np.repeat([0, 1, 4], 10)
    pairwise = sum(
        np.square(points[labels == k][:, None] - points[labels == k][None]).sum() / 20
        for k in (0, 1, 4)
    )
    assert metrics.wcss(points, labels) == pytest.approx(pairwise)


def test_clusters_and_classes():
    labels = np.array([0, 0, 0, 1, 1, 2])
    classes = np.array([7, 7, 8, 8, 8, 8])
    assert metrics.majority_classes(labels, classes).tolist() == [7, 8, 8]
    assert metrics.clusters_in_class(labels, classes, 8) == 2
    assert metrics.coverage(labels, classes, [7, 8]) == 2
    assert metrics.coverage(np.zeros(6, dtype=int), classes, [7, 8]) == 1


def test_misassigned_does_not_depend_on_names():
    classes = np.repeat([0, 1, 2], 4)
    assert metrics.misassigned(classes, classes) == 0
    assert metrics.misassigned((classes + 1) % 3, classes) == 0
    assert metrics.misassigned([0] * 5 + [1] * 3 + [2] * 4, classes) == 1


def test_prototype_accuracy():
    classes = np.array([0, 0, 1, 1])
    assert metrics.prototype_accuracy(LINE, [0, 0, 1, 1], [[1.0], [6.0]], classes) == 0.75
    assert metrics.prototype_accuracy(LINE, [0, 0, 0, 0], [[3.0], [5.0]], classes) == 0.5
