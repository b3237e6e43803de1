"""The compiled passes against plain NumPy, on data as irregular as they come."""

from itertools import pairwise

import numpy as np
import pytest

from sprite.core.errors import InputError
from sprite.kernels import passes, threads


def ragged(n_respondents, n_questions, n_nodes, seed, share=0.5, spread=1.0):
    """Sparse answers to questions of 1 to 7 options; some respondents answered nothing."""
    rng = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(rng.integers(1, 8, n_questions))])
    nodes = np.linspace(-5, 5, n_nodes)
    logits = spread * (rng.normal(size=first[-1])[:, None] * nodes + rng.normal(size=first[-1])[:, None])
    table = np.concatenate([part - np.logaddexp.reduce(part, axis=0) for part in np.split(logits, first[1:-1])])
    observed = rng.random((n_respondents, n_questions)) < share * rng.integers(0, 3, (n_respondents, 1)) / 1.5
    chosen = rng.integers(0, np.diff(first), (n_respondents, n_questions)) + first[:-1]
    start = np.concatenate([[0], np.cumsum(observed.sum(axis=1))])
    log_weight = -0.5 * nodes**2 - np.log(np.exp(-0.5 * nodes**2).sum())
    return start, chosen[observed].astype(np.int32), table, log_weight, nodes


def reference(start, row, table, log_weight):
    levels = np.array([log_weight + table[row[a:b]].sum(axis=0) for a, b in pairwise(start)]).reshape(
        len(start) - 1, len(log_weight)
    )
    with np.errstate(invalid="ignore"):
        loglik = np.logaddexp.reduce(levels, axis=1)
        return levels, loglik, np.exp(levels - loglik[:, None])


CASES = {
    "ragged": ragged(300, 23, 41, seed=1),
    "one question": ragged(50, 1, 16, seed=2, share=1.0),
    "one node": ragged(20, 5, 1, seed=3),
    "odd nodes": ragged(60, 12, 37, seed=4, share=1.0),
    "long and steep": ragged(40, 400, 64, seed=5, share=1.0, spread=6.0),
    "more rows than a cache holds": ragged(400, 3000, 21, seed=6, share=0.02),
    "nobody": ragged(0, 4, 11, seed=7),
    "no answers": ragged(9, 4, 11, seed=8, share=0.0),
}


@pytest.fixture(params=CASES, ids=list(CASES))
def case(request):
    return CASES[request.param]


def test_cases_cover_respondents_without_answers():
    start = CASES["ragged"][0]
    assert (np.diff(start) == 0).any()
    assert (np.diff(start) > 8).any()


def test_log_likelihood(case):
    *data, _ = case
    loglik = reference(*data)[1]
    np.testing.assert_allclose(passes.log_likelihood(*data), loglik, rtol=1e-13, atol=1e-13)


def test_respondent_without_answers_gets_the_prior():
    *data, _ = CASES["no answers"]
    expected = np.full(9, np.logaddexp.reduce(data[3]))
    np.testing.assert_allclose(passes.log_likelihood(*data), expected, rtol=0, atol=1e-15)


