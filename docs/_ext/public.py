"""Public names: tables of them, links to them, and what of a class its page shows."""

import re
from importlib import import_module

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.ext.autosummary import Autosummary
from sphinx.transforms import SphinxTransform

_PARTS = (
    "files",
    "store",
    "export",
    "tables",
    "data",
    "stream",
    "plots",
    "datasets",
    "core.search",
    "core.gram",
    "core.kernels",
)
MODULES = ("gramian", *(f"gramian.{part}" for part in _PARTS))
# Resolved on first use, because they need a package that may be absent.
_LAZY = {"gramian.stream": ("RiverClassifier", "RiverRegressor")}
_INHERITED = ("score", "fit_transform")
_LINKLESS = nodes.title | nodes.term | nodes.reference | addnodes.pending_xref
_REFERENCE = re.compile(r":ref:`([^`<]+?) <[^`]+>`")


def public_names(module):
    """Classes and functions that users may import from a module.

    Those of ``gramian`` itself are not named again where they come from.
    """
    names = [*import_module(module).__all__, *_LAZY.get(module, ())]
    elsewhere = import_module("gramian").__all__ if module != "gramian" else ()
    return [n for n in names if n not in elsewhere and not n.isupper() and not n.startswith("_")]


def collect_names(app, config):
    """Public names by module, for the directive, the transform, and templates."""
    config.autosummary_context = {"public": {module: public_names(module) for module in MODULES}}


class PublicNames(Autosummary):
    """``.. public:: gramian.files``: the names of a module with a line about each, as links."""

    required_arguments = 1
    has_content = False

    def run(self):
        names = self.config.autosummary_context["public"][self.arguments[0]]
        self.content = StringList([f"~{self.arguments[0]}.{name}" for name in names])
        self.options["nosignatures"] = None
        return super().run()


def link_targets(config):
    """Full names by what a text may say instead: `load` alone could mean another."""
    return {
        text: f"{module}.{name}"
        for module, names in config.autosummary_context["public"].items()
        for name in names
        for text in (name, f"{module}.{name}")
        if name[0].isupper() or "." in text
    }


class LinkNames(SphinxTransform):
    """Make a class named in the text of a page, as code, a link to its page."""

    default_priority = 500

    def apply(self, **kwargs):
        targets = link_targets(self.config)
        for literal in list(self.document.findall(nodes.literal)):
            if literal.astext() in targets and not isinstance(literal.parent, _LINKLESS):
                literal.replace_self(_link(targets[literal.astext()], literal))


def _link(target, content):
    attributes = {"refdomain": "py", "reftype": "obj", "reftarget": target, "refexplicit": True}
    return addnodes.pending_xref("", content.deepcopy(), **attributes)


def resolve_elsewhere(app, env, node, contnode):
    """Let a docstring of one module name a class of another without its module."""
    target = link_targets(app.config).get(node.get("reftarget"))
    if node.get("refdomain") != "py" or target is None:
        return None
    domain = env.domains.python_domain
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, contnode)


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what other packages define and document."""
    module = getattr(obj, "__module__", None) or ""
    foreign = callable(obj) and not module.startswith("gramian") and name not in _INHERITED
    return True if foreign or name.endswith("_request") else None


def drop_foreign_links(app, what, name, obj, options, lines):
    """Take links to scikit-learn's pages, which are not here, out of its docstrings."""
    if (getattr(obj, "__module__", None) or "").startswith("sklearn"):
        lines[:] = [_REFERENCE.sub(r"\1", line) for line in lines]


def setup(app):
    app.connect("config-inited", collect_names)
    app.add_directive("public", PublicNames)
    app.add_transform(LinkNames)
    app.connect("missing-reference", resolve_elsewhere)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", drop_foreign_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
