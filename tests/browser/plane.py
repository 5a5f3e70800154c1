"""A visitor of the page on which samples are painted."""

import base64
import re
import struct
from urllib.parse import parse_qs

import numpy as np
from playwright.sync_api import expect

LATTICE = 8192


def address(rows, estimator="LeastSquaresSVC", gamma=2.0, ridge=0.1, layers="shade doubt"):
    """The part of an address that holds samples (x, y, class)."""
    data = b"".join(
        struct.pack(">hhB", round(x * LATTICE), round(y * LATTICE), int(label))
        for x, y, label in rows
    )
    text = base64.urlsafe_b64encode(data).decode().rstrip("=")
    layers = layers.replace(" ", "+")
    return f"#m={estimator}&k=rbf&g={gamma}&r={ridge}&l={layers}&p={text}"


class Visitor:
    """Clicks and reads a page by places of the plane."""

    def __init__(self, page):
        self.page = page
        expect(page.locator("#edit")).not_to_have_text("–")

    @property
    def rows(self):
        """Samples (x, y, class), as the address has them once it is written."""
        for _ in range(20):
            self.page.wait_for_timeout(350)
            (text,) = parse_qs(self.page.url.partition("#")[2]).get("p", [""])
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            if len(data) == 5 * self.n:
                break
        found = struct.iter_unpack(">hhB", data)
        return [(x / LATTICE, y / LATTICE, label) for x, y, label in found]

    @property
    def n(self):
        return int(self.page.inner_text("#n"))

    @property
    def error(self):
        return self.page.inner_text("#error")

    def pixel(self, x, y):
        box = self.page.locator("#top").bounding_box()
        across, up = (x + 2) / 4 * box["width"], (1.5 - y) / 3 * box["height"]
        return box["x"] + across, box["y"] + up

    def click(self, x, y):
        self.page.mouse.click(*self.pixel(x, y))

    def drag(self, *places):
        self.page.mouse.move(*self.pixel(*places[0]))
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*self.pixel(*place), steps=8)
        self.page.mouse.up()

    def empty_place(self):
        """A place far from all samples."""
        grid = np.stack(np.meshgrid(np.linspace(-1.8, 1.8, 30), np.linspace(-1.3, 1.3, 20)), -1)
        places, held = grid.reshape(-1, 2), np.array([row[:2] for row in self.rows])
        distance = np.linalg.norm(places[:, None] - held, axis=2).min(axis=1)
        return tuple(places[distance.argmax()])

    def holds(self, n):
        expect(self.page.locator("#n")).to_have_text(str(n))

    def reading(self, pattern, place):
        """What a text says, once it matches."""
        expect(self.page.locator(place)).to_have_text(re.compile(pattern))
        return re.search(pattern, self.page.inner_text(place))
