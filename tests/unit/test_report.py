from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest

import sprite
from sprite.core.errors import InputError
from sprite.core.readable import number
from sprite.data.responses import from_codes
from sprite.report import report_html, write_report
from sprite.report.strip import Strip
from sprite.report.svg import spread
from sprite.report.words import REMARKS, certainty, counted, missing_share, of_alpha, percent, small
from tests.browser.pages import ATTACK, OPTIONS, QUESTIONS, hostile_fit, small_fit


@pytest.fixture(scope="module")
def fit():
    return small_fit()


@pytest.fixture(scope="module")
def page(fit):
    return report_html(fit, title="Midterm <3>")


@pytest.fixture(scope="module")
def hostile():
    return report_html(hostile_fit())


def _data(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_every_part_is_there(page):
    parts = ("first", "questions", "panels", "abilities", "quality", "trust", "downloads", "glossary")
    assert [part for part in parts if f'<section id="{part}"' not in page] == []
    assert "Midterm &lt;3&gt;" in page
    assert "120 respondents answered 8 questions with 4 options each" in page


def test_every_question_has_a_panel_with_chart_and_options(fit, page):
    assert page.count('<article id="q') == 8
    assert page.count("<figure><svg") == 8 + 2
    for j, question in enumerate(fit.responses.questions):
        panel = page.split(f'<article id="q{j + 1}"')[1].split("</article>")[0]
        assert f"<h3>{question}</h3>" in panel
        assert panel.count('<span class="label">') == 4
        assert panel.count(" correct</span>") == 1


def test_numbers_are_those_of_the_tables(fit, page):
    data = _data(page)
    questions = fit.questions()
    assert data["questions"]["columns"] == list(questions.columns)
    column = data["questions"]["columns"].index("bits")
    np.testing.assert_allclose([row[column] for row in data["questions"]["rows"]], questions["bits"], rtol=1e-5)
    assert len(data["abilities"]["rows"]) == 120
    assert len(data["options"]["rows"]) == 32
    assert f"<dd>{number(fit.information([0.0]).attrs['marginal_reliability'])}</dd>" in page


def test_nothing_is_loaded_from_elsewhere(page):
    html = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"""\ssrc=|href="(?!#)|@import|url\(|<link|<iframe|https?:""", html)
    assert "default-src 'none'" in page


def test_hostile_names_are_shown_not_run(hostile):
    assert hostile.count("<script") == 2  # the data and the page's own
    assert "<img" not in hostile
    for name in (*QUESTIONS, *OPTIONS, f"{ATTACK}1"):
        shown = escape(name, quote=True).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
        assert shown in hostile
    assert "49" not in re.findall(r"<h3>(.*?)</h3>", hostile)
    assert [row[0] for row in _data(hostile)["questions"]["rows"]] == list(QUESTIONS)


def test_the_wrong_key_comes_first(hostile):
    first = hostile.split('<section id="first"')[1].split("</section>")[0]
    assert "The key is probably wrong" in first
    assert 'href="#q1"' in first


def test_every_verdict_has_words():
    from sprite.analysis.verdicts import KINDS

    assert set(REMARKS) == set(KINDS)


@pytest.mark.parametrize("model", [sprite.NRM(), sprite.ORD(), sprite.GPCM(), sprite.LORD()])
def test_other_models_are_reported_too(model):
    responses = sprite.simulate(n_respondents=80, n_questions=4, n_options=[2, 3, 3, 4], seed=4, observed=0.8).responses
    text = report_html(sprite.fit(responses, model, sprite.EM(starts=1)))
    assert "2 to 4 options" in text
    assert re.search(r"\d+ % of the answers are missing", text)


def test_few_missing_answers_are_not_called_none():
    assert [missing_share(value) for value in (0.0, 0.004, 0.04)] == ["", "Less than 1 %", "4 %"]


def test_without_key_and_draws():
    rng = np.random.default_rng(0)
    responses = from_codes(rng.integers(-1, 3, (40, 4)), [("x", "y", "z")] * 4)
    fitted = sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1))
    text = report_html(replace(fitted, x=fitted.x[:, :0], covariance=None, refusal="not asked for"))
    assert "There is no key" in text
    assert "✓" not in text.split('<section id="glossary"')[0].split("<main>")[1]
    assert ">nan" not in text.lower()


_KEYLESS_VERDICTS = pd.DataFrame(
    [
        (
            "Q1",
            "",
            "uninformative",
            0.95,
            "Q1 tells next to nothing about ability (0.01 bits), whatever is chosen.",
            "",
        ),
        ("Q2", "z", "both_ends", 0.95, "Option z of Q2 is chosen at both ends of ability, less in between.", ""),
        ("Q3", "z", "dead_distractor", 0.99, "Option z of Q3 is hardly ever chosen (once): it does no work.", ""),
        ("", "", "unusual_respondent", 0.999, "The answers of r1 do not fit together.", "r1"),
    ],
    columns=["question", "option", "verdict", "probability", "message", "respondent"],
)


