"""Configuration of the documentation. Nothing in it needs the network, neither to build the pages nor to read them."""

from bayesift import __version__

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
# Made by scikit-learn for every estimator.
autodoc_default_options = {
    "exclude-members": ",".join(
        f"set_{name}_request" for name in ("fit", "partial_fit", "predict", "score", "transform")
    )
}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("bayesift",),
    "reference_url": {"bayesift": None},
    "backreferences_dir": "auto_gallery/backreferences",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "Bayesift"
html_static_path = ["_static"]
html_css_files = ["bayesift.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_depth": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
}