def test_expected_counts(case):
    start, row, table, log_weight, _ = case
    _, loglik, post = reference(start, row, table, log_weight)
    expected = np.zeros_like(table)
    np.add.at(expected, row, np.repeat(post, np.diff(start), axis=0))
    found_loglik, counts = passes.expected_counts(start, row, table, log_weight)
    np.testing.assert_allclose(found_loglik, loglik, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(counts, expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(counts.sum(), len(row), rtol=1e-13)


def test_posterior_of_a_block(case):
    *data, _ = case
    low, high = len(data[0]) // 4, len(data[0]) // 2
    found = passes.posterior(*data, low, high)
    np.testing.assert_allclose(found, reference(*data)[2][low:high], rtol=1e-11, atol=1e-16)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)


def test_moments(case):
    *data, nodes = case
    _, loglik, post = reference(*data)
    mean = post @ nodes
    sd = np.sqrt((post * (nodes - mean[:, None]) ** 2).sum(axis=1))
    found_loglik, found_mean, found_sd, _ = passes.moments(*data, nodes)
    np.testing.assert_allclose(found_loglik, loglik, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found_mean, mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found_sd, sd, rtol=1e-9, atol=1e-10)


def test_mode_is_exact_for_a_parabola_and_within_the_grid():
    nodes = np.linspace(-4, 4, 33)
    centres = np.array([-3.8, -1.234, 0.0, 0.07, 2.2, 9.0])
    table = -((nodes - centres[:, None]) ** 2)
    start = np.arange(len(centres) + 1)
    row = np.arange(len(centres), dtype=np.int32)
    mode = passes.moments(start, row, table, np.zeros(33), nodes)[3]
    np.testing.assert_allclose(mode, [*centres[:-1], 4.0], atol=1e-12)


def test_mode_on_uneven_nodes():
    nodes = np.array([-3.0, -1.0, 0.5, 0.9, 2.0])
    table = -((nodes - 0.6) ** 2)[None, :]
    mode = passes.moments(np.array([0, 1]), np.zeros(1, dtype=np.int32), table, np.zeros(5), nodes)[3]
    np.testing.assert_allclose(mode, 0.6, atol=1e-12)


def test_very_negative_and_impossible_tables():
    nodes = np.linspace(-2, 2, 19)
    table = np.zeros((5, 19))
    table[0] = -1e5 + nodes
    table[1, 4:] = -np.inf
    table[2, :4] = -np.inf
    table[3] = -np.inf
    table[4, 7] = np.nan
    log_weight = np.full(19, -np.log(19.0))
    log_weight[0] = -np.inf
    answers = [[0], [0] * 9, [1], [2], [0, 1], [1, 2], [3], [4], []]
    start = np.concatenate([[0], np.cumsum([len(rows) for rows in answers])])
    row = np.array([row for rows in answers for row in rows], dtype=np.int32)
    loglik, counts = passes.expected_counts(start, row, table, log_weight)
    possible = [0, 1, 2, 3, 4, 8]
    np.testing.assert_allclose(loglik[possible], reference(start, row, table, log_weight)[1][possible], rtol=1e-14)
    assert loglik[5] == loglik[6] == -np.inf
    assert np.isnan(loglik[7])
    # What is impossible is counted nowhere, and what is not a number does not pass unseen.
    assert np.isfinite(counts[:4]).all()
    assert np.isnan(counts[4]).any()
    np.testing.assert_array_equal(passes.log_likelihood(start, row, table, log_weight), loglik)
    _, mean, sd, mode = passes.moments(start, row, table, log_weight, nodes)
    assert np.isnan([mean[5:8], sd[5:8], mode[5:8]]).all()
    assert np.isfinite([mean[possible], sd[possible], mode[possible]]).all()
    np.testing.assert_array_equal(passes.posterior(start, row, table, log_weight, 5, 7), 0.0)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
def test_thread_counts_agree(n):
    *data, nodes = CASES["ragged"]
    loglik, counts = passes.expected_counts(*data, threads=1)
    found_loglik, found_counts = passes.expected_counts(*data, threads=n)
    np.testing.assert_array_equal(found_loglik, loglik)
    np.testing.assert_allclose(found_counts, counts, rtol=1e-12)
    np.testing.assert_array_equal(passes.expected_counts(*data, threads=n)[1], found_counts)
    for one, several in zip(
        passes.moments(*data, nodes, threads=1), passes.moments(*data, nodes, threads=n), strict=True
    ):
        np.testing.assert_array_equal(one, several)


def test_order_of_answers_does_not_matter():
    start, row, table, log_weight, _ = CASES["more rows than a cache holds"]
    shuffled = row.copy()
    rng = np.random.default_rng(0)
    for a, b in pairwise(start):
        rng.shuffle(shuffled[a:b])
    one = passes.expected_counts(start, row, table, log_weight)
    other = passes.expected_counts(start, shuffled, table, log_weight)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-14)


def test_inputs_stay_writeable_and_unchanged():
    *data, _ = CASES["ragged"]
    copies = [array.copy() for array in data]
    passes.expected_counts(*data)
    for array, copy in zip(data, copies, strict=True):
        assert array.flags.writeable
        np.testing.assert_array_equal(array, copy)


def test_arrays_that_do_not_fit_are_refused():
    start, row, table, log_weight, nodes = CASES["ragged"]
    with pytest.raises(ValueError, match="does not fit"):
        passes.log_likelihood(start, row, table, log_weight[:-1])
    with pytest.raises(ValueError, match="ends at answer"):
        passes.log_likelihood(start, row[:-1], table, log_weight)
    with pytest.raises(ValueError, match="nodes must be 41 numbers"):
        passes.moments(start, row, table, log_weight, nodes[:-1])


def test_runs_cover_all_respondents_with_even_work():
    start = np.concatenate([np.zeros(1), np.cumsum(np.r_[np.full(1000, 1), np.full(100, 200)])]).astype(int)
    runs = threads.split(start, 64, 4)
    assert [low for low, _ in runs[1:]] == [high for _, high in runs[:-1]]
    assert runs[0][0] == 0
    assert runs[-1][1] == 1100
    work = [start[high] - start[low] + threads.RESPONDENT_COST * (high - low) for low, high in runs]
    assert max(work) < 1.05 * min(work)


def test_number_of_threads_can_be_set(monkeypatch):
    start = np.arange(10_001) * 60
    threads.set_threads(3)
    assert len(threads.split(start, 64, None)) == 3
    with pytest.raises(ValueError, match="at least 1"):
        threads.set_threads(0)
    monkeypatch.setenv("SPRITE_THREADS", "5")
    threads.set_threads(None)
    assert threads.get_threads() == 5
    assert threads.split(start[:10], 64, None) == [(0, 9)]
    monkeypatch.setenv("SPRITE_THREADS", "many")
    with pytest.raises(InputError, match="found 'many'"):
        threads.get_threads()
