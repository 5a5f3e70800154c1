"""How the documentation is built: ``make docs``, warnings as errors, no network."""

import sys
from pathlib import Path

import gramian

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Gramian"
copyright = author = "The Gramian developers"
version = release = gramian.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "bibliography",
    "leftovers",
    "mathml",
    "pages",
    "public",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring is a link where there is such a name

# -- pages in Markdown --------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# -- API reference ------------------------------------------------------------------------------

autosummary_generate = True
autodoc_member_order = "groupwise"
autodoc_mock_imports = ["river"]  # an extra that the pages do not need
autodoc_typehints = "none"  # numpydoc sections state types
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # _templates/autosummary/class.rst lists them
numpydoc_show_inherited_class_members = False

# -- gallery ------------------------------------------------------------------------------------

# It asks for whole paths without spaces; links are relative to docs/, and no name below it has one.
suppress_warnings = ["sphinx_gallery.space_in_filename"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!plot_)",  # scripts outside of the gallery
    "backreferences_dir": "api/generated/examples",
    "doc_module": ("gramian",),
    "download_all_examples": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}

# -- HTML: all that a page needs comes with it ----------------------------------------------------

_MARK = "../src/gramian/serve/page/mark.svg"  # that of the pages of the service
html_theme = "pydata_sphinx_theme"
html_title = f"Gramian {release}"
html_static_path = ["_static"]
html_favicon = _MARK
html_css_files = ["gramian.css"]
html_copy_source = html_show_sourcelink = False
html_sidebars = {"start": [], "coming_from_sklearn": []}  # one page, no section
html_theme_options = {
    "icon_links": [],
    "logo": {"text": "Gramian", "image_light": _MARK, "image_dark": _MARK, "alt_text": ""},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
