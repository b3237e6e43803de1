"""NRM, GPCM and the classical statistics against numbers that come from elsewhere.

How they were obtained:

- SAT12 (600 respondents, 32 questions; `../shared/data/sat12` beside the repository). The GPCM log likelihood in label
  order, -19672.34, is the value reported by R's mirt 1.46.1; mirt itself is not run here. The NRM log likelihood must
  be at least -18928.42, which an earlier prototype's L-BFGS on the marginal likelihood reached; the supremum lies at
  infinity (a slope runs away), so there is no value to equal.
- Everything else is computed here by plain NumPy and SciPy, sharing no code with the package: option logits written out
  question by question, ability integrated by Gauss-Legendre panels (an uneven grid, unlike the package's; the runaway
  slope is too steep for Gauss-Hermite), and SciPy's L-BFGS-B with numerical gradients in another parametrisation
  (first option at zero).
- Point-biserial and alpha: tables small enough to be worked by hand; the working is in the docstrings.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, roots_legendre
from scipy.stats import norm

from sprite.analysis.classical import classical
from sprite.analysis.scores import abilities
from sprite.data.reading import read
from sprite.data.responses import Responses, from_codes
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.gpcm import GPCM
from sprite.models.nrm import NRM
from sprite.result.fit import Fit

DATA = Path(__file__).parents[3] / "shared" / "data" / "sat12"


def panels(n: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes on -8 to 8 and log weights of the standard normal density, by Gauss and Legendre in n panels."""
    x, w = roots_legendre(points)
    edges = np.linspace(-8.0, 8.0, n + 1)
    half = (edges[1] - edges[0]) / 2
    nodes = ((edges[:-1] + edges[1:])[:, None] / 2 + half * x).ravel()
    return nodes, norm.logpdf(nodes) + np.log(np.tile(half * w, n))


COARSE, FINE = panels(8, 12), panels(120, 8)
POINT = EM(standard_errors=False, draws=0)


# --- plain NumPy ---------------------------------------------------------------------------------------------------


def codes_of(responses: Responses) -> np.ndarray:
    """A dense table of option numbers, -1 where nothing was answered."""
    codes = np.full((responses.n_respondents, responses.n_questions), -1)
    question = responses.question_of_row[responses.row]
    codes[responses.respondent_of_answer, question] = responses.row - responses.first[question]
    return codes


def integrate(codes: np.ndarray, curves, rule=COARSE) -> tuple[float, np.ndarray, np.ndarray]:
    """Marginal log likelihood, EAPs and posterior deviations from log P(option | node), one table a question."""
    nodes, log_weights = rule
    level = np.tile(log_weights, (len(codes), 1))
    for j, curve in enumerate(curves(nodes)):
        seen = codes[:, j] >= 0
        level[seen] += curve[codes[seen, j]]
    total = logsumexp(level, axis=1)
    posterior = np.exp(level - total[:, None])
    mean = posterior @ nodes
    return float(total.sum()), mean, np.sqrt(posterior @ nodes**2 - mean**2)


def nrm_curves(slopes: list[np.ndarray], intercepts: list[np.ndarray]):
    """Bock's model: log softmax of a z + c."""
    return lambda z: [log_softmax(np.outer(a, z) + c[:, None], axis=0) for a, c in zip(slopes, intercepts, strict=True)]


def gpcm_curves(slopes: np.ndarray, steps: list[np.ndarray]):
    """Muraki's model in slope and step form, options in label order: k a z + d_1 + ... + d_k."""
    return lambda z: [
        log_softmax(np.outer(np.arange(len(d) + 1) * a, z) + np.append(0.0, np.cumsum(d))[:, None], axis=0)
        for a, d in zip(slopes, steps, strict=True)
    ]


def of_fit(fitted: Fit):
    """The curves of a fit from its published parameters, by the formulas above."""
    first, values = fitted.responses.first, fitted.values
    if fitted.model.name == "nrm":
        cut = first[1:-1]
        return nrm_curves(np.split(values["slope"], cut), np.split(values["intercept"], cut))
    return gpcm_curves(values["slope"], np.split(values["step"], np.cumsum(np.diff(first) - 1)[:-1]))


# --- SAT12 ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sat12() -> Responses:
    if not DATA.is_dir():
        pytest.skip("the SAT12 data are not beside the repository (../shared/data/sat12)")
    return read(DATA / "responses.csv", key=DATA / "key.csv")


@pytest.mark.parametrize("model", [NRM(prior=None), GPCM(order="label", prior=None)], ids=["nrm", "gpcm"])
def test_sat12_log_likelihood_and_abilities(sat12, model):
    fitted = fit(sat12, model, EM(starts=2, standard_errors=False))
    if model.name == "gpcm":
        assert fitted.log_likelihood == pytest.approx(-19672.34, abs=0.05)  # R mirt 1.46.1
    else:
        assert -18928.42 <= round(fitted.log_likelihood, 2) < -18927.0
    value, mean, sd = integrate(codes_of(sat12), of_fit(fitted), FINE)
    assert fitted.log_likelihood == pytest.approx(value, abs=0.02)
    frame = abilities(fitted)
    error = 5e-3 if model.name == "nrm" else 1e-5  # a slope beyond -100 is a step, which falls between the nodes
    np.testing.assert_allclose(frame.ability, mean, rtol=0.0, atol=error)
    np.testing.assert_allclose(frame.sd, sd, rtol=0.0, atol=error)


