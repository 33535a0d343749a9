"""Configuration of Sphinx for the site of the documents: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "lengthgen"
author = "the lengthgen authors"
copyright = "the lengthgen authors, Apache-2.0"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "tools.documents",
]
html_theme = "furo"
html_title = "lengthgen"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

default_role = "literal"
suppress_warnings = ["ref.python"]  # docstrings name errors of their own module, and others may have the same name
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_ivar = True

nb_execution_mode = "off"  # notebooks are stored with their outputs, and a test runs them
exclude_patterns = ["**/__pycache__"]
nb_merge_streams = True
