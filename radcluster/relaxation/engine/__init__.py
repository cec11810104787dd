"""A first-order method for the Peng-Wei relaxation, with a bound that holds at every iterate."""
