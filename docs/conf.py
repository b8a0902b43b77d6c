"""Configuration of the documentation."""

from bayesift import __version__

project = "Bayesift"
copyright = "2026, the Bayesift developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
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

html_theme = "pydata_sphinx_theme"
html_title = "Bayesift"
html_theme_options = {"show_prev_next": False}
