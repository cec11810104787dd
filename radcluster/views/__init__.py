"""Results, certificates and comparisons drawn and tabulated.

The objects themselves lie on lower floors and find these functions by :func:`radcluster.show.view`.
"""
