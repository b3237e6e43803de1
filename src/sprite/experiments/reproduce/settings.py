"""How much of everything: the full study, and a small one that shows that all of it works."""

from __future__ import annotations

from dataclasses import dataclass, field

from sprite.engines.em import EM
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.experiments.reproduce import published
from sprite.experiments.reproduce.published import PaperTest


def _mode_alone() -> EM:
    # Predictions from the posterior mode as it is; what its uncertainty adds is for the full posterior to show.
    return EM(standard_errors=False)


def _gibbs_for_prediction() -> Gibbs:
    # Predictions are averages over abilities as well: a few hundred draws leave an error far below that of the pattern.
    return Gibbs(chains=2, draws=150, warmup=100, starts=2)


def _gibbs_for_means() -> Gibbs:
    # For errors of posterior means, two chains of six hundred draws do.
    return Gibbs(chains=2, draws=600, warmup=300)


@dataclass(frozen=True)
class Settings:
    """What the experiments are made of."""

    # Synthetic data.
    sizes: tuple[int, ...] = (25, 50, 100, 150, 200)
    replications: int = 20
    gibbs: Gibbs = field(default_factory=_gibbs_for_means)
    metropolis: Metropolis = field(
        default_factory=lambda: Metropolis(
            chains=1, warmup=published.WARMUP, draws=published.DRAWS, thin=10, start="prior"
        )
    )
    metropolis_up_to: int = 100
    """The largest size at which the paper's sampler is run."""

    # Prediction, on real tests and on simulated ones.
    share: float = published.PUNCTURE
    patterns: int = published.PATTERNS
    em: EM = field(default_factory=_mode_alone)
    predicting: Gibbs = field(default_factory=_gibbs_for_prediction)
    large: int = 50_000
    """Cells (respondents times questions) from which on a test is large for Gibbs."""
    patterns_of_large: int = 5
    """Patterns by Gibbs on a large test."""
    patterns_of_learned: int = 10
    """Patterns of real tests with learned priors, which take several times as long."""
    few: int = 3
    """Patterns of simulated tests with learned priors, and of those that are drawn from priors."""
    shapes: tuple[PaperTest, ...] = published.TESTS

    # Information.
    splits: int = 5
    """Ways in which respondents are parted into those who choose the short form and those who try it."""
    form: float = 1 / 3
    """Part of the questions that a short form keeps."""
    random_forms: int = 10


FULL = Settings()
QUICK = Settings(
    sizes=(8, 16),
    replications=2,
    gibbs=Gibbs(chains=2, draws=60, warmup=40, starts=1),
    metropolis=Metropolis(chains=1, warmup=200, draws=200, thin=2, start="prior"),
    metropolis_up_to=8,
    patterns=2,
    em=EM(starts=1, standard_errors=False),
    predicting=Gibbs(chains=1, draws=20, warmup=20, starts=1),
    large=500,
    patterns_of_large=1,
    patterns_of_learned=1,
    few=1,
    shapes=(
        PaperTest("small ordered test", 9, 60, 3, True, 1.0),
        PaperTest("small unordered test", 11, 50, 4, False, 0.7),
    ),
    splits=1,
    random_forms=2,
)
