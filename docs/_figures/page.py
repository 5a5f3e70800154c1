"""Draw the pictures of the pages: ``python -m docs._figures.page`` from the root of the repository.

Needs Chromium, ``pip install "gramian[browser]"``, and half a minute. Writes *.webp into its
folder: the strip of frames, and both pages at 1,440 and 360 pixels.
"""

import io
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris

from gramian import LeastSquaresSVC
from gramian.store import Store
from tests.browser.plane import Visitor
from tests.browser.servers import installed_browser, serving

HERE = Path(__file__).parent
FRAME, GAP, CAPTION = (480, 360), 14, 30


def main():
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        play = stack.enter_context(serving("play", "--no-browser"))
        watch = stack.enter_context(serving("serve", str(store(folder / "iris.store"))))
        driver = stack.enter_context(sync_playwright())
        path = installed_browser() or sys.exit("no Chromium is installed")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for width, dark in ((1440, False), (360, True)):
            page = opened(browser, play.url, width, dark)
            visitor = Visitor(page)
            page.select_option("#data", "flipped labels")
            page.click("#choose")
            page.wait_for_timeout(4000)
            for place in (0.2, 1.2), (0.5, 1.25), (0.8, 1.2):
                visitor.click(*place)
                page.wait_for_timeout(150)
            page.click("#prove")
            save(page, f"play_{width}")
            page = opened(browser, watch.url, width, dark)
            page.locator("#doubtful button").first.click()
            page.get_by_role("button", name="Forget this sample").click()
            page.click("#yes")
            page.wait_for_timeout(2500)
            save(page, f"watch_{width}")
        page = opened(browser, play.url, 1440, False)
        strip([*frames(page, Visitor(page))])
        browser.close()


def store(path):
    data = load_iris(as_frame=True)
    model = LeastSquaresSVC().fit(data.data, np.asarray(data.target_names)[data.target])
    Store.create(path, model).close()
    return path


def opened(browser, url, width, dark):
    scheme = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": width, "height": 860}, color_scheme=scheme)
    page.goto(url)
    page.wait_for_timeout(2500)
    return page


def save(page, name):
    page.wait_for_timeout(800)
    Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB").save(
        HERE / f"{name}.webp", quality=70, method=6
    )


def frames(page, visitor):
    """The plane at six moments, each with what it shows."""

    def seen(text):
        page.wait_for_timeout(900)
        picture = Image.open(io.BytesIO(page.locator("#plane").screenshot())).convert("RGB")
        return picture.resize(FRAME, Image.Resampling.LANCZOS), text

    page.select_option("#data", "one outlier")
    yield seen("A sample with a wrong label is ringed")
    *_, (x, y, _) = visitor.rows
    page.mouse.move(*visitor.pixel(x, y))
    yield seen("Dashed: the boundary without it")
    visitor.click(x, y)
    page.mouse.move(0, 0)
    yield seen("Forgotten, exactly")
    page.get_by_label("Class C").check(force=True)
    for angle in np.linspace(0.4, 2.7, 12):
        visitor.click(1.1 * np.cos(angle), 1.25 * np.sin(angle) - 0.05)
        page.wait_for_timeout(80)
    yield seen("A third class is painted")
    page.click("#choose")
    page.wait_for_timeout(3500)
    yield seen("Width and ridge by leave-one-out")
    page.check("[value=sets]")
    page.wait_for_timeout(2500)
    yield seen("Sets at 90 % confidence (dots: none fits)")


def strip(shots):
    """Three frames a row, with captions."""
    w, h = FRAME
    sheet = Image.new("RGB", (3 * w + 4 * GAP, 2 * (h + CAPTION + GAP) + GAP), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=19)
    for place, (picture, text) in enumerate(shots):
        left, top = GAP + (w + GAP) * (place % 3), GAP + (h + CAPTION + GAP) * (place // 3)
        sheet.paste(picture, (left, top))
        pen.text((left, top + h + 5), f"{place + 1}  {text}", fill="#1c2230", font=font)
    sheet.save(HERE / "play_strip.webp", quality=80, method=6)


if __name__ == "__main__":
    main()
