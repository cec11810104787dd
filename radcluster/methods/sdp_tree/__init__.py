"""Branch and bound on the Peng-Wei relaxation."""
