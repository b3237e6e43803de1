"""Directions in which all questions move together: where the posterior is much wider than each question alone says."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sprite.core.types import Floats
from sprite.density.blocks import Metric
from sprite.density.posterior import Posterior
from sprite.result.run import Mode

WIDER = 2.0
"""A direction is global where its posterior variance exceeds by this factor what the questions alone account for."""
MOST = 3
STEP = 1e-3
"""For differences of gradients, where each question's own standard deviation is 1."""
TOLERANCE = 1e-2
"""Any direction will do for a move; it need not be known well."""


def global_directions(posterior: Posterior, mode: Mode, metric: Metric) -> Floats:
    """The widest ones in x, each as long as the posterior's standard deviation along it: (directions, n_free).

    Where each question's own curvature is 1, they are the smallest eigenvalues of the information. Lanczos' method
    needs no more of it than its product with some vectors, and that is a difference of two gradients.
    """
    size = posterior.packing.n_free
    number = min(MOST, size - 1)
    if number < 1:
        return np.empty((0, size))

    def times(y: Floats) -> Floats:
        step = metric.unwhiten(STEP * y.ravel() / max(float(np.linalg.norm(y)), np.finfo(float).tiny))
        up, down = (posterior.evaluate(mode.x + sign * step, mode.ranks).gradient for sign in (1.0, -1.0))
        return metric.pull(down - up) * float(np.linalg.norm(y)) / (2.0 * STEP)

    information = LinearOperator((size, size), matvec=times, dtype=np.float64)
    begin = np.random.default_rng(0).standard_normal(size)
    try:
        value, vector = eigsh(information, number, which="SA", tol=TOLERANCE, v0=begin, maxiter=30)
    except ArpackNoConvergence as stopped:
        value, vector = np.real(stopped.eigenvalues), np.real(stopped.eigenvectors)
    wide = (value > 0.0) & (value < 1.0 / WIDER)
    return metric.unwhiten((vector[:, wide] / np.sqrt(value[wide])).T)
