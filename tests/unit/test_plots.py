from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sprite
from sprite import plots
from sprite.analysis.curves import populated
from sprite.core.errors import InputError, SpriteError
from sprite.data.responses import from_codes
from sprite.plots.palette import looks
from sprite.plots.saving import script_json
from tests.browser.pages import ATTACK, OPTIONS, QUESTIONS, hostile_fit, small_fit


@pytest.fixture(scope="module")
def fit():
    return small_fit()


@pytest.fixture(scope="module")
def hostile():
    return hostile_fit()


@pytest.fixture(scope="module")
def ordinal():
    responses = sprite.simulate("ord", n_respondents=150, n_questions=5, n_options=4, seed=1).responses
    return sprite.fit(responses, sprite.ORD(), sprite.EM(starts=1))


@pytest.fixture(scope="module")
def chains():
    responses = sprite.simulate(n_respondents=60, n_questions=5, n_options=3, seed=2).responses
    return sprite.fit(responses, sprite.Sprite(), sprite.Gibbs(chains=3, draws=60, warmup=30, starts=1))


def test_curves_are_probabilities_over_populated_ability(fit):
    frame = plots.option_curves_data(fit, "Q2")
    low, high = populated(fit)
    assert frame["ability"].min() == pytest.approx(low)
    assert frame["ability"].max() == pytest.approx(high)
    total = frame.groupby("ability")["probability"].sum()
    np.testing.assert_allclose(total, 1.0, atol=1e-9)
    assert (frame["lower"] <= frame["upper"]).all()
    # A Laplace band is around the estimate nearly everywhere.
    assert frame["probability"].between(frame["lower"], frame["upper"]).mean() > 0.9
    assert set(frame.loc[frame["correct"], "label"]) == {f"{fit.responses.key['Q2'][0]} (correct)"}


def test_populated_ability_holds_nearly_all_respondents_and_no_more(fit):
    low, high = populated(fit)
    eap = fit.ability_moments()[0]
    assert np.mean((eap > low) & (eap < high)) > 0.9
    assert high - low < 8


def test_curves_are_the_normalised_sprites(fit):
    sprites, curves = plots.sprites_data(fit, "Q1"), plots.option_curves_data(fit, "Q1")
    share = sprites["density"] / sprites.groupby("ability")["density"].transform("sum")
    np.testing.assert_allclose(share, curves["probability"], rtol=1e-8)


def test_bars_agree_with_curves_at_the_same_ability(fit):
    curves = plots.option_curves_data(fit, "Q3", points=5)
    at = curves["ability"].iloc[2]
    bars = plots.option_probabilities_data(fit, "Q3", at)
    np.testing.assert_allclose(bars["probability"], curves.loc[curves["ability"] == at, "probability"])


def test_observed_shares_count_the_answers(fit):
    frame = plots.observed_shares_data(fit, "Q4", groups=4)
    np.testing.assert_allclose(frame.groupby("group")[["observed", "expected"]].sum(), 1.0, atol=1e-8)
    counts = (frame["observed"] * frame["n"]).groupby(frame["option"]).sum()
    expected = dict(zip(fit.responses.options[3], fit.responses.count[fit.responses.first[3] :], strict=False))
    for option, n in counts.items():
        assert n == pytest.approx(expected[option])
    assert frame.groupby("group")["ability"].first().is_monotonic_increasing


def test_observed_and_expected_agree_where_the_model_is_true(fit):
    frame = plots.observed_expected_data(fit)
    assert abs((frame["observed"] - frame["expected"]).mean()) < 1e-6
    assert np.corrcoef(frame["observed"], frame["expected"])[0, 1] > 0.9


def test_scheme_has_a_box_an_option_and_three_arrows_each(fit):
    frame = plots.scheme_data(fit, "Q1", 0.5)
    count = frame["part"].value_counts()
    assert count["option"] == count["answer"] == 4
    assert count["arrow"] == 12
    assert frame.loc[frame["part"] == "answer", "probability"].sum() == pytest.approx(1.0)


