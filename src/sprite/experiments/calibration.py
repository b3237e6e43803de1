"""Simulation-based calibration: where a truth drawn from the prior ranks among the draws of its own posterior.

If an engine samples the posterior, the rank of anything that depends on truth and data is uniform. Tests are drawn from
the model's prior (the truth honours the anchor), several of them side by side in one table: they share neither
respondents nor questions, so each has its own posterior and one fit does for all. Truth and draws pass the same
alignment: where a model has a mirror image, each is turned so that options whose choosers score higher stand higher.
LORD's orientation is restricted inside its engines instead, so its tests are fitted one at a time, and those whose
truth lies outside the region are left out: given the data, the others are draws of the restricted posterior.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.data.responses import Responses, from_codes
from sprite.density.grid import grid_for
from sprite.density.packing import Packing
from sprite.density.posterior import Posterior
from sprite.engines.base import Engine
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.engines.nuts import NUTS
from sprite.fitting import fit
from sprite.kernels.threads import get_threads, set_threads
from sprite.models.base import Model
from sprite.models.registry import MODELS, model_of
from sprite.result.abilities import plausible_values, thinned
from sprite.result.orientation import ENOUGH_FOR_A_SIGN, option_means, reflection
from sprite.simulation import simulate

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 63
"""Draws of each posterior that a truth is ranked among: far enough apart to be nearly independent."""
SIDE_BY_SIDE = 25
PEOPLE = 2
"""Respondents of each test whose abilities are ranked."""


@dataclass(frozen=True, eq=False)
class Tests:
    """Simulated tests side by side in one table, with the truth behind them."""

    responses: Responses
    model: Model
    x: Floats
    ranks: dict[str, Ints]
    abilities: Floats
    n_tests: int
    packing: Packing


def side_by_side(
    model: Model, n_respondents: int, n_questions: int, n_options: int, seeds: Sequence[Sequence[int]]
) -> Tests:
    """One test drawn from the prior for each seed."""
    made = [simulate(model, n_respondents, n_questions, n_options, kind="prior", seed=_number(seed)) for seed in seeds]
    n, q = n_respondents, n_questions
    codes = np.full((n * len(made), q * len(made)), -1)
    for c, test in enumerate(made):
        code = test.responses.row - test.responses.first[test.responses.question_of_row[test.responses.row]]
        codes[n * c : n * (c + 1), q * c : q * (c + 1)] = code.reshape(n, q)
    orders = [test.responses.rank for test in made if test.responses.rank is not None]
    responses = from_codes(
        codes,
        [labels for test in made for labels in test.responses.options],
        correct=np.concatenate([test.responses.correct for test in made]),
        rank=np.concatenate(orders) if orders else None,
    )
    values = {
        name: np.concatenate([np.asarray(test.truth.values[name]) for test in made]) for name in made[0].truth.values
    }
    packing = Packing(model, responses.layout)
    free = [p.name for p in packing.discrete if p.name not in packing.fixed_ranks]
    return Tests(
        responses,
        model,
        packing.pack(values),
        {name: np.asarray(values[name], np.int64) for name in free},
        np.concatenate([test.truth.abilities for test in made]),
        len(made),
        packing,
    )


def calibrate(
    model: Model | str,
    engine: Engine,
    n_respondents: int = 30,
    n_questions: int = 4,
    n_options: int = 3,
    replications: int = 100,
    seed: int = 0,
    jobs: int = 1,
    together: int = SIDE_BY_SIDE,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Ranks of the truth among posterior draws: replication, quantity, rank (0 to draws), draws, ess of those draws.

    `together` tests are fitted side by side (LORD: one). The result does not depend on `jobs`, the processes used.
    """
    import pandas as pd

    if min(n_respondents, n_questions, replications, jobs, together, draws) < 1:
        raise InputError("calibrate needs at least one of everything", found=(replications, jobs, together, draws))
    chosen = model_of(model)
    size = 1 if chosen.name == "lord" else together
    batches = [range(begin, min(begin + size, replications)) for begin in range(0, replications, size)]
    one = partial(_ranks, chosen, engine, (n_respondents, n_questions, n_options), draws, seed)
    if jobs == 1:
        found = [one(batch) for batch in batches]
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(one, batches))
    lines = [line for batch in found for line in batch]
    return pd.DataFrame(lines, columns=["replication", "quantity", "rank", "draws", "ess"])


