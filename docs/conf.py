"""Configuration of the documentation. Nothing in it needs the network, neither to build the pages nor to read them."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from bayesift import __version__

sys.path.insert(0, str(Path(__file__).parent))
# Beside this file.
from estimators import write_page
from rooms import write_pages

# Before anything is read: the pages of the reference.
write_pages(Path(__file__).parent / "api")
write_page(Path(__file__).parent / "api")

project = "Bayesift"
copyright = "2026, the Bayesift developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "gallery"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "subsection_order": ["gallery/models", "gallery/decisions", "gallery/beliefs"],
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("bayesift",),
    "reference_url": {"bayesift": None},
    "backreferences_dir": "auto_gallery/backreferences",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    # Tables are shown, other values are not.
    "capture_repr": ("_repr_html_",),
    "abort_on_example_error": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "Bayesift"
html_static_path = ["_static"]
html_css_files = ["bayesift.css"]
# Pages without neighbours need no list of them.
html_sidebars = {name: [] for name in ("index", "tutorial", "design/house")}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_depth": 3,
    "header_links_before_dropdown": 8,
    # A button, not a field: the field would need a second line beside the links.
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def without_last_blank_lines(_app: Sphinx, doctree: nodes.document) -> None:
    """Take away the blank line that ends an example for the doctest run."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [nodes.Text(text)]


def made_by_scikit_learn(_app: Sphinx, _what: str, name: str, *_others: Any) -> bool | None:
    """Leave out the methods for the routing of metadata, which every estimator has."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect what the pages need."""
    app.connect("autodoc-skip-member", made_by_scikit_learn)
    app.connect("doctree-read", without_last_blank_lines)
    return {"parallel_read_safe": True}
