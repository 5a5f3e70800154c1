"""Injection: names and cells of a table are text, wherever they are shown.

Columns, labels, ids, texts and files get hostile names. Every command runs on such a table, and a
service answers for it. A page must have the elements and attributes of the page of a harmless
table, and nothing else; drawings must be XML without scripts; JSON must be JSON; no cell of a CSV
may be a formula; nothing may command a terminal; and the names must come back as they went in.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import json
import os
import random
import re
import tempfile
import unicodedata
import warnings
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np

import gramian
from gramian.cli._app import app
from tests.torture.common import Clock
from tests.torture.requests import MODEL, service

ROWS = 24
# fmt: off
HTML = [
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<img src=x onerror=a()>",
    '"><svg onload=a()>', "' onmouseover='a()", '" onmouseover="a()', "</td></tr></table><h1>x",
    "<!--", "-->", "--!>", "]]>", "<![CDATA[", "<?php x ?>", "</style><style>*{}", "</title><b>",
    "&lt;script&gt;", "&#60;b&#62;", "&amp;amp;", "<a href=javascript:a()>x</a>", "</textarea>",
    "<iframe srcdoc='<b>'>", "<base href=//x>", "<meta http-equiv=refresh>", "{{7*7}}", "${7*7}",
    "<plaintext>", "<math><mtext>", "<template>", "\\u003cscript\\u003e", "`${a}`",
    "<x\tonclick=a>",
]
CELLS = [
    "=1+1", '=HYPERLINK("http://x")', "+1+1", "-1+1", "@SUM(A1)", "=cmd|'/c x'!A0", "\t=1+1",
    "\r=1+1", "\n=1+1", "=\n1", "+", "-", "@", "=", "a,b", 'a"b', '""', "a;b;c;d;e;f", "a\tb",
    "|||", "-1e5x", "+a", "%0a=1", "\x0b=1", "'=1", "\u200f=1+1", "\ufeff=1+1",
]
TERMINAL = [
    "\x1b[31mred", "\x1b]0;title\x07", "\x1b]52;c;AAAA\x07", "\x9b31m", "\x90q", "a\x08b", "a\rb",
    "\x7f", "\x1b[2J", "\x1b]8;;http://x\x07link", "[red]x[/red]", "[link=http://x]y[/link]",
    "[/]", ":smile:", "\u202egnp.exe", "\u2066a\u2069", "\u061cb", "\u200eb", "a\u2028b",
    "a\u2029b", "\x85b", "a\x00b",
]
OTHERS = [
    "%s%n%x", "{0.__class__}", "{facts}", "../../etc/passwd", "a/b\\c", "$x^2$", "$\\frac{",
    "a$b$c", "\\$", "_hidden", "__class__", "constructor", "__proto__", "nan", "None", "null",
    "true", "0", "1e5", "é", "é", "𝒳", "中文", "🙂", "a" * 3000, "<" * 500,
    "'; DROP TABLE rows; --", 'x"} 1\ny{a="', "\ud800", "*", "[x](javascript:a())", "| a | b |",
    "# x", "  padded  ", "--help", "-o", "~",
]
# fmt: on
PAYLOADS = [*HTML, *CELLS, *TERMINAL, *OTHERS]


def hostile(rng):
    """A payload, or two of them in one another."""
    text = rng.choice(PAYLOADS)
    return text if rng.random() < 0.7 else rng.choice(PAYLOADS) + rng.choice(["", "a", " "]) + text


def names(rng, k, plain):
    """So many distinct texts: hostile ones, or harmless ones of the same number."""
    if plain is not None:
        return [f"{plain}{i}" for i in range(k)]
    found = {}
    while len(found) < k:
        text = hostile(rng).encode("utf-8", "ignore").decode().strip()
        if text and text.casefold() not in {"nan", "none", "null", "na", "n/a", "?"}:
            found[text] = None
    return list(found)


def table(rng, plain=False, flat=False):
    """A table as (name of the id column, name of the target, columns)."""
    word = (lambda text: text) if plain else (lambda text: None)
    column, ids = names(rng, 4, word("c")), names(rng, ROWS, word("i"))
    labels, texts = names(rng, 2 if flat else 3, word("l")), names(rng, 4, word("t"))
    x = np.random.default_rng(0).standard_normal((ROWS, 2)).round(3)
    own = np.arange(ROWS) % len(labels)
    cells = [labels[k] for k in own]
    second = x[:, 1].tolist() if flat else [texts[i % 4] for i in range(ROWS)]
    columns = {column[0]: ids, column[1]: (x[:, 0] + own).tolist(), column[2]: second}
    return column[0], column[3], {**columns, column[3]: cells}


def write(path, columns):
    """The table as CSV, with no care for formulas."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


