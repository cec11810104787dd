"""How the site is built: ``sphinx-build -W docs docs/_build/html``.

Nothing is fetched, neither while building nor while reading: mathematics becomes MathML, pictures
are files of this folder, notebooks are shown with the outputs they were stored with.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import radcluster  # noqa: E402

project = "radcluster"
author = "the radcluster developers"
project_copyright = author
version = release = radcluster.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",
    "registers",
]
exclude_patterns = ["_build", "_ext"]
html_theme = "furo"
html_title = f"radcluster {release}"
html_static_path = ["_static"]
html_css_files = ["radcluster.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
python_use_unqualified_type_names = True


def bring_notebooks(app):
    """Copy the notebooks beside the pages, where Sphinx looks for them."""
    target = HERE / "notebooks"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for path in (HERE.parent / "notebooks").glob("[0-9]*.ipynb"):
        shutil.copy(path, target)
    shutil.copy(HERE.parent / "notebooks" / "README.md", target / "index.md")


def setup(app):
    app.connect("config-inited", lambda app, config: bring_notebooks(app))