def _ranks(
    model: Model, engine: Engine, sizes: tuple[int, int, int], draws: int, seed: int, batch: range
) -> list[tuple[int, str, int, int, float]]:
    """Simulate, fit and rank one batch of replications, on one thread."""
    from arviz_stats.base.array import BaseArray

    tests = side_by_side(model, *sizes, [(seed, replication) for replication in batch])
    threads = get_threads()
    try:
        set_threads(1)
        fitted = fit(tests.responses, model, engine, _number((seed, batch.start, 1)))
    finally:
        set_threads(threads)
    rng = np.random.default_rng([seed, batch.start, 2])
    truth = quantities(tests, tests.x[None], {k: v[None] for k, v in tests.ranks.items()}, tests.abilities[None])
    usable = _usable(tests)
    which = thinned(fitted, draws)  # evenly spaced over all chains
    orders = {name: rank.reshape(-1, rank.shape[-1])[which] for name, rank in fitted.ranks.items()}
    abilities = plausible_values(fitted, len(which), _number((seed, batch.start, 3)))
    drawn = quantities(tests, fitted.x.reshape(-1, fitted.x.shape[-1])[which], orders, abilities)
    lines, stats = [], cast(Any, BaseArray())
    for name, values in drawn.items():
        chains = np.moveaxis(values[: len(values) // fitted.n_chains * fitted.n_chains], 1, 0)
        chains = chains.reshape(values.shape[1], fitted.n_chains, -1)
        below, equal = (values < truth[name]).sum(axis=0), (values == truth[name]).sum(axis=0)
        # Orders have ties with the truth: a place among the tied ones is drawn.
        rank = below + rng.integers(0, equal + 1)
        for c, replication in enumerate(batch):
            if usable[c]:
                lines.append((replication, name, int(rank[c]), len(values), float(stats.ess(chains[c]))))
    return lines


def quantities(tests: Tests, x: Floats, ranks: dict[str, Ints], abilities: Floats) -> dict[str, Floats]:
    """What is ranked, by name, (draws, tests), after each test's draws have been turned the right way up.

    Of each kind of parameter the first free one and the sum over the test; two abilities; log likelihood and log
    prior of the whole test, which see what no single parameter does; and the rank of the first option.
    """
    layout, packing, n = tests.responses.layout, tests.packing, tests.n_tests
    signs = reflection(tests.model, layout, packing)
    if signs is not None:
        turned = leans(tests, x, ranks) < 0
        x = np.where(turned[:, packing.question // (layout.n_questions // n)], signs * x, x)
        abilities = np.where(np.repeat(turned, abilities.shape[1] // n, axis=1), -abilities, abilities)
    posterior = Posterior(tests.responses, tests.model, grid_for(tests.model.ability, 121))
    values = packing.unpack(x, ranks)
    out: dict[str, Floats] = {}
    for p in packing.continuous:
        entries = np.asarray(values[p.name], float)
        entries = np.log(entries) if p.constraint == "positive" else entries
        entries = entries.reshape(len(x), n, -1)
        free = np.ones(entries.shape[1:], dtype=bool) if p.fixed is None else np.isnan(p.fixed).reshape(n, -1)
        name = f"log {p.name}" if p.constraint == "positive" else p.name
        out[f"{name} first"] = entries[:, np.arange(n), np.argmax(free, axis=1)]
        power = 2 if p.constraint == "zero_sum" else 1  # their mean is 0
        out[f"{name} sum{' of squares' * (power - 1)}"] = np.where(free, entries**power, 0.0).sum(axis=-1)
    by_person = abilities.reshape(len(x), n, -1)
    for i in range(min(PEOPLE, by_person.shape[-1])):
        out[f"ability {i + 1}"] = by_person[..., i]
    likelihood = [posterior.log_likelihoods(at, {k: v[d] for k, v in ranks.items()}) for d, at in enumerate(x)]
    out["log likelihood"] = np.array(likelihood).reshape(len(x), n, -1).sum(axis=-1)
    out["log prior"] = posterior.log_prior(x, values)[0].reshape(len(x), n, -1).sum(axis=-1)
    for name, rank in ranks.items():
        out[f"{name} first"] = rank.reshape(len(x), n, -1)[..., 0].astype(float)
    return out


def leans(tests: Tests, x: Floats, ranks: dict[str, Ints]) -> Floats:
    """The functional of `result.orientation.flips`, (draws, tests): negative where a test stands upside down."""
    layout = tests.responses.layout
    grid = grid_for(tests.model.ability, ENOUGH_FOR_A_SIGN)
    means = option_means(x, ranks, tests.model, layout, tests.packing, grid)
    return np.asarray((means * (layout.count * layout.score)).reshape(len(x), tests.n_tests, -1).sum(axis=-1))


def _usable(tests: Tests) -> NDArray[np.bool_]:
    """Tests that count: the data tell their direction, and with learned orders the truth lies in the region."""
    layout = tests.responses.layout
    weight = np.abs(layout.count * layout.score).reshape(tests.n_tests, -1).max(axis=1)
    known: NDArray[np.bool_] = (weight > 1e-10) | (reflection(tests.model, layout, tests.packing) is None)
    if tests.ranks:
        known &= leans(tests, tests.x[None], {k: v[None] for k, v in tests.ranks.items()})[0] >= 0
    return known


def _number(seed: Sequence[int]) -> int:
    return int(np.random.SeedSequence(list(seed)).generate_state(1)[0])


def uniformity(ranks: pd.DataFrame, simulations: int = 4000) -> pd.DataFrame:
    """Tests of uniform ranks by quantity: n, chi_square and ecdf (p-values), p (both and all quantities considered).

    `ecdf` is the simultaneous band of the empirical distribution function: the least binomial tail probability over all
    places, compared with what uniform ranks give. `p` is the smaller one times twice the number of quantities, which
    holds however the quantities depend on each other.
    """
    import pandas as pd
    from scipy.stats import binom, chisquare

    lines = []
    for quantity, group in ranks.groupby("quantity", sort=False):
        n, places = len(group), int(group["draws"].iloc[0]) + 1
        bins = int(np.clip(n // 5, 2, 16))
        expected = np.bincount(np.arange(places) * bins // places, minlength=bins) * n / places
        rank = group["rank"].to_numpy()
        counts = np.bincount(rank * bins // places, minlength=bins)
        at = np.arange(1, places) / places
        reached = np.arange(n + 1)[:, None]
        tail = np.log(2.0) + np.minimum(binom.logcdf(reached, n, at), binom.logsf(reached - 1, n, at))
        uniform = np.random.default_rng(0).integers(0, places, (simulations, n))

        def depth(drawn: Ints, tail: Floats = tail, places: int = places) -> float:
            below = np.cumsum(np.bincount(drawn, minlength=places))[:-1]
            return float(tail[below, np.arange(places - 1)].min())

        exceeded = sum(depth(each) <= depth(rank) for each in uniform)
        lines.append((quantity, n, group["ess"].median(), chisquare(counts, expected).pvalue, exceeded + 1))
    out = pd.DataFrame(lines, columns=["quantity", "n", "median_ess", "chi_square", "ecdf"])
    out["ecdf"] /= simulations + 1
    out["p"] = np.minimum(1.0, 2 * len(out) * out[["chi_square", "ecdf"]].min(axis=1))
    return out


def main() -> None:
    """Every model with every engine: how often each rank came up, `ranks.csv`, and `uniformity.csv`.

    The lines of pairs that are not run are kept.
    """
    import argparse
    from pathlib import Path

    import pandas as pd

    parser = argparse.ArgumentParser(prog="python -m sprite.experiments.calibration")
    parser.add_argument("--replications", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, required=True, help="folder to write to")
    parser.add_argument("--pairs", nargs="*", default=list(study()), help="such as sprite-gibbs; all by default")
    given = parser.parse_args()
    given.store.mkdir(parents=True, exist_ok=True)
    for pair in given.pairs:
        model, engine, together = study()[pair]
        began = time.perf_counter()
        ranks = calibrate(model, engine, replications=given.replications, jobs=given.jobs, together=together)
        tests = uniformity(ranks).round(4)
        print(f"{pair}: smallest p {tests['p'].min():.3g} after {time.perf_counter() - began:.0f} s", flush=True)
        counts = ranks.groupby(["quantity", "rank", "draws"], sort=False).size().reset_index(name="count")
        for name, frame in (("ranks", counts), ("uniformity", tests)):
            path, lines = given.store / f"{name}.csv", frame.assign(pair=pair)
            if path.exists():
                before = pd.read_csv(path)
                lines = pd.concat([before[before["pair"] != pair], lines])
            lines.to_csv(path, index=False)


def study() -> dict[str, tuple[Model, Engine, int]]:
    """The pairs, each with how many tests are fitted side by side."""
    engines: list[tuple[Engine, int]] = [
        (Gibbs(chains=2, draws=1000, warmup=200, starts=1), 25),
        (NUTS(chains=1, draws=600, warmup=300, starts=1), 5),
        (Metropolis(chains=1, warmup=2000, draws=16_000, thin=25), 5),
    ]
    pairs = {f"{name}-{e.name}": (kind(), e, together) for name, kind in MODELS.items() for e, together in engines}
    del pairs["lord-nuts"]  # NUTS moves only what is continuous
    return pairs


if __name__ == "__main__":
    main()
