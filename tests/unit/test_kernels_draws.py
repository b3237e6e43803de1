"""Draws of ability: from the right distribution, the same on any number of threads.

Statistical tests have two levels and fixed seeds: beyond the first they speak (pytest -s), beyond the second fail.
"""

import multiprocessing

import numpy as np
import pytest
from scipy import stats

from sprite.kernels import draws, passes

ALERT, FAIL = 0.01, 1e-5


def judge(p_value, what):
    if p_value < ALERT:
        print(f"alert: {what}: p = {p_value:.2g}")
    assert p_value > FAIL, f"{what}: p = {p_value:.2g}"


def small_test(n_nodes=41):
    """Ten patterns of answers to four questions, skewed so that a mirrored draw would show."""
    rng = np.random.default_rng(3)
    nodes = np.linspace(-4, 5, n_nodes)
    logits = rng.normal(1.0, 1.5, (4, 3, 1)) * nodes + rng.normal(size=(4, 3, 1))
    table = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).reshape(12, n_nodes)
    answers = rng.integers(0, 3, (10, 4)) + 3 * np.arange(4)
    lengths = np.arange(10) % 5
    row = np.concatenate([line[:n] for line, n in zip(answers, lengths, strict=True)]).astype(np.int32)
    return np.concatenate([[0], np.cumsum(lengths)]), row, table, -0.5 * (nodes - 0.3) ** 2, nodes


def repeated(start, row, times):
    """The same respondents many times over."""
    lengths = np.tile(np.diff(start), times)
    return np.concatenate([[0], np.cumsum(lengths)]), np.tile(row, times)


def test_draw_nodes_inverts_the_cumulated_posterior():
    *data, _ = small_test()
    cumulated = passes.posterior(*data, 0, 10).cumsum(axis=1)
    for u in (0.0, 0.1, 0.5, 0.9, 1 - 2**-53):
        expected = np.minimum((cumulated <= u * cumulated[:, -1:]).sum(axis=1), 40)
        np.testing.assert_array_equal(draws.draw_nodes(*data, np.full(10, u)), expected)


def test_draw_nodes_follows_the_posterior():
    start, row, table, log_weight, _ = small_test()
    times = 20_000
    uniform = np.random.default_rng(11).random(10 * times)
    node = draws.draw_nodes(*repeated(start, row, times), table, log_weight, uniform).reshape(times, 10)
    post = passes.posterior(start, row, table, log_weight, 0, 10)
    for i in range(10):
        expected = times * post[i]
        kept = expected > 5
        observed = np.bincount(node[:, i], minlength=41)
        pair = np.array([[*f[kept], f[~kept].sum()] for f in (observed, expected)])
        pair = pair[:, pair[1] > 0]
        judge(stats.chisquare(*pair, sum_check=False).pvalue, f"nodes drawn for pattern {i}")


def test_node_counts_and_the_fused_call():
    start, row, table, log_weight, _ = small_test()
    start, row = repeated(start, row, 30)
    uniform = np.random.default_rng(5).random(300)
    node = draws.draw_nodes(start, row, table, log_weight, uniform)
    counts = draws.node_counts(start, row, node, *table.shape)
    expected = np.zeros_like(table)
    np.add.at(expected, (row, np.repeat(node, np.diff(start))), 1.0)
    np.testing.assert_array_equal(counts, expected)
    out = np.full(300, -7, dtype=np.int32), np.full(table.shape, 3.0)
    found = draws.draw_counts(start, row, table, log_weight, uniform, out=out)
    assert found[0] is out[0]
    assert found[1] is out[1]
    np.testing.assert_array_equal(out[0], node)
    np.testing.assert_array_equal(out[1], counts)


def test_arrays_that_do_not_fit_are_refused():
    *data, _ = small_test()
    with pytest.raises(ValueError, match="uniform must be 10 numbers"):
        draws.draw_nodes(*data, np.zeros(9))
    with pytest.raises(ValueError, match="out must be int32"):
        draws.draw_counts(*data, np.zeros(10), out=(np.zeros(10, dtype=np.int64), np.zeros((12, 41))))


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_draws_do_not_depend_on_threads(n):
    start, row, table, log_weight, nodes = small_test()
    start, row = repeated(start, row, 30)
    u, v = np.random.default_rng(5).random((2, 300))
    one = draws.draw_counts(start, row, table, log_weight, u, threads=1)
    several = draws.draw_counts(start, row, table, log_weight, u, threads=n)
    np.testing.assert_array_equal(one[0], several[0])
    np.testing.assert_array_equal(one[1], several[1])
    z = draws.draw_abilities(start, row, table, log_weight, nodes, u, v, threads=1)
    np.testing.assert_array_equal(z, draws.draw_abilities(start, row, table, log_weight, nodes, u, v, threads=n))


