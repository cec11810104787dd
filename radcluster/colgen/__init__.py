"""Column generation and branch and price for radius-constrained k-means."""
