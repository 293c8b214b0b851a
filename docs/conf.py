"""Settings of Sphinx for `make docs`: the manuals, and a reference of the names in each ``__all__``."""

from __future__ import annotations

import os
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
_MANUALS = ROOT / "docs" / "README.md"


def public_packages() -> list[str]:
    """Return the packages whose ``__init__.py`` says what is public."""
    files = sorted((ROOT / "vttdata").rglob("__init__.py"))
    return [".".join(file.parent.relative_to(ROOT).parts) for file in files if "\n__all__ =" in file.read_text("utf-8")]


def contents(text: str, folder: Path, caption: str = "Contents") -> str:
    """Return a table of contents of the pages that a text in a folder leads to."""
    pages = dict.fromkeys(os.path.normpath(folder / name) for name in _PAGE.findall(text))
    entries = "\n".join(f"/{Path(page).relative_to(ROOT).as_posix()}" for page in pages if Path(f"{page}.md").is_file())
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def add_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add the reference to its page, and tables of contents: of all manuals by section, and of the audits."""
    if page == "docs/api":
        # The function `vttdata.evaluate` has the name of its package, which has a section of its own.
        source[0] += "".join(
            f"\n## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n"
            f"{'   :exclude-members: evaluate' if name == 'vttdata' else ''}\n```\n"
            for name in public_packages()
        )
    elif page == "README":
        source[0] += contents("[](docs/README.md)", ROOT)
        for section in _MANUALS.read_text(encoding="utf-8").split("\n## ")[1:]:
            title, _, text = section.partition("\n")
            source[0] += contents(text, _MANUALS.parent, title)
    elif page == "docs/audits":
        source[0] += contents(source[0], ROOT / "docs")


def setup(app: Sphinx) -> None:
    """Register what is added to pages, and a lexer that Pygments lacks."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", add_contents)
