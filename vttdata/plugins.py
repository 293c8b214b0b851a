"""Discover builders, recipes, filters, export formats, metrics, tasks and executors in their folders; import them.

Users add their own in a folder that the environment variable ``VTTDATA_PLUGINS`` names, with one subfolder for each
kind. What a module of some kind must define is for the subpackage that loads it to check.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from vttdata.errors import VttdataError, list_choices

T = TypeVar("T")

PLUGINS_VARIABLE = "VTTDATA_PLUGINS"
_PACKAGE = Path(__file__).resolve().parent


def plugin_folder(kind: str) -> Path | None:
    """Return the user's folder for plugins of a kind, such as ``builders``; None without one.

    Raises:
        VttdataError: when ``VTTDATA_PLUGINS`` is set to something that is not a folder.
    """
    root = os.environ.get(PLUGINS_VARIABLE)
    if not root:
        return None
    if not Path(root).is_dir():
        raise VttdataError(f"{PLUGINS_VARIABLE}: '{root}' is not an existing folder.")
    folder = Path(root).resolve() / kind
    return folder if folder.is_dir() else None


def discover(package_folder: Path | None, kind: str, extension: str = ".py") -> dict[str, Path]:
    """Return the files of a kind by their names without extension: packaged ones, then the user's, each sorted.

    Files whose name does not start with a lower-case letter, such as ``_base.py``, are left out. The kind, such as
    ``builders``, names the subfolder in the user's folder of plugins.

    Raises:
        VttdataError: when a user's file has the name of a packaged one.
    """
    files: dict[str, Path] = {}
    for folder in (package_folder, plugin_folder(kind)):
        for path in sorted(folder.glob(f"[a-z]*{extension}"), key=lambda path: path.stem) if folder is not None else ():
            if path.stem in files:
                raise VttdataError(f"{path}: '{path.stem}' in {kind} is already packaged; rename the file.")
            files[path.stem] = path
    return files


@dataclass(frozen=True, slots=True)
class PluginKind:
    """Kind of module that is listed without being imported, and named after its file, with ``-`` for ``_``.

    Packaged ones are in `package_folder`, the user's in the subfolder `folder` of the folder of plugins. `noun`,
    singular, is for messages.
    """

    package_folder: Path
    folder: str
    noun: str

    def files(self) -> dict[str, Path]:
        """Return the files by name, those of the package first.

        Raises:
            VttdataError: when a plugin has the name of another module, or the folder of plugins does not exist.
        """
        return {stem.replace("_", "-"): path for stem, path in discover(self.package_folder, self.folder).items()}

    def descriptions(self) -> dict[str, str]:
        """Return the first line of each docstring, or the error of a module that is not valid Python, by name."""
        return {name: describe_module(path) for name, path in self.files().items()}

    def load_definition(self, name: str, variable: str, expected: type[T]) -> T:
        """Import a module, and return what it defines.

        Raises:
            VttdataError: when there is no such module, it cannot be imported, or its variable is of another type.
        """
        files = self.files()
        if name not in files:
            raise VttdataError(f"Unknown {self.noun} {name!a}; choose from {list_choices(name, files)}.")
        value = getattr(load_module(files[name], self.noun), variable, None)
        if not isinstance(value, expected):
            article = "an" if self.noun[0] in "aeiou" else "a"
            type_name = f"{expected.__module__}.{expected.__qualname__}"
            raise VttdataError(f"{files[name]}:1: {article} {self.noun} must define {variable} as a {type_name}.")
        return value


def describe_module(path: Path) -> str:
    """Return the first line of a file's docstring, or its error if it is not valid Python; import nothing."""
    try:
        docstring = ast.get_docstring(ast.parse(path.read_bytes(), str(path)))
    except (SyntaxError, ValueError) as error:
        return f"cannot be used: {path}:{getattr(error, 'lineno', None) or 1}: {getattr(error, 'msg', error)}"
    return (docstring or "no description").splitlines()[0].rstrip(".")


def load_module(path: Path, kind: str) -> ModuleType:
    """Import a module from its file; `kind`, such as ``builder``, is part of messages and of the module's name.

    A file of the `vttdata` package is imported under its dotted name. Any other one is executed each time, and stands
    in `sys.modules` under a name that hides no other module.

    Raises:
        VttdataError: when the file is missing or anything is raised while it is executed; names file and line.
    """
    path = path.resolve()
    # Folders with a leading underscore hold builders and recipes in an installed wheel, and are no packages.
    if path.is_relative_to(_PACKAGE) and not path.parent.name.startswith("_"):
        return importlib.import_module(".".join(["vttdata", *path.relative_to(_PACKAGE).with_suffix("").parts]))
    name = f"vttdata_{kind.replace(' ', '_')}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise VttdataError(f"{path}: a {kind} must be a file that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except VttdataError:
        # A builder imports filters, whose errors already name their own file and line.
        sys.modules.pop(name, None)
        raise
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        # The innermost line of the file itself; a syntax error has no frame of its file in the traceback.
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        location = f"{path}:{lines[-1]}" if lines else str(path)
        if isinstance(error, SyntaxError):
            location, error = f"{error.filename}:{error.lineno}", type(error)(error.msg)
        message = " ".join(str(error).split())
        raise VttdataError(f"{location}: cannot be loaded as a {kind} ({type(error).__name__}: {message}).") from error
    return module
