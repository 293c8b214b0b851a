"""Name the extra that brings an optional library when its import fails.

Only imports of libraries from this package and from builders are answered. Other packages look for the same libraries
to find out what they may use, and must find nothing where nothing is.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

from vttdata.errors import VttdataError

# Module -> name of the library and the extra that brings it.
LIBRARIES = {
    "PIL": ("Pillow", "build"),
    "av": ("PyAV", "build"),
    "ffmpeg": ("ffmpeg-python", "build"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "build"),
    "jinja2": ("Jinja2", "build"),
    "py3langid": ("py3langid", "build"),
    "python_calamine": ("python-calamine", "xlsx"),
    "pydantic": ("pydantic", "build"),
    "ray": ("Ray", "ray"),
    "safetensors": ("safetensors", "lm"),
    "scipy": ("SciPy", "assess"),
    "sklearn": ("scikit-learn", "assess"),
    "starlette": ("Starlette", "annotate"),
    "uvicorn": ("uvicorn", "annotate"),
    "snowballstemmer": ("snowballstemmer", "annotate"),
    "spacy": ("spaCy", "foil"),
    "tokenizers": ("tokenizers", "lm"),
    "torch": ("PyTorch", "lm"),
    "transformers": ("transformers", "lm"),
    "yt_dlp": ("yt-dlp", "build"),
}

# Code that needs the extra `foil`, which includes `build`: naming that one first would take two installations.
_FOIL_MODULES = (
    "vttdata.cli.foil",
    "vttdata.compose.foils",
    "vttdata.generate.foils",
    "vttdata.text.nouns",
    "vttdata_builder_foils",
)


def check_installed(what: str, extra: str, *modules: str) -> None:
    """Check that libraries are installed, so that a missing one is noticed before any work.

    Raises:
        MissingLibraryError: If one is missing; the message names what needs it and the extra that brings it.
    """
    missing = [LIBRARIES[name][0] for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingLibraryError(f"{what} need {' and '.join(missing)}: pip install 'vttdata[{extra}]'.")


class MissingLibraryError(VttdataError, ModuleNotFoundError):
    """Library that is not installed; the message names the extra that brings it."""


class MissingModules:
    """Finder that is asked last, so it costs nothing unless a module is missing."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG004
        """Return None, or raise an error for an optional library.

        Raises:
            MissingLibraryError: If this package imports an optional library that is not installed.
        """
        if name not in LIBRARIES:
            return None
        # Modules on the stack, the one that imports first; the import system itself is left out.
        importers = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            importers.append(frame.f_globals.get("__name__", ""))
            frame = frame.f_back
        importers = [module for module in importers if not module.startswith("importlib._bootstrap")]
        if not importers[0].startswith("vttdata"):
            return None
        library, extra = LIBRARIES[name]
        if extra != "lm" and any(module.startswith(_FOIL_MODULES) for module in importers):
            extra = "foil"
        raise MissingLibraryError(f"{library} is not installed: pip install 'vttdata[{extra}]'.", name=name)
