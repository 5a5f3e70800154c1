"""Formulas as MathML, which browsers draw themselves: no script and no fonts from elsewhere."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

# What LaTeX has and docutils has not: other names of displayed formulas, fractions without braces.
_DISPLAYED = re.compile(r"\\(begin|end)\{(?:align|gather)\*?\}")
_EQUATION = re.compile(r"\\(?:begin|end)\{equation\*?\}")
_FRACTION = re.compile(r"\\([dt]?frac)(?:\s+(?=[A-Za-z])|(?=\d))(\w)\s*(\w)")

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
    code = node.astext()
    try:
        return tex2mathml(_known(code), as_block=as_block)
    except MathError as error:
        _logger.warning("this formula has no MathML form: %s", error, location=node)
        return f"<code>{translator.encode(code)}</code>"


def _known(code):
    """The same formula in commands that docutils knows."""
    code = _DISPLAYED.sub(r"\\\1{aligned}", code)
    return _FRACTION.sub(r"\\\1{\2}{\3}", _EQUATION.sub("", code))


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
