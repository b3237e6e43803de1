from __future__ import annotations

import csv
import io
import re
import time
from itertools import pairwise

import numpy as np
import pytest

import sprite
from sprite import plots
from sprite.data.responses import Texts, from_codes
from sprite.report import write_report
from tests.browser.pages import ATTACK, OPTIONS, QUESTIONS, hostile_fit

WIDE = "document.documentElement.scrollWidth"


def _column(page, table: str, column: int) -> list[str]:
    cells = page.locator(f"#{table} tbody tr:not([hidden]) > :nth-child({column})")
    return [text.split("\n")[0].strip() for text in cells.all_inner_texts()]


def test_the_page_needs_nothing_and_complains_of_nothing(visit, report):
    seen = visit(report)
    assert seen.errors == []
    assert seen.requests == [report.as_uri()]
    assert seen.page.title() == "Midterm"


def test_charts_are_drawn(visit, report):
    page = visit(report).page
    charts = page.locator("figure svg")
    assert charts.count() == 10
    for k in range(charts.count()):
        charts.nth(k).scroll_into_view_if_needed()
        box = charts.nth(k).bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80
    assert page.locator("#q1 figure path[stroke-width='3']").count() == 2  # the correct option: curve and its name


def test_sorting(visit, report):
    page = visit(report).page
    bits = page.locator("#question-table th").nth(4)
    bits.locator(".sort").click()
    assert bits.get_attribute("aria-sort") == "descending"
    shown = [float(text) for text in _column(page, "question-table", 5)]
    assert shown == sorted(shown, reverse=True)
    bits.locator(".sort").press("Enter")
    assert bits.get_attribute("aria-sort") == "ascending"
    assert [float(text) for text in _column(page, "question-table", 5)] == sorted(shown)
    page.locator("#question-table th .sort").first.click()
    assert bits.get_attribute("aria-sort") is None
    assert _column(page, "question-table", 1) == [f"Q{j}" for j in range(1, 9)]


def test_abilities_sort_below_zero_too(visit, report):
    page = visit(report).page
    page.locator("#ability-table th .sort").nth(3).click()
    shown = [float(text.replace("−", "-")) for text in _column(page, "ability-table", 4)]
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] < 0 < shown[0]


def test_filtering_hides_rows_and_panels_and_links_bring_them_back(visit, hostile):
    page = visit(hostile).page
    page.fill("#find", "a.b[c]")
    assert _column(page, "question-table", 1) == ["a.b[c]"]
    assert page.locator("article:not([hidden])").count() == 1
    assert page.inner_text("#shown") == "1 of 8"
    page.fill("#find", "no such thing")
    assert page.inner_text("#shown") == "0 of 8"
    page.fill("#find", "")
    page.select_option("#kind", "key_suspect")
    assert _column(page, "question-table", 1) == [ATTACK]
    page.evaluate("location.hash = '#q5'")
    page.wait_for_function("document.getElementById('q5').checkVisibility()")
    assert page.inner_text("#shown") == "8 of 8"


@pytest.mark.parametrize("width", [360, 414, 820])
def test_narrow_screens_do_not_overflow(visit, report, hostile, width):
    for path in (report, hostile):
        page = visit(path, width=width, height=740).page
        page.evaluate(
            "for (const panel of document.querySelectorAll('.panel')) panel.style.contentVisibility = 'visible'"
        )
        assert page.evaluate(WIDE) <= width


@pytest.mark.parametrize(("width", "columns"), [(360, 2), (500, 2), (600, 2), (820, 4), (1200, 4)])
def test_the_four_cards_fill_their_lines(visit, report, width, columns):
    page = visit(report, width=width).page
    tops = page.evaluate("[...document.querySelectorAll('.tiles > div')].map(e => e.getBoundingClientRect().top)")
    assert [tops.count(top) for top in sorted(set(tops))] == [columns] * (4 // columns)


def test_bars_grow_from_the_left_and_headings_stand_over_their_numbers(visit, report):
    page = visit(report).page
    place = "e => getComputedStyle(e).backgroundPosition.split(',')[0]"
    assert page.locator(".bar").first.evaluate(place) == "0% 100%"
    for heading in ("90 % interval", "Chosen by"):
        head = page.locator("thead th", has_text=heading).first
        assert head.evaluate("e => getComputedStyle(e).textAlign") == "right"


def test_an_interval_beyond_the_axis_ends_in_an_arrow(visit, report):
    page = visit(report).page
    shape = "e => getComputedStyle(e, '::before').clipPath"
    interval = page.locator("#ability-table .iv").first
    assert interval.evaluate(shape) == "none"
    interval.evaluate("e => e.classList.add('cut-high')")
    assert interval.evaluate(shape).startswith("polygon")


def test_a_short_wording_is_not_broken(visit, tmp_path):
    wording = "(x − 12)(x + 13)"
    codes = np.random.default_rng(1).integers(0, 4, (60, 3))
    texts = Texts(options={(f"Q{j}", option): wording for j in (1, 2, 3) for option in "ABCD"})
    responses = from_codes(codes, [tuple("ABCD")] * 3, questions=["Q1", "Q2", "Q3"], texts=texts)
    path = tmp_path / "wordings.html"
    write_report(sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1, draws=50)), path)
    for width in (360, 900, 1200):
        shown = visit(path, width=width).page.locator("#q1 .wording").first
        shown.scroll_into_view_if_needed()
        assert shown.bounding_box()["height"] < 30


