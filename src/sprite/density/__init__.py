"""From a model's constrained parameters to a log density on one unconstrained vector."""
