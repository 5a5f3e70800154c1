"""The page on which samples are painted, in a real browser."""

import re
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.plane import Visitor, address
from tests.browser.servers import Server


@pytest.fixture
def visitor(play, visit):
    return Visitor(visit(play.url))


def test_a_click_teaches_and_a_click_on_a_sample_forgets(visitor):
    n, place = visitor.n, visitor.empty_place()
    visitor.click(*place)
    visitor.holds(n + 1)
    assert visitor.rows[-1] == pytest.approx((*place, 0), abs=0.01)
    visitor.click(*place)
    visitor.holds(n)


def test_a_drag_moves_a_sample(visitor):
    n, place = visitor.n, visitor.empty_place()
    x, y, label = visitor.rows[0]
    visitor.drag((x, y), place)
    rows = visitor.rows
    assert len(rows) == visitor.n == n
    assert rows[-1] == pytest.approx((*place, label), abs=0.02)
    visitor.page.click("#undo")
    assert (x, y, label) in visitor.rows


def test_a_lasso_forgets_many_and_undo_brings_them_back(visitor):
    rows = visitor.rows
    inside = [row for row in rows if row[0] < -0.5]
    visitor.page.get_by_text("Lasso", exact=True).click()
    visitor.drag((-1.99, 1.49), (-0.5, 1.49), (-0.5, -1.49), (-1.99, -1.49))
    visitor.holds(len(rows) - len(inside))
    assert not [row for row in visitor.rows if row[0] < -0.5]
    error = visitor.error
    visitor.page.keyboard.press("Control+z")
    visitor.holds(len(rows))
    assert sorted(visitor.rows) == sorted(rows)
    visitor.page.click("#redo")
    visitor.holds(len(rows) - len(inside))
    expect(visitor.page.locator("#error")).to_have_text(error)


def test_all_can_be_done_by_keyboard(visitor):
    page, n = visitor.page, visitor.n
    page.locator("#top").focus()
    page.keyboard.press("3")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    visitor.holds(n + 1)
    assert visitor.rows[-1] == pytest.approx((0.05, 1.25, 2), abs=1e-3)
    page.keyboard.press("Space")
    visitor.holds(n)
    page.keyboard.press("n")
    page.keyboard.press("Space")
    visitor.holds(n - 1)


def test_the_search_is_shown_and_chooses(visitor):
    visitor.page.click("#choose")
    found = visitor.reading(r"γ = (\S+), λ = (\S+): the best of (\d+) settings", "#found")
    assert int(found[3]) > 50
    expect(visitor.page.locator("#gamma-value")).to_have_text(found[1])
    expect(visitor.page.locator("#ridge-value")).to_have_text(found[2])


def test_a_refusal_stands_until_the_next_answer_and_spares_the_proof(visitor):
    page, problem, proof = visitor.page, visitor.page.locator("#problem"), "Is the live model"
    expect(page).to_have_url(re.compile("&r="))
    page.evaluate("location.hash = location.hash.replace(/&r=[^&]*/, '&r=1e300')")
    expect(problem).to_contain_text("ridge must be from")
    expect(page.locator("#proof")).to_contain_text(proof)
    page.locator("#ridge").press("ArrowLeft")
    expect(problem).to_be_hidden()
    page.click("#prove")
    expect(page.locator("#proof")).to_contain_text("differ by")


def test_the_proof_compares_with_a_refit(visitor):
    n = visitor.n
    for step in range(3):
        visitor.click(*visitor.empty_place())
        visitor.holds(n + 1 + step)
    visitor.page.click("#prove")
    found = visitor.reading(r"After 3 edits.*differ by (\S+)\.", "#proof")
    assert found[1] == "nothing" or float(found[1]) < 1e-8


def test_other_samples_dismiss_what_was_found_and_proved(visitor):
    page, proof = visitor.page, visitor.page.locator("#proof")
    page.click("#prove")
    expect(proof).to_contain_text("After 0 edits")
    expect(proof).to_contain_text("Teach or forget a few, and prove it again.")
    page.click("#choose")
    expect(page.locator("#search")).to_be_visible()
    page.select_option("#data", "banana")  # while the search is being shown
    expect(page.locator("#search")).to_be_hidden()
    expect(proof).to_have_text("Is the live model really the one that a refit gives?")
    page.wait_for_timeout(500)
    expect(page.locator("#found")).not_to_contain_text("the best of")