def test_area_over_each_bin_is_the_options_probability(ordinal):
    frame = plots.ordinal_data(ordinal, "Q1", 0.3)
    shares = plots.option_probabilities_data(ordinal, "Q1", 0.3).set_index("option")["probability"]
    for option, part in frame.groupby("option"):
        assert np.trapezoid(part["density"], part["value"]) == pytest.approx(shares[option], abs=2e-3)


def test_ability_map_counts_everybody_and_places_every_option(fit):
    assert plots.ability_distribution_data(fit)["n"].sum() == fit.responses.n_respondents
    frame = plots.ability_map_data(fit)
    assert len(frame) == fit.responses.layout.n_rows
    # Over the respondents, shares and means of the options give back the mean ability.
    mean = fit.ability_moments()[0].mean()
    first = frame[frame["question"] == "Q1"]
    assert np.average(first["ability"], weights=first["n"]) == pytest.approx(mean, abs=0.15)


def test_information_is_ranked(fit):
    frame = plots.question_information_data(fit)
    assert frame["bits"].is_monotonic_decreasing
    ends = plots.two_questions_data(fit)
    assert list(ends["question"].unique()) == [frame["question"].iloc[0], frame["question"].iloc[-1]]


def test_precision_is_of_the_whole_test(fit):
    frame = plots.precision_data(fit, points=7)
    assert len(frame) == 7
    assert frame["reliability"].between(0, 1).all()
    assert (frame["fisher"] > 0).all()


def test_order_is_by_ability_within_each_question(fit):
    frame = plots.option_order_data(fit)
    assert frame.groupby("question", sort=False)["ability"].apply(lambda s: s.is_monotonic_decreasing).all()
    assert list(frame["question"].unique()) == list(fit.responses.questions)


def test_chains_are_ranked_together(chains):
    frame = plots.chains_data(chains, n=2)
    for _, part in frame.groupby("parameter"):
        assert len(part) == 180
        assert part["rank"].sum() == pytest.approx(180 * 181 / 2)
    counts = plots.rank_histogram_data(chains, n=2)
    assert counts.groupby("parameter")["count"].sum().eq(180).all()
    assert "vconcat" in plots.plot_chains(chains).to_dict()


def test_an_estimate_has_no_chains(fit):
    with pytest.raises(SpriteError, match="Gibbs"):
        plots.plot(fit, "chains")


COMPARED = pd.DataFrame(
    {
        "model": ["sprite", "nrm", "a.b[c]"],
        "log_loss": [0.9, 0.88, 1.1],
        "diff_log_loss": [0.0, -0.02, 0.2],
        "diff_log_loss_se": [0.0, 0.01, np.nan],
    }
)


def test_comparison_puts_the_best_first():
    frame = plots.comparison_data(COMPARED)
    assert list(frame["model"]) == ["nrm", "sprite", "a.b[c]"]
    assert frame["lower"].iloc[0] == pytest.approx(-0.04)
    loo = COMPARED.rename(columns=lambda name: name.replace("log_loss", "elpd"))
    assert plots.comparison_data(loo)["model"].iloc[0] == "a.b[c]"
    assert "layer" in plots.plot_comparison(COMPARED).to_dict()


def test_what_is_no_comparison_is_refused():
    with pytest.raises(InputError, match="compare"):
        plots.comparison_data(pd.DataFrame({"model": ["sprite"]}))


@pytest.mark.parametrize("kind", [kind for kind in plots.KINDS if kind not in ("chains", "ordinal")])
def test_every_chart_draws_hostile_names_as_they_are(hostile, kind, tmp_path):
    needs = plots.KINDS[kind].question == "needed"
    chart = plots.plot(hostile, kind, question=ATTACK if needs else None)
    assert not _fields(chart.to_dict()) & {*QUESTIONS, *OPTIONS}
    if kind in ("overview", "two-questions"):  # made of panels that are rendered by themselves
        return
    plots.save_chart(chart, tmp_path / "chart.svg")
    text = (tmp_path / "chart.svg").read_text()
    assert "<script" not in text
    if needs or kind in ("abilities", "order", "information"):
        assert "window.hit" in text or "a.b[c]" in text