def normal_draws(spacing, times=400_000):
    """Draws off the grid for one respondent whose posterior is N(0.1, 1)."""
    nodes = np.arange(-9.0, 9.0, spacing)
    log_weight = -0.5 * (nodes - 0.1) ** 2
    u, v = np.random.default_rng(17).random((2, times))
    no_answers = np.zeros(times + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return draws.draw_abilities(*no_answers, np.zeros((1, len(nodes))), log_weight, nodes, u, v)


@pytest.mark.parametrize("spacing", [0.25, 0.5])
def test_abilities_off_the_grid_have_no_extra_variance(spacing):
    z = normal_draws(spacing)
    judge(2 * stats.norm.sf(abs(z.mean() - 0.1) * np.sqrt(len(z))), "mean of abilities")
    statistic = len(z) * z.var()
    judge(2 * min(stats.chi2.cdf(statistic, len(z)), stats.chi2.sf(statistic, len(z))), "variance of abilities")
    # Jitter would have been found out: its extra variance is several standard errors.
    assert spacing**2 / 12 > 2 * np.sqrt(2 / len(z))


def test_abilities_on_a_coarse_grid_beat_jitter_by_far():
    # Spacing of one standard deviation: jitter adds 1/12; linear interpolation of the log density is wrong by h^4/120.
    extra = normal_draws(1.0).var() - 1.0
    assert abs(extra) < 0.2 / 12


def test_abilities_follow_the_interpolated_density():
    start, row, table, log_weight, nodes = small_test(n_nodes=10)
    times = 20_000
    u, v = np.random.default_rng(23).random((2, 10 * times))
    z = draws.draw_abilities(*repeated(start, row, times), table, log_weight, nodes, u, v).reshape(times, 10)
    fine = np.linspace(nodes[0], nodes[-1], 9 * 400 + 1)
    for i in range(10):
        level = log_weight + table[row[start[i] : start[i + 1]]].sum(axis=0)
        density = np.exp(np.interp(fine, nodes, level - level.max()))
        cdf = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
        judge(stats.kstest(z[:, i], lambda x, cdf=cdf: np.interp(x, fine, cdf / cdf[-1])).pvalue, f"abilities {i}")


def test_flat_steep_and_broken_cells():
    nodes = np.linspace(0.0, 3.0, 4)
    u = np.array([0.0, 0.25, 0.5, 0.999])
    start, row, table = np.zeros(5, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros((1, 4))

    def drawn(level):
        return draws.draw_abilities(start, row, table, np.array(level, dtype=float), nodes, u, u)

    np.testing.assert_allclose(drawn([0, 0, 0, 0])[:2], [0.0, 0.25 + 0.0])
    np.testing.assert_allclose(drawn([0, 1e-9, 0, 0])[:2], [0.0, 0.25], atol=1e-8)
    assert (drawn([0, -5000, -9000, -9000]) < 0.01).all()
    climbing = drawn([-np.inf, -9000, -5000, 0])
    assert climbing[0] == 2.0  # a uniform of exactly 0 is the end of the cell, not -inf
    assert (climbing[1:] > 2.99).all()
    np.testing.assert_array_equal(drawn([-np.inf, 0, -np.inf, -np.inf]), 1.0)
    assert np.isnan(drawn([-np.inf] * 4)).all()


def test_impossible_answers_draw_nothing():
    table = np.array([[-np.inf] * 3, [0.0] * 3])
    start, row = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    node, counts = draws.draw_counts(start, row, table, np.zeros(3), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(node, [-1, 1])
    np.testing.assert_array_equal(counts, [[0, 0, 0], [0, 1, 0]])


def _child(queue):
    *data, _ = small_test()
    queue.put(passes.expected_counts(*data, threads=2)[0])


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_threads_work_in_a_forked_child():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    *data, _ = small_test()
    here = passes.expected_counts(*data, threads=2)[0]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    there = queue.get(timeout=60)
    child.join()
    np.testing.assert_array_equal(here, there)