class Page(HTMLParser):
    """Elements and attributes of a page, without addresses; the addresses; the text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.addresses, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.elements.append(("comment", ()))

    handle_decl = handle_pi = unknown_decl = handle_comment


def commanding(text, kept="\n"):
    """Characters that a terminal or a browser would obey."""
    marks = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    kinds = ("Cc", "Zl", "Zp", "Cs")
    return {c for c in text if (unicodedata.category(c) in kinds or c in marks) and c not in kept}


def formulas(text):
    """Cells of a CSV that a spreadsheet computes."""
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            if re.match(r"[=+\-@\t\r\n]", cell) and not re.fullmatch(
                r"[+-]?[\d.]+(e[+-]?\d+)?", cell
            ):
                yield cell


# -- commands -----------------------------------------------------------------------------------


class Commands:
    """Types commands in a folder and judges what comes back."""

    def __init__(self, folder):
        from click.testing import CliRunner

        self.folder, self.runner, self.failures, self.typed = folder, CliRunner(), [], 0

    def type(self, *words):
        """The output of a command; None if it ended with an error that may be."""
        self.typed += 1
        result = self.runner.invoke(app, [str(word) for word in words])
        error = result.exception
        if error is not None and not isinstance(error, SystemExit):
            self.failures.append(f"{words[0]} raised {error!r:.200}")
        for stream in (result.stdout, result.stderr):
            bad = commanding(stream, "\n\t" if words[0] == "predict" else "\n")
            if bad:
                self.failures.append(f"{words[0]} printed {bad}: {ascii(stream)[:200]}")
        return result.stdout if result.exit_code == 0 else None

    def note(self, what):
        self.failures.append(what)


def _fit(rng, folder, commands, plain, flat):
    """A model file of such a table, and the table; None if it was refused."""
    id_column, target, columns = table(rng, plain, flat)
    write("train.csv", columns)
    name = "model.gram" if plain else _file_name(rng)
    words = ["fit", "train.csv", f"--target={target}", f"--id={id_column}", "-o", name]
    done = commands.type(*words, "--estimator", "ls-svc", "--gamma", "0.3", "--ridge", "0.1")
    return None if done is None else (name, id_column, target, columns)


def _file_name(rng):
    text = hostile(rng).encode("utf-8", "ignore").decode()
    return "./" + re.sub(r"[/\0]", "_", text)[:40] + ".gram"


def use(rng, commands, plain=False, flat=False):
    """All commands on one table; the elements of its report."""
    made = _fit(rng, commands.folder, commands, plain, flat)
    if made is None:
        return None
    model, id_column, target, columns = made
    if sorted(gramian.load(model).ids_.tolist()) != sorted(columns[id_column]):
        commands.note("other ids than the table has")
    for words in (["inspect", model, "--loo"], ["doubt", model, "--top", "30", "-o", "doubt.csv"]):
        commands.type(*words)
        _check_json(commands, words)
    _check_csv(commands, "doubt.csv", 24, None)
    new = {**columns, target: columns[target][::-1]}
    new[list(columns)[2]] = [f"{cell}" for cell in new[list(columns)[2]]][::-1]
    write("new.csv", new)
    shown = commands.type("predict", model, "new.csv", "--proba", "--confidence", "0.9")
    Path("shown.csv").write_text(shown or "", encoding="utf-8")
    commands.type("predict", model, "new.csv", "--proba", "--confidence", "0.9", "-o", "out.csv")
    for path in ("shown.csv", "out.csv"):
        _check_csv(commands, path, ROWS, 3 + len(set(columns[target])))
    elements = _check_report(commands, model)
    _edit(rng, commands, model, columns, id_column)
    return elements


def _edit(rng, commands, model, columns, id_column):
    """Forget with receipts, by ids and by the list of doubt; then as a store."""
    gone = rng.choice(columns[id_column])
    if commands.type("forget", model, f"--id={gone}", "--receipt", "r.jsonl") is not None:
        if gone in gramian.load(model).ids_.tolist():
            commands.note("forgot nothing")
        lines = Path("r.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
        try:
            records = [json.loads(line) for line in lines]
        except ValueError as error:
            commands.note(f"a receipt is not JSON: {error}")
        else:
            if not records or not "".join(lines).isascii():
                commands.note("no receipt, or one that is not plain")
        commands.type("verify", "r.jsonl", model)
    commands.type("forget", model, f"--id={rng.choice(PAYLOADS)}")
    commands.type("forget", model, "--where", f"{rng.choice(PAYLOADS)} == {rng.choice(PAYLOADS)}")
    commands.type("learn", model, "new.csv")
    if commands.type("store", "create", model, "a.store") is not None:
        for words in (
            ["store", "receipts", "a.store"],
            ["audit", "a.store"],
            ["inspect", "a.store"],
        ):
            commands.type(*words)
            _check_json(commands, words)
    commands.type("inspect", f"no {_file_name(rng)[2:]}")
    commands.type("fit", "train.csv", f"--target={rng.choice(PAYLOADS)}", "-o", "x.gram")
    for path in ("r.jsonl", "a.store"):
        Path(path).unlink(missing_ok=True)


def _check_json(commands, words):
    out = commands.type(*words, "--json")
    if out is not None:
        try:
            json.loads(out)
        except ValueError as error:
            commands.note(f"{words[0]} --json: {error}")


def _check_csv(commands, path, rows, columns):
    if not Path(path).exists():
        return
    text = Path(path).read_text(encoding="utf-8")
    if commanding(text, "\n\t"):
        commands.note(f"{path} has {commanding(text)}")
    found = list(csv.reader(io.StringIO(text, newline="")))
    if text and (len(found) > rows + 1 or len({len(row) for row in found}) != 1):
        commands.note(f"{path} has {len(found)} rows of { ({len(row) for row in found}) } cells")
    if text and columns is not None and len(found[0]) != columns:
        commands.note(f"{path} has {len(found[0])} columns")
    commands.failures += [f"{path} has the cell {ascii(cell)[:80]}" for cell in formulas(text)]


def _check_report(commands, model):
    """Elements of the page; its drawings are XML that runs nothing."""
    if commands.type("report", model, "--doubtful", "30", "-o", "report.html") is None:
        commands.note("no report of a model")
        return None
    text = Path("report.html").read_text(encoding="utf-8")
    page = Page(text)
    if commanding(page.text):
        commands.note(f"the report has {commanding(page.text)}")
    for address in page.addresses:
        kind, _, content = address.partition(",")
        if kind != "data:image/svg+xml;base64":
            commands.note(f"the report has the address {address[:80]!r}")
            continue
        commands.failures += [f"a drawing has {what}" for what in _faults_of_svg(content)]
    return page.elements


def _faults_of_svg(content):
    text = base64.b64decode(content).decode()
    if commanding(text):
        yield f"{commanding(text)}"
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        yield f"no XML: {error}"
        return
    for element in root.iter():
        if not isinstance(element.tag, str) or element.tag.endswith(("script", "foreignObject")):
            yield f"the element {element.tag}"
        for name, value in element.attrib.items():
            if name.split("}")[-1].startswith("on"):
                yield f"the attribute {name}"
            if name.endswith("href") and not value.startswith(("#", "data:image/png;base64,")):
                yield f"a link to {value[:60]!r}"


# -- the service --------------------------------------------------------------------------------


def serve(rng):
    """Requests with hostile texts; their number, and what is wrong with the answers."""
    id_column, target, columns = table(rng)
    estimator = gramian.KernelDiscriminant(gamma=0.3, ridge=0.1)
    try:
        fitted = gramian.TableModel(estimator, target=target, id_column=id_column).fit(columns)
    except ValueError:
        return 0, []
    failures, tried = [], 0
    with service(fitted) as (client, _, _):
        for method, path, body in _asked(rng, columns, id_column, target):
            tried += 1
            sent = {"content": json.dumps(body)} if body else {}  # which writes \\ud800 out
            answer = client.request(method, path, **sent)
            failures += [f"{method} {path[:60]!r}: {what}" for what in _faults_of(answer)]
        text = client.get("/metrics").text
        failures += _faults_of_metrics(text)
        for path in ("/", "/docs"):
            page = Page(client.get(path).text)
            if any(text in page.text for text in PAYLOADS if len(text) > 12):
                failures.append(f"{path} shows text of the table")
    return tried, failures


def _asked(rng, columns, id_column, target):
    records = [
        dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
    ]
    ids = columns[id_column]
    new = {**records[0], id_column: f"new {hostile(rng)}".replace("\0", "")}
    yield "POST", f"{MODEL}/infer", {"records": records[:2], "parameters": {"probabilities": True}}
    yield "POST", f"{MODEL}/infer", {"records": [{hostile(rng): hostile(rng)}]}
    yield "POST", f"{MODEL}/learn", {"records": [_clean(new)]}
    yield "POST", f"{MODEL}/samples", {"ids": ids[:2]}
    yield "POST", f"{MODEL}/forget", {"ids": ids[:1]}
    yield "POST", f"{MODEL}/forget", {"ids": [_text(hostile(rng))]}
    yield "POST", f"{MODEL}/relabel", {"ids": ids[2:3], "targets": [_text(hostile(rng))]}
    for path in ("", "/doubt?count=20", "/projection", "/receipts", "/metadata", "/drift"):
        yield "GET", MODEL + path, None
    for _ in range(6):
        text = quote(_text(hostile(rng)), safe="")
        yield "GET", f"/v2/models/{text}", None
        yield "GET", f"{MODEL}/receipts?after={text}", None
        yield "GET", f"/{text}", None


def _text(text):
    return text.encode("utf-8", "ignore").decode()


def _clean(record):
    return {
        _text(key): _text(value) if isinstance(value, str) else value
        for key, value in record.items()
    }


def _faults_of(answer):
    kind = answer.headers.get("content-type", "").split(";")[0]
    if answer.status_code >= 500:
        yield f"status {answer.status_code}"
    if answer.headers.get("x-content-type-options") != "nosniff":
        yield f"a browser may guess what {kind} is"
    if kind.endswith("json"):
        try:
            json.loads(answer.text)
        except ValueError as error:
            yield f"no JSON: {error}"
    elif kind != "text/html" or "default-src 'self'" not in answer.headers.get(
        "content-security-policy", ""
    ):
        yield f"is {kind}"
    for name, value in answer.headers.items():
        if commanding(name + value):
            yield f"the header {name} is {value!r}"


def _faults_of_metrics(text):
    from prometheus_client.parser import text_string_to_metric_families

    known = re.compile(r"[\w/.{}:+-]*")
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            for name, value in sample.labels.items():
                if not known.fullmatch(value):
                    yield f"metrics have the label {name}={value!r}"


# -- the attack ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _in_folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def main(seed=0, seconds=None, n=None, report=None):
    """Tables and services of hostile names; commands and requests, and failures."""
    clock, tried, failures, at, refused = Clock(seconds, n), 0, [], 1000 * seed, 0
    expected = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while clock.goes_on():
            rng, flat = random.Random(at), bool(at % 2)
            for plain in (*(() if flat in expected else (True,)), False):
                with _in_folder() as folder:
                    commands = Commands(folder)
                    elements = use(rng, commands, plain, flat)
                if plain:
                    expected[flat] = elements
                elif elements is None:
                    refused += 1
                elif elements != expected[flat]:
                    commands.note(
                        f"the report has other elements: {_first(elements, expected[flat])}"
                    )
                tried += commands.typed
                failures += [f"injection seed {at}: {what}" for what in commands.failures]
            count, wrong = serve(rng)
            tried += count
            failures += [f"injection seed {at}: {what}" for what in wrong]
            at += 1
    if report is not None:
        report["injection"] = (
            f"{len(PAYLOADS)} payloads alone and in pairs; {refused} tables refused"
        )
    return tried, failures


def _first(found, expected):
    """Where two lists differ first."""
    for k, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"{one} in place of {other} at {k}"
    return f"{len(found)} in place of {len(expected)}"