def test_ordinal_panels_are_drawn(ordinal):
    assert len(plots.plot(ordinal, "ordinal", question="Q1").to_dict()["hconcat"]) == 3


def _fields(spec: object) -> set[str]:
    """Every field name in a Vega-Lite specification."""
    if isinstance(spec, dict):
        own = {spec["field"]} if isinstance(spec.get("field"), str) else set()
        return own.union(*(_fields(value) for name, value in spec.items() if name not in ("data", "datasets")))
    return set().union(*map(_fields, spec)) if isinstance(spec, list) else set()


@pytest.mark.parametrize(
    ("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>")]
)
def test_charts_are_saved_by_ending(fit, tmp_path, ending, begins):
    path = tmp_path / f"chart.{ending}"
    plots.save_chart(plots.plot(fit, "curves", question="Q1"), path)
    assert path.read_bytes().startswith(begins)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_unknown_ending_is_refused_and_nothing_written(fit, tmp_path):
    with pytest.raises(InputError, match=r"\.html, \.png, \.svg or \.pdf"):
        plots.save_chart(plots.plot(fit, "information"), tmp_path / "chart.gif")
    assert not list(tmp_path.iterdir())


def test_a_chart_page_cannot_be_broken_out_of(hostile, tmp_path):
    plots.save_chart(plots.plot(hostile, "curves", question=QUESTIONS[1]), tmp_path / "chart.html")
    text = (tmp_path / "chart.html").read_text()
    assert text.count("<script>") == text.count("</script>") == 2
    assert "onerror=window.hit=1>" not in text


def test_script_json_escapes_what_ends_a_script():
    text = script_json({"</script>": "\u2028<!--"})
    assert not set("<>\u2028") & set(text)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("pie", {}, "Choose one of"),
        ("curves", {}, "Name one"),
        ("curves", {"question": "Q99"}, "The questions are"),
        ("information", {"question": "Q1"}, "whole test"),
        ("order", {"ability": 0.0}, "not drawn at one ability"),
        ("ordinal", {"question": "Q1"}, "ORD and LORD"),
    ],
)
def test_what_cannot_be_drawn_is_explained(fit, kind, given, words):
    with pytest.raises(InputError, match=words):
        plots.plot(fit, kind, **given)


def test_only_sprite_has_sprites(ordinal):
    with pytest.raises(InputError, match="curves instead"):
        plots.plot(ordinal, "sprites", question="Q1")
    assert plots.plot(ordinal, "overview", question="Q1").to_dict()["vconcat"]


def test_the_correct_option_is_known_without_colour(fit):
    drawn = looks(fit, 0)
    (key,) = [look for look in drawn if look.correct]
    others = [look for look in drawn if not look.correct]
    assert key.dash == ()
    assert all(look.dash and look.width < key.width for look in others)
    assert len({look.dash for look in others}) == len({look.colour for look in drawn}) - 1 == len(others)


def test_without_draws_there_are_no_bands(fit):
    bare = replace(fit, x=fit.x[:, :0], covariance=None, refusal="not asked for")
    frame = plots.option_curves_data(bare, "Q1")
    assert frame["lower"].isna().all()
    assert frame["probability"].notna().all()
    plots.plot(bare, "overview", question="Q1").to_dict()


def test_without_a_key_nothing_is_called_correct():
    rng = np.random.default_rng(0)
    responses = from_codes(rng.integers(-1, 3, (40, 4)), [("x", "y", "z")] * 4)
    bare = sprite.fit(responses, sprite.NRM(), sprite.EM(starts=1))
    assert not any(look.correct for look in looks(bare, 0))
    assert not plots.option_order_data(bare)["correct"].any()
    plots.plot(bare, "abilities").to_dict()


def test_numbers_in_charts_have_a_real_minus_sign(fit):
    assert plots.scheme_data(fit, "Q1", -0.5)["text"].iloc[0] == "Z = −0.50"
