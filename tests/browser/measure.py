"""How fast the page answers, in a real browser: ``python -m tests.browser.measure``.

Click to drawn boundary: from the time stamp of the browser's event until the boundary of the model
with the new sample has been drawn, over 200 clicks. Drag: answers drawn in a second while a sample
moves without rest. Where other programs use the same cores, these times say little; the processor
time that the server takes for a click, plus the time of drawing, says what a quiet estimator needs.
"""

import os
import sys
from contextlib import ExitStack

import numpy as np
from playwright.sync_api import sync_playwright

from tests.browser.plane import Visitor, address
from tests.browser.servers import installed_browser, serving

CLICKS, SIZES = 200, (200, 1000)


def main():
    with ExitStack() as stack:
        server = stack.enter_context(serving("play", "--no-browser"))
        driver = stack.enter_context(sync_playwright())
        path = installed_browser() or sys.exit("no Chromium is installed")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        print(f"Chromium {browser.version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for n in SIZES:
            times, drawing, there = clicks(browser, server, n)
            middle, slow = np.quantile(times, [0.5, 0.95])
            print(f"n = {n}: click to boundary {middle:.1f} ms, 95 % below {slow:.1f} ms", *load())
            print(f"    drawing {drawing:.1f} ms, processor time of the server {there:.1f} ms")
        print(f"n = 500: {drag(browser, server, 500):.0f} frames a second in a drag", *load())
        browser.close()


def load():
    return (f"(load {os.getloadavg()[0]:.1f})",)


def opened(browser, server, n):
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(scale=0.6, size=(n, 2)), [-1.9, -1.4], [1.9, 1.4])
    rows = np.column_stack([X, X[:, 0] * X[:, 1] + rng.normal(scale=0.1, size=n) > 0])
    page = browser.new_page(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    page.goto(server.url + address(rows))
    visitor = Visitor(page)
    visitor.holds(n)
    return page, visitor


def clicks(browser, server, n):
    """Milliseconds of each click, of drawing, and of processor time in the server for one click.

    Every second click takes the sample away again, so that n stays.
    """
    page, visitor = opened(browser, server, n)
    rng = np.random.default_rng(1)
    before = server.seconds
    for step in range(CLICKS):
        if step % 2 == 0:
            place = rng.uniform([-1.9, -1.4], [1.9, 1.4])
        visitor.click(*place)
        done = f"performance.getEntriesByName('click to boundary').length > {step}"
        page.wait_for_function(done, polling=4)
    times, drawing = (
        page.evaluate(f"performance.getEntriesByName('{name}').map((one) => one.duration)")
        for name in ("click to boundary", "drawing")
    )
    used = 1e3 * (server.seconds - before) / CLICKS
    page.close()
    return times, np.median(drawing), used


CIRCLES = """async () => {
    const top = document.getElementById("top"), box = top.getBoundingClientRect();
    for (let step = 0; step < 500; step++) {
        const clientX = box.left + box.width * (0.5 + 0.3 * Math.cos(step / 20));
        const clientY = box.top + box.height * (0.5 + 0.3 * Math.sin(step / 20));
        top.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY }));
        await new Promise((done) => setTimeout(done, 5));
    }
}"""


def drag(browser, server, n):
    """Frames a second while a sample goes in circles, at 200 moves of the pointer a second."""
    page, visitor = opened(browser, server, n)
    x, y, _ = visitor.rows[0]
    page.mouse.move(*visitor.pixel(x, y))
    page.mouse.down()
    page.evaluate(CIRCLES)
    page.mouse.up()
    marks = page.evaluate("performance.getEntriesByName('drag frame').map((one) => one.startTime)")
    page.close()
    return 1e3 * (len(marks) - 1) / (marks[-1] - marks[0])


if __name__ == "__main__":
    main()
