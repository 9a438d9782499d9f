"""Configures the documentation site: Sphinx reads the Markdown pages of this folder and the package's docstrings.

`make docs` builds it once in every language of LANGUAGES; English lies at the top, the others in folders of their own.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import dmlcore

project = "dmlcore"
author = "The dmlcore developers"
copyright = "the dmlcore developers, MIT licence"
version = release = dmlcore.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "pages",  # _extensions/pages.py
    "chinese",  # _extensions/chinese.py
]
exclude_patterns = ["_build", "_templates", "_extensions", "locales"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["epub.unknown_project_files"]

# Markdown -------------------------------------------------------------------------------------------------------------

myst_heading_anchors = 4
# Blocks without a language show output, pseudocode and rules, none of which Pygments knows.
highlight_language = "none"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Docstrings -----------------------------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # they stand in the docstrings, in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Languages ------------------------------------------------------------------------------------------------------------

LANGUAGES = {"en": "English", "es": "Español", "pt_BR": "Português (Brasil)", "zh_TW": "繁體中文"}
language = "en"
locale_dirs = ["locales"]
gettext_compact = True  # one catalogue for all operator pages, whose sentences are often the same
gettext_location = False
gettext_uuid = False

# HTML -----------------------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "dmlcore"
html_static_path = ["_static"]
html_css_files = ["dmlcore.css"]
html_favicon = "_static/icon.svg"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto", "languages": LANGUAGES}
html_sidebars = {"index": [], "tutorial": []}
html_theme_options = {
    "logo": {"text": "dmlcore", "image_light": "_static/icon.svg", "image_dark": "_static/icon.svg", "alt_text": ""},
    "header_links_before_dropdown": 6,
    "navbar_end": ["language-switch", "theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["disclaimer"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