def test_an_address_holds_the_whole_state(visitor, visit):
    n = visitor.n
    visitor.page.select_option("#estimator", "KernelDiscriminant")
    visitor.click(*visitor.empty_place())
    visitor.holds(n + 1)
    rows, url = visitor.rows, visitor.page.url
    other = Visitor(visit(url))
    other.holds(n + 1)
    assert other.rows == rows
    expect(other.page.locator("#error")).to_have_text(visitor.error)
    expect(other.page.locator("#estimator")).to_have_value("KernelDiscriminant")


def test_the_copied_code_runs_and_finds_the_same_error(play, visit):
    page = visit(play.url, permissions=["clipboard-read", "clipboard-write"])
    visitor = Visitor(page)
    page.click("#python")
    expect(page.locator("#python")).to_have_text("Copied")
    code = page.evaluate("navigator.clipboard.readText()")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    score = float(ran.stdout.split()[2])
    assert score == pytest.approx(1 - float(visitor.error.split()[0]) / 100, abs=1e-3)


def test_every_estimator_and_layer_is_drawn(play, visit):
    page = visit(play.url)
    visitor = Visitor(page)
    for estimator in page.locator("#estimator option").all():
        page.select_option("#estimator", estimator.get_attribute("value"))
        boxes = page.locator("[name=layer]:enabled:visible")
        for name in boxes.evaluate_all("found => found.map((box) => box.value)"):
            page.check(f"[name=layer][value={name}]")
        x, y, _ = visitor.rows[3]
        page.mouse.move(*visitor.pixel(x, y))
        expect(page.locator("#tip")).to_contain_text("Sample")
        page.mouse.move(0, 0)


def test_samples_stream_through_the_model(visitor):
    visitor.page.select_option("#data", "drift")
    visitor.holds(60)
    first = visitor.rows
    visitor.page.click("#stream")
    visitor.page.wait_for_timeout(900)
    visitor.page.click("#stream")
    assert len(visitor.rows) == 60
    assert set(visitor.rows) != set(first)


def test_the_page_comes_back_after_the_server(visit):
    server = Server("play", "--no-browser")
    server.start()
    page = visit(server.url, errors=False)
    visitor = Visitor(page)
    n = visitor.n
    visitor.click(*visitor.empty_place())
    visitor.holds(n + 1)
    error = visitor.error
    server.stop()
    expect(page.locator("#lost")).to_be_visible()
    server.start()
    try:
        expect(page.locator("#lost")).to_be_hidden()
        expect(page.locator("#error")).to_have_text(error)
        visitor.click(*visitor.empty_place())
        visitor.holds(n + 2)
    finally:
        server.stop()


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_everyone_can_use_it(play, visit, axe, width, dark):
    page = visit(play.url, width=width, dark=dark)
    Visitor(page)
    page.click("#prove")
    page.check("[value=sets]")
    page.click("#choose")
    expect(page.locator("#found")).to_contain_text("best of")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(UNTITLED) == []
    assert len(page.inner_text("#intro").split()) < 60


UNTITLED = """[...document.querySelectorAll("button, select, input")]
    .filter((one) => !one.closest("[title]")).map((one) => one.outerHTML)"""


def test_addresses_of_many_samples_open(play, visit):
    rows = [((i % 40) / 20 - 1, i // 40 / 20 - 0.5, i % 2) for i in range(800)]
    visitor = Visitor(visit(play.url + address(rows)))
    visitor.holds(800)
    np.testing.assert_allclose(visitor.rows, rows, rtol=0, atol=1e-3)


def test_the_band_of_a_curve_follows_the_noise_or_not(play, visit):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.9, 1.9, 120)
    y = np.clip(0.4 * np.sin(2 * x) + 0.15 * (x + 2) * rng.standard_normal(120), -1.4, 1.4)
    rows = [(a, b, 0) for a, b in zip(x, y, strict=True)]
    page = visit(play.url + address(rows, "LeastSquaresSVR", layers="sets"))
    Visitor(page)
    band = "() => document.getElementById('field').toDataURL()"
    page.wait_for_timeout(1500)
    expect(page.locator("#constant-row")).to_be_visible()
    local = page.evaluate(band)
    page.check("[value=constant]")
    assert page.evaluate(band) != local
    page.uncheck("[value=constant]")
    assert page.evaluate(band) == local
    page.uncheck("[value=sets]")
    expect(page.locator("#constant-row")).to_be_hidden()
