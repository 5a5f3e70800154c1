"""A list of references from a BibTeX file, and links to it.

The directive ``{bibliography} references.bib`` writes every entry with its key as label. A key in a
page, as code, is a link to its entry; so is one in a docstring that says
"duan2008 in docs/references.bib."
"""

import re
import unicodedata
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

_ENTRY = re.compile(r"@\w+\{(?P<key>\w+),\n(?P<fields>.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+) = (.*?),?$", re.MULTILINE)
_ACCENT = re.compile(r"\{\\(['\"`^~])(\w)\}")
_COMBINING = {"'": "\u0301", '"': "\u0308", "`": "\u0300", "^": "\u0302", "~": "\u0303"}
_KEY = re.compile(r"[a-z]+\d{4}")
_CITED = re.compile(r"\b([a-z]+\d{4})(?=.* in docs/references\.bib)")


def read_entries(text):
    """Fields of each entry by key; names and titles in plain text."""
    return {
        entry["key"]: {name: plain(value) for name, value in _FIELD.findall(entry["fields"])}
        for entry in _ENTRY.finditer(text)
    }


def plain(value):
    """A value without braces, LaTeX accents and dashes."""
    value = _ACCENT.sub(lambda m: unicodedata.normalize("NFC", m[2] + _COMBINING[m[1]]), value)
    return value.replace("{", "").replace("}", "").replace("--", "–")


def authors(field):
    """``Kim, Hyunsoo and Drake, Barry L.`` as ``Hyunsoo Kim and Barry L. Drake``."""
    names = [" ".join(reversed(name.split(", "))) for name in field.split(" and ")]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def venue(entry):
    """Where it appeared: ``Journal 37 (3), 189–217``."""
    where = entry.get("journal", entry.get("booktitle", ""))
    number = f" ({entry['number']})" if "number" in entry else ""
    volume = f" {entry['volume']}{number}" if "volume" in entry else ""
    pages = f", {entry['pages']}" if "pages" in entry else ""
    return f"{where}{volume}{pages}"


class Bibliography(SphinxDirective):
    """Every entry of a BibTeX file beside the page, in its order."""

    required_arguments = 1

    def run(self):
        path = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        self.env.note_dependency(str(path))
        entries = read_entries(path.read_text(encoding="utf-8"))
        return [nodes.definition_list("", *(self._item(*entry) for entry in entries.items()))]

    def _item(self, key, entry):
        term = nodes.term("", "", nodes.literal("", key))
        term["ids"].append(key)
        self.env.domains.standard_domain.note_hyperlink_target(key, self.env.docname, key, key)
        text = f"{authors(entry['author'])}. {entry['year']}. "
        about = nodes.paragraph("", text, nodes.emphasis("", entry["title"]), nodes.Text("."))
        if venue(entry):
            about += nodes.Text(f" {venue(entry)}.")
        if "url" in entry:
            about += [nodes.Text(" "), nodes.reference("", entry["url"], refuri=entry["url"])]
        return nodes.definition_list_item("", term, nodes.definition("", about))


class LinkKeys(SphinxTransform):
    """Make keys in the text of a page, as code, links."""

    default_priority = 500

    def apply(self, **kwargs):
        for literal in list(self.document.findall(nodes.literal)):
            linkless = isinstance(literal.parent, nodes.title | nodes.term | nodes.reference)
            if _KEY.fullmatch(literal.astext()) and not linkless:
                attributes = {"reftype": "ref", "refexplicit": True}
                target = {"refdomain": "std", "reftarget": literal.astext()}
                link = addnodes.pending_xref("", literal.deepcopy(), **target, **attributes)
                link["refdoc"] = self.env.docname
                literal.replace_self(link)


def link_citations(app, what, name, obj, options, lines):
    """In a docstring, make keys that it cites from the file links."""
    lines[:] = [_CITED.sub(r":ref:`\1`", line) for line in lines]


def setup(app):
    app.add_directive("bibliography", Bibliography)
    app.add_transform(LinkKeys)
    app.connect("autodoc-process-docstring", link_citations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
