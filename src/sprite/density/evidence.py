"""How probable the answers are under hyperparameters: question parameters integrated out around a mode.

Laplace's approximation takes one question's parameters at a time: log p(answers) is about the log posterior at its
mode plus, of each question, D/2 log 2 pi - 1/2 log |information|. What two questions' parameters share is left out; it
sits in two directions, a shift and a stretch of all questions, out of hundreds.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from sprite.core.types import Floats
from sprite.density.blocks import Blocks, Metric, metric_of
from sprite.density.information import question_information
from sprite.density.posterior import Posterior, Ranks

_STEP = 1e-3
_LEAST = 1e-3  # no prior is flatter: a smaller curvature is that of a mode about to vanish, and no width
_SOLVED = 1e-3


def log_evidence(posterior: Posterior, x: Floats, ranks: Ranks) -> tuple[float, Metric]:
    """Log evidence from the mode x, and the metric in which each question's information is 1 there."""
    metric = metric_of(Blocks.of(posterior.packing), question_information(posterior, x, ranks), _LEAST)
    log_det = 2.0 * np.log(np.einsum("qii->qi", metric.factor)).sum()
    level = posterior.evaluate(x, ranks).value
    return level + 0.5 * (posterior.packing.n_free * np.log(2 * np.pi) - log_det), metric


def mode_shift(posterior: Posterior, moved: Posterior, x: Floats, ranks: Ranks, metric: Metric) -> Floats:
    """How far the mode x moves, to first order, when the posterior becomes another one near it.

    The information times the shift is the gradient of the moved posterior at x, solved by conjugate gradients with
    differences of gradients in place of the information, which is then never formed.
    """
    here = posterior.evaluate(x, ranks).gradient

    def information(y: Floats) -> Floats:
        size = _STEP / max(float(np.linalg.norm(y)), 1e-300)
        there = posterior.evaluate(x + size * metric.unwhiten(y), ranks).gradient
        return metric.pull(here - there) / size

    pulled = metric.pull(moved.evaluate(x, ranks).gradient - here)
    operator = LinearOperator((len(x), len(x)), matvec=information, dtype=np.float64)
    return metric.unwhiten(cg(operator, pulled, rtol=_SOLVED, maxiter=50)[0])