def test_without_a_key_tables_have_no_empty_columns(visit, tmp_path):
    codes = np.random.default_rng(2).integers(0, 3, (60, 4))
    path = tmp_path / "keyless.html"
    write_report(
        sprite.fit(from_codes(codes, [tuple("abc")] * 4), sprite.Sprite(), sprite.EM(starts=1, draws=50)), path
    )
    seen = visit(path)
    for table in ("question-table", "ability-table"):
        heads = seen.page.locator(f"#{table} thead th").count()
        assert seen.page.locator(f"#{table} tbody tr").first.locator("th, td").count() == heads
        assert "–" not in seen.page.locator(f"#{table}").inner_text()
    seen.page.locator("#question-table th .sort").nth(2).click()
    shown = [float(text) for text in _column(seen.page, "question-table", 3)]
    assert shown == sorted(shown, reverse=True)
    assert seen.page.locator("#no-key").inner_text().count("--key") == 1
    assert seen.errors == []


def test_endless_labels_do_not_overflow(visit, tmp_path):
    codes = np.random.default_rng(0).integers(0, 3, (60, 3))
    labels = ("x" * 400, "y" * 300, "a long label with words " * 8)
    responses = from_codes(
        codes, [labels] * 3, questions=["q" * 300, "Q2", "Q3"], respondents=["r" * 99 + str(i) for i in range(60)]
    )
    path = tmp_path / "endless.html"
    write_report(sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1, draws=50)), path, title="t" * 200)
    for width in (360, 1200):
        assert visit(path, width=width).page.evaluate(WIDE) <= width


def test_hostile_names_do_not_run(visit, hostile):
    seen = visit(hostile)
    assert seen.page.evaluate("window.hit") is None
    assert seen.errors == []
    assert seen.page.locator("#q1 h3").text_content() == ATTACK
    assert seen.page.locator("#q2 h3").text_content() == QUESTIONS[1]
    assert seen.page.locator("#q1 table .label").nth(1).text_content() == OPTIONS[1]


def _download(page, name: str) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.locator(f"button[data-table={name}]").click()
    assert waiting.value.suggested_filename == f"{name}.csv"
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as stream:
        return list(csv.reader(io.StringIO(stream.read())))


def test_downloads_are_guarded(visit, hostile):
    page = visit(hostile, accept_downloads=True).page
    head, *options = _download(page, "options")
    labels = [row[head.index("option")] for row in options[:5]]
    assert labels == [OPTIONS[0], OPTIONS[1], OPTIONS[2], "'" + OPTIONS[3], "-5"]
    assert any(float(row[head.index("ability")]) < 0 for row in options)
    head, *people = _download(page, "abilities")
    names = [row[0] for row in people]
    assert names[:2] == ["'+0=x", f"{ATTACK}1"]
    assert all(float(row[head.index("ability")]) > -9 for row in people)
    assert any(row[head.index("ability")].startswith("-") for row in people)
    for name in ("questions", "verdicts", "classical", "option_order"):
        assert len(_download(page, name)) > 1


def test_print_shows_whole_tables_and_panels(visit, report):
    page = visit(report, width=700).page
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("#downloads").is_hidden()
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.ariaLabel)"
    )
    assert cut == []
    style = "e => [getComputedStyle(e).contentVisibility, getComputedStyle(e).breakInside]"
    assert page.locator("#q8").evaluate(style) == ["visible", "avoid"]
    assert page.locator("#ability-table thead").evaluate("e => getComputedStyle(e).display") == "table-header-group"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_it_reads_without_scripts(browser, report):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("#q8 h3").text_content() == "Q8"
    assert page.locator("#find").is_hidden()
    assert page.locator("#downloads").is_hidden()
    context.close()


def test_headings_captions_and_labels(visit, report):
    page = visit(report).page
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("figure svg:not([aria-label])").count() == 0
    assert page.locator("input:not(label input), select:not(label select)").count() == 0


def test_a_long_test_opens_quickly(visit, tmp_path, monkeypatch):
    monkeypatch.setattr("sprite.report.content._CHECKED", 0)  # what takes longest has nothing to do with the page
    responses = sprite.simulate(n_respondents=60, n_questions=100, n_options=5, seed=1).responses
    fitted = sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1, draws=50))
    path = tmp_path / "long.html"
    write_report(fitted, path)
    assert path.stat().st_size < 6e6
    began = time.perf_counter()
    seen = visit(path)
    assert time.perf_counter() - began < 10
    assert seen.errors == []
    assert "fit-statistics" in seen.page.locator("#trust").text_content()


def test_a_saved_chart_is_drawn_offline(visit, tmp_path):
    path = tmp_path / "chart.html"
    plots.save_chart(plots.plot(hostile_fit(), "curves", question=QUESTIONS[1]), path)
    seen = visit(path)
    seen.page.wait_for_selector("#chart svg")
    assert seen.requests == [path.as_uri()]
    assert seen.errors == []
    assert seen.page.evaluate("window.hit") is None


def _contrast(first: str, second: str) -> float:
    """WCAG contrast of two colours as the browser writes them: rgb(r, g, b)."""
    light = []
    for colour in (first, second):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_colour_schemes(visit, hostile, scheme):
    page = visit(hostile, color_scheme=scheme).page
    assert (page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 25)") == (scheme == "dark")
    pairs = page.evaluate(
        """() => [...document.querySelectorAll("main *, header *, nav *")]
        .filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) && e.checkVisibility()
            && !e.closest("svg"))
        .map(e => {
            let under = e;
            while (getComputedStyle(under).backgroundColor == "rgba(0, 0, 0, 0)") under = under.parentElement;
            return [e.className + " " + e.tagName, getComputedStyle(e).color, getComputedStyle(under).backgroundColor];
        })"""
    )
    assert len(pairs) > 100
    assert {name for name, ink, paper in pairs if _contrast(ink, paper) < 4.5} == set()


def test_paper_stays_white_whatever_the_screen(visit, report):
    page = visit(report, color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#q1 h3").evaluate("e => getComputedStyle(e).color") == "rgb(27, 39, 51)"
