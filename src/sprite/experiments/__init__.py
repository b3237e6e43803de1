"""Experiments on real and simulated answers: hide some, fit the rest, see how well the hidden ones are predicted."""
