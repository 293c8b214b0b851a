"""Settings of Sphinx for `make docs`: the manuals, and a reference of the names in each ``__all__``."""

from __future__ import annotations

import re
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from vttdata.version import __version__

ROOT = Path(__file__).resolve().parents[1]

project = "vttdata"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/RESULTS.md", "docs/**.md"]
myst_heading_anchors = 4
highlight_language = "text"
html_theme = "furo"
html_title = f"vttdata {release}"
html_copy_source = False

# Docstrings have Google's sections, a section for the fields of a record, and single backticks around code.
default_role = "code"
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Fields", "params_style")]
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 100

_PAGE = re.compile(r"\]\(([\w/.-]+)\.md[)#]")


def public_packages() -> list[str]:
    """Return the packages whose ``__init__.py`` says what is public."""
    files = sorted((ROOT / "vttdata").rglob("__init__.py"))
    return [".".join(file.parent.relative_to(ROOT).parts) for file in files if "\n__all__ =" in file.read_text("utf-8")]


def add_contents(_: Sphinx, page: str, source: list[str]) -> None:
    """Add the reference to its page, and to others a table of contents of the pages that they lead to."""
    if page == "docs/api":
        entries = "".join(
            f"\n## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```\n" for name in public_packages()
        )
        source[0] += entries
    elif page in ("README", "docs/audits"):
        pages = dict.fromkeys(_PAGE.findall(source[0]))
        entries = "\n".join(name for name in pages if (ROOT / page).parent.joinpath(f"{name}.md").is_file())
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def setup(app: Sphinx) -> None:
    """Register what is added to pages, and a lexer that Pygments lacks."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", add_contents)