# --- small tests, fitted twice ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> Responses:
    """Three questions of 3, 3 and 2 options, 400 respondents, some answers missing; the key is the last option."""
    rng = np.random.default_rng(11)
    z = rng.normal(size=400)
    codes = np.empty((400, 3), dtype=int)
    slopes = [np.array([0.0, 0.7, 1.6]), np.array([0.0, 0.9, 2.0]), np.array([0.0, 1.3])]
    heights = [np.array([0.0, 0.5, 0.2]), np.array([0.0, 0.3, -0.4]), np.array([0.0, 0.3])]
    for j, (a, c) in enumerate(zip(slopes, heights, strict=True)):
        share = np.exp(log_softmax(np.outer(z, a) + c, axis=1))
        codes[:, j] = (rng.random(400)[:, None] > np.cumsum(share, axis=1)).sum(axis=1).clip(max=len(a) - 1)
    codes[rng.random(codes.shape) < 0.05] = -1
    correct = np.array([False, False, True, False, False, True, False, True])
    return from_codes(codes, [list("ABC"), list("ABC"), list("AB")], correct=correct)


def maximised(negative, start: np.ndarray) -> np.ndarray:
    """SciPy's L-BFGS-B with numerical gradients."""
    found = minimize(negative, start, method="L-BFGS-B", options={"maxiter": 3000, "maxfun": 200_000, "ftol": 1e-14})
    return found.x


def test_nrm_parameters_against_another_optimiser(small):
    codes = codes_of(small)

    def split(x):
        """Slopes and intercepts with the first option at zero."""
        a, c = np.split(x, 2)
        return [[np.append(0.0, part) for part in np.split(each, [2, 4])] for each in (a, c)]

    x = maximised(lambda x: -integrate(codes, nrm_curves(*split(x)))[0], np.full(10, 0.1))
    slopes, intercepts = split(x)
    fitted = fit(small, NRM(prior=None), POINT)
    value, mean, _ = integrate(codes, nrm_curves(slopes, intercepts))
    assert fitted.log_likelihood == pytest.approx(value, abs=0.005)
    sign = np.sign(slopes[0][2])  # orientation: the key's slope is positive
    cut = small.first[1:-1]
    for j in range(3):  # theirs centred, as ours are
        theirs, ours = sign * (slopes[j] - slopes[j].mean()), np.split(fitted.values["slope"], cut)[j]
        np.testing.assert_allclose(ours, theirs, atol=0.02)
        ours = np.split(fitted.values["intercept"], cut)[j]
        np.testing.assert_allclose(ours, intercepts[j] - intercepts[j].mean(), atol=0.02)
    np.testing.assert_allclose(abilities(fitted).ability, sign * mean, atol=0.02)


def test_gpcm_parameters_against_another_optimiser(small):
    codes = codes_of(small)

    def split(x):
        return x[:3], np.split(x[3:], [2, 4])

    x = maximised(lambda x: -integrate(codes, gpcm_curves(*split(x)))[0], np.full(8, 0.1))
    slopes, steps = split(x)
    fitted = fit(small, GPCM(order="label", prior=None), POINT)
    value, mean, _ = integrate(codes, gpcm_curves(slopes, steps))
    assert fitted.log_likelihood == pytest.approx(value, abs=0.005)
    sign = np.sign(slopes[0])
    np.testing.assert_allclose(fitted.values["slope"], sign * slopes, atol=0.02)
    np.testing.assert_allclose(fitted.values["step"], np.concatenate(steps), atol=0.02)
    np.testing.assert_allclose(abilities(fitted).ability, sign * mean, atol=0.02)


# --- classical statistics --------------------------------------------------------------------------------------------


def test_alpha_and_point_biserial_by_hand():
    """Five respondents, four questions, marks

        1 1 1 1 | 4
        1 1 1 0 | 3
        1 1 0 0 | 2
        1 0 0 1 | 2
        0 0 0 0 | 0

    Scores 4, 3, 2, 2, 0: mean 2.2, sum of squares about it 33 - 24.2 = 8.8. Questions p (1 - p) times 5: 0.8, 1.2, 1.2,
    1.2, together 4.4. alpha = 4/3 (1 - 4.4 / 8.8) = 2/3.
    Question 4 against the rest 3, 3, 2, 1, 0 (mean 1.8, sum of squares 23 - 16.2 = 6.8): right are the rests 3 and 1,
    so the sum of products is 4 - 2 x 1.8 = 0.4 and r = 0.4 / sqrt(1.2 x 6.8).
    Question 3 against 3, 2, 2, 2, 0 (mean 1.8, 21 - 16.2 = 4.8): 5 - 3.6 = 1.4 and r = 1.4 / sqrt(1.2 x 4.8).
    """
    marks = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]])
    responses = from_codes(marks, [["wrong", "right"]] * 4, correct=np.tile([False, True], 4))
    frame = classical(fit(responses, "nrm", POINT))
    assert frame.attrs["alpha"] == pytest.approx(2 / 3)
    assert frame.item_rest[3] == pytest.approx(0.4 / np.sqrt(1.2 * 6.8))
    assert frame.item_rest[2] == pytest.approx(1.4 / np.sqrt(1.2 * 4.8))
    np.testing.assert_allclose(frame.p_correct, [0.8, 0.6, 0.4, 0.4])
