"""Formulas as MathML, which browsers draw themselves: no script and no fonts from elsewhere."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

# What LaTeX has for displayed formulas, and the form of it that docutils knows.
_DISPLAYED = re.compile(r"\\(begin|end)\{(?:align|gather)\*?\}")
_EQUATION = re.compile(r"\\(?:begin|end)\{equation\*?\}")

_logger = logging.getLogger(__name__)


def visit_inline(translator, node):
    """Write a formula within a line."""
    translator.body.append(_mathml(translator, node))
    raise nodes.SkipNode


def visit_block(translator, node):
    """Write a formula of its own, with its number if it has a label."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append(_mathml(translator, node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


def _mathml(translator, node, as_block=False):
    code = _EQUATION.sub("", _DISPLAYED.sub(r"\\\1{aligned}", node.astext()))
    try:
        return tex2mathml(code, as_block=as_block)
    except MathError as error:
        _logger.warning("this formula has no MathML form: %s", error, location=node)
        return f"<code>{translator.encode(code)}</code>"


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
