"""The engines: each takes a problem to a `Run`, and `fitting.fit` makes a `Fit` of it."""