def test_without_a_key_nothing_is_right_or_wrong(monkeypatch):
    codes = np.random.default_rng(0).integers(0, 3, (60, 4))
    codes[1, 3] = -1
    fitted = sprite.fit(from_codes(codes, [("x", "y", "z")] * 4), sprite.Sprite(), sprite.EM(starts=1))
    monkeypatch.setattr(type(fitted), "verdicts", lambda _: _KEYLESS_VERDICTS)
    text = report_html(fitted)
    shown = re.sub(r"Sprite\(.*?\)|the columns question and correct", "", _read(text))
    assert "Less than 1 % of the answers are missing. There is no key." in shown
    assert "keys cannot be checked" in shown
    assert "--key KEY.csv" in shown
    assert "Low, middle, high third" in shown
    assert "The answers of r1 do not fit together." in shown
    assert re.findall(r"(?i)[^.]*\b(?:right|wrong|marks?|correct|to check now)\b[^.]*", shown) == []


def _read(page: str) -> str:
    """What a reader sees of it, charts and downloads apart."""
    body = page.split("<body>")[1].split('<script type="application/json"')[0]
    plain = re.sub(r"<[^>]+>", "", re.sub(r"<svg.*?</svg>", "", body, flags=re.S).replace("<br>", " "))
    return re.sub(r"\s+", " ", plain)


def test_questions_that_the_model_does_not_reproduce_are_named(fit, monkeypatch):
    off = {"Q2": "B is off", "Q5": "C is off"}
    monkeypatch.setattr("sprite.report.content._misfits", lambda _: off)
    page = report_html(fit)
    assert "to 2 of 8 questions; their panels say where: Q2, Q5." in _read(page)
    assert '<a href="#q2">Q2</a>, <a href="#q5">Q5</a>' in page
    del off["Q2"]
    assert "to 1 of 8 questions; its panel says where: Q5." in _read(report_html(fit))


def test_intervals_fit_on_their_axis_or_end_in_an_arrow():
    lower, upper = np.array([-2.4, -0.5, np.nan]), np.array([-1.0, 9.0, np.nan])
    place = Strip(lower, upper, (-2.0, 2.0), beyond=0.5)
    assert place.ends == ("−2.4", "4.0")
    assert 'class="iv" style="--l:0.0%;' in place.drawn(-1.5, -2.4, -1.0)
    assert 'class="iv cut-high"' in place.drawn(1.0, -0.5, 9.0)
    assert 'class="iv cut-low cut-high"' in place.drawn(1.0, -3.0, 9.0)
    assert "0.80, 90 % interval 0.75 to 0.85" in place.drawn(0.8, 0.75, 0.85)
    assert 'title="0.80"' in place.drawn(0.8, np.nan, np.nan)
    assert Strip(lower[:0], upper[:0], (-2.0, 2.0), beyond=0.5).ends == ("−2.0", "2.0")


def test_draws_are_judged_in_words():
    responses = sprite.simulate(n_respondents=60, n_questions=4, n_options=3, seed=2).responses
    fitted = sprite.fit(responses, sprite.Sprite(), sprite.Gibbs(chains=2, draws=20, warmup=10, starts=1))
    text = report_html(fitted)
    assert "with caution" in text
    assert "ask for about" in text


def test_a_respondent_without_answers_is_listed():
    codes = np.random.default_rng(1).integers(0, 3, (30, 4))
    codes[7] = -1
    responses = from_codes(codes, [tuple("abc")] * 4, correct=np.tile([True, False, False], 4))
    assert "r8" in report_html(sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1)))


def test_write_report(fit, tmp_path):
    with pytest.raises(InputError, match=r"\.html"):
        write_report(fit, tmp_path / "report.pdf")
    with pytest.raises(InputError, match="folder"):
        write_report(fit, tmp_path / "nowhere" / "report.html")
    assert not list(tmp_path.iterdir())
    write_report(fit, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_hundred_questions_stay_small(fit):
    per_question = len(report_html(fit).encode()) / 8
    assert per_question * 100 < 6e6 / 2


@pytest.mark.parametrize(
    ("places", "expected"), [([5, 5, 5], [5, 15, 25]), ([0, 100], [0, 100]), ([98, 99], [90, 100]), ([], [])]
)
def test_labels_are_spread(places, expected):
    assert spread(places, 10, 0, 100) == pytest.approx(expected)


def test_words():
    assert number(-0.001) == "0.00"
    assert number(-1.5, 1) == "−1.5"
    assert [number(v, 1, sign=True) for v in (0.3, -0.3, -0.01)] == ["+0.3", "−0.3", "+0.0"]
    assert [small(v) for v in (2e-5, 0.004)] == ["less than 0.001", "0.004"]
    assert [counted(n, "question") for n in (1, 1200)] == ["1 question", "1,200 questions"]
    assert number(float("nan")) == percent(float("nan")) == "–"
    assert percent(0.256) == "26 %"
    assert certainty(0.999) == "practically certain"
    assert of_alpha(0.95) != of_alpha(0.3)
