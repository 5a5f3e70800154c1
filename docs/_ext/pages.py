"""How pages in Markdown are read.

The directive ``{pages}`` is a toctree that leaves out entries without a page, so that a list can
name pages in their order before all of them are written. A page that no list names is still a
warning. Examples end without the empty line that their doctests need.
"""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.directives.other import TocTree
from sphinx.transforms import SphinxTransform
from sphinx.util import docname_join
from sphinx.util.matching import patfilter


class Pages(TocTree):
    """A toctree of the pages that are there."""

    def parse_content(self, toctree):
        here = self.env.current_document.docname
        there = self.env.found_docs - {here}
        entries = [e for e in self.content if patfilter(there, docname_join(here, e))]
        self.content = StringList(entries)
        super().parse_content(toctree)


class TrimExamples(SphinxTransform):
    """Take empty lines off the end of code blocks."""

    default_priority = 400

    def apply(self, **kwargs):
        for block in self.document.findall(nodes.literal_block):
            trimmed = block.astext().rstrip()
            if block.rawsource == block.astext():  # else it is highlighted already
                block.rawsource = trimmed
                block.children = []
                block += nodes.Text(trimmed)


def setup(app):
    app.add_directive("pages", Pages)
    app.add_transform(TrimExamples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
