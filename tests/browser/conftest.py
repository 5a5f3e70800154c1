"""One browser for all tests; a page that writes an error to its console fails its test."""

import numpy as np
import pytest

from tests.browser.servers import installed_browser, serving

sync_api = pytest.importorskip("playwright.sync_api")
for needed in ("starlette", "uvicorn", "websockets", "prometheus_client"):
    pytest.importorskip(needed)


@pytest.fixture(scope="session")
def browser():
    path = installed_browser()
    if path is None:
        pytest.skip("no Chromium is installed")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens pages; ``errors`` are those that they may have."""
    seen, contexts = [], []

    def open_page(url, *, width=1440, height=900, dark=False, errors=True, **options):
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        if errors:
            page.on(
                "console", lambda told: seen.append(told.text) if told.type == "error" else None
            )
            page.on("pageerror", lambda error: seen.append(str(error)))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert seen == []


@pytest.fixture(scope="session")
def play():
    with serving("play", "--no-browser") as server:
        yield server


@pytest.fixture(scope="session")
def axe():
    """Runs axe on a page and returns what it objects to."""
    path = pytest.importorskip("axe_playwright_python").__path__[0]
    with open(f"{path}/axe.min.js", encoding="utf-8") as file:
        source = file.read()

    def check(page):
        page.evaluate(source)
        found = page.evaluate("axe.run()")["violations"]
        return [(entry["id"], [node["html"] for node in entry["nodes"]]) for entry in found]

    return check


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """Makes a store of iris in a folder of its own."""
    from sklearn.datasets import load_iris

    from gramian import LeastSquaresSVC
    from gramian.store import Store

    def make():
        data = load_iris(as_frame=True)
        path = tmp_path_factory.mktemp("store") / "iris.store"
        labels = np.asarray(data.target_names)[data.target]
        Store.create(path, LeastSquaresSVC(gamma=0.3, C=10.0).fit(data.data, labels)).close()
        return path

    return make
