"""The page of a served store, in a real browser."""

import json
from urllib.request import Request, urlopen

import numpy as np
import pytest
from playwright.sync_api import expect

from gramian import LeastSquaresSVC
from gramian.serve import add_token
from gramian.store import Store
from tests.browser.servers import serving
from tests.browser.test_play import UNTITLED


@pytest.fixture(scope="module")
def store(stores):
    with serving("serve", str(stores())) as server:
        yield server


def test_a_sample_is_forgotten_with_a_receipt(store, visit):
    page = visit(store.url)
    expect(page.locator("#n")).to_have_text("150")
    page.fill("#wanted", "83")
    page.keyboard.press("Enter")
    expect(page.locator("#sample")).to_contain_text("petal length")
    page.get_by_role("button", name="Forget this sample").click()
    page.keyboard.press("Escape")
    expect(page.locator("#n")).to_have_text("150")
    page.get_by_role("button", name="Forget this sample").click()
    page.click("#yes")
    expect(page.locator("#receipt")).to_contain_text("Forgotten")
    expect(page.locator("#n")).to_have_text("149")
    with page.expect_download() as file:
        page.get_by_text("Download receipt").click()
    with open(file.value.path(), encoding="utf-8") as content:
        receipt = json.load(content)
    assert (receipt["action"], receipt["n_before"], receipt["n_after"]) == ("forget", 150, 149)
    expect(page.locator("#receipts")).to_contain_text("forget")
    page.click("#audit")
    expect(page.locator("#verdict")).to_contain_text("Passed")
    page.fill("#wanted", "83")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("does not hold")


@pytest.fixture
def visit(visit):
    """A request that is refused is no error of the page."""
    return lambda url, **options: visit(url, errors=False, **options)


@pytest.mark.parametrize(("width", "dark"), [(360, False), (360, True), (1440, False)])
def test_everyone_can_use_it(store, visit, axe, width, dark):
    page = visit(store.url, width=width, dark=dark)
    page.locator("#doubtful button").first.click()
    expect(page.locator("#sample")).to_contain_text("petal length")
    expect(page.locator("#legend li")).to_have_count(3)
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(UNTITLED) == []
    assert len(page.inner_text("#intro").split()) < 60


def test_without_a_token_that_may_forget_the_page_is_read_only(stores, visit, tmp_path):
    file = tmp_path / "tokens.json"
    secrets = {scope: add_token(file, scope, [scope]) for scope in ("predict", "learn")}
    with serving("serve", str(stores()), "--tokens", str(file)) as server:
        page = visit(server.url)
        expect(page.locator("#door")).to_be_visible()
        page.fill("#token", secrets["predict"])
        page.keyboard.press("Enter")
        expect(page.locator("#denied")).to_contain_text("good for predict alone")
        page.fill("#token", secrets["learn"])
        page.keyboard.press("Enter")
        expect(page.locator("#n")).to_have_text("150")
        expect(page.locator("#evidence")).to_be_hidden()
        page.locator("#doubtful button").first.click()
        expect(page.locator("#said")).to_contain_text("read-only")


def test_the_page_comes_back_after_the_server(stores, visit):
    with serving("serve", str(stores())) as server:
        page = visit(server.url)
        expect(page.locator("#n")).to_have_text("150")
        server.stop()
        expect(page.locator("#lost")).to_be_visible()
        server.start()
        expect(page.locator("#lost")).to_be_hidden()
        expect(page.locator("#n")).to_have_text("150")


def test_ten_classes_have_ten_shapes_and_a_drift_its_place(tmp_path, visit):
    rng = np.random.default_rng(0)
    X, y = 0.1 * rng.standard_normal((60, 3)), np.arange(60) % 10
    X[:, 0] += y
    path = tmp_path / "ten.store"
    Store.create(path, LeastSquaresSVC(gamma=0.3, C=10.0).fit(X, y)).close()
    with serving("serve", str(path)) as server:
        rows = {"name": "X", "shape": [20, 3], "datatype": "FP64", "data": X[:20].ravel().tolist()}
        body = {"inputs": [rows], "targets": ((y[:20] + 5) % 10).tolist()}
        asked = Request(f"{server.url}v2/models/ten/learn", json.dumps(body).encode())
        urlopen(asked, timeout=30).close()
        page = visit(server.url, width=360)
        expect(page.locator("#drift-alarm")).to_be_visible()
        expect(page.locator("#legend li")).to_have_count(10)
        shapes = page.eval_on_selector_all(
            "#legend polygon",
            "all => all.map(one => one.points.length + one.outerHTML.split('fill')[0])",
        )
        assert len(set(shapes)) == 10
        boxes = page.eval_on_selector_all(
            "#drift, #residual",
            "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.right])",
        )
        assert boxes[0][1] <= boxes[1][0]
        expect(page.locator("#receipts tr")).to_have_count(2)
        ends = page.eval_on_selector_all(
            "#receipts a", "all => all.map(one => one.getBoundingClientRect().right)"
        )
        assert max(ends) <= 360
        assert page.locator("#receipts").inner_text().count("closed") == 2
