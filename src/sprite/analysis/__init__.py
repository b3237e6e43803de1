"""What a fit tells: every answer is a function of a finished `Fit` and returns a tidy pandas frame."""
