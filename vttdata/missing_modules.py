"""Errors for imports of what is not there: where a former module is now, or which extra brings a library.

Only imports of libraries from this package and from builders are answered. Other packages look for the same libraries
to find out what they may use, and must find nothing where nothing is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

from vttdata.errors import VttdataError

_LOAD_BUILDER = "vttdata.recipe.packaged.load_builder('{}')"

MOVED = {
    "vttdata.annotations.READERS": _LOAD_BUILDER.format("msrvtt"),
    "vttdata.annotations.activitynet": _LOAD_BUILDER.format("activitynet_captions"),
    "vttdata.annotations.alignment": "vttdata.annotations.trecvid.id_offsets",
    "vttdata.annotations.concepts": "vttdata.annotations.activitynet_entities",
    "vttdata.annotations.contents": "vttdata.annotations.model",
    "vttdata.annotations.msrvtt": _LOAD_BUILDER.format("msrvtt"),
    "vttdata.annotations.msvd": _LOAD_BUILDER.format("msvd"),
    "vttdata.annotations.read_activitynet": _LOAD_BUILDER.format("activitynet_captions"),
    "vttdata.annotations.read_msrvtt": _LOAD_BUILDER.format("msrvtt"),
    "vttdata.annotations.read_msvd": _LOAD_BUILDER.format("msvd"),
    "vttdata.annotations.read_trecvid": _LOAD_BUILDER.format("trecvid_vtt"),
    "vttdata.annotations.trecvid.read_trecvid": _LOAD_BUILDER.format("trecvid_vtt"),
    "vttdata.assess.accuracy": "vttdata.generate.foils.blind.accuracy",
    "vttdata.assess.hits_files": "vttdata.assess.hits.write",
    "vttdata.assess.needs": "vttdata.generate.foils",
    "vttdata.assess.page": "vttdata.annotate.da_page",
    "vttdata.assess.shortcuts": "vttdata.generate.foils.blind.shortcuts",
    "vttdata.collect.manifest": "vttdata.collect.video_list",
    "vttdata.evaluate.meta.compare": "vttdata.evaluate.meta.two_evaluations",
    "vttdata.export.FORMATS": "vttdata.export.export_formats",
    "vttdata.generate.corpus": "vttdata.generate.foils.video_texts",
    "vttdata.generate.foils.FoilSettings": "vttdata.generate.foils.search.FoilSettings",
    "vttdata.generate.verdicts": "vttdata.generate.foils.human_verdicts",
    "vttdata.judgments": "vttdata.records",
    "vttdata.listing": "vttdata.load.catalog",
    "vttdata.lists": "vttdata.files.id_lists",
    "vttdata.loading": "vttdata.load.lookup",
    "vttdata.media.clips": "vttdata.media.clip_selection",
    "vttdata.media.ffmpeg": "vttdata.media.ffmpeg_program",
    "vttdata.media.filter": "vttdata.media.filters",
    "vttdata.media.shots.ShotSettings": "vttdata.media.shots.detect.ShotSettings",
    "vttdata.packaged": "vttdata.recipe.packaged",
    "vttdata.pipeline.build": "vttdata.pipeline.build_folder",
    "vttdata.process": "vttdata.subprocesses",
    "vttdata.publish.About": "vttdata.dataset.Metadata",
    "vttdata.publish.Given": "vttdata.dataset.OfficialLayout",
    "vttdata.publish.about": "vttdata.dataset.metadata",
    "vttdata.publish.changes": "vttdata.publish.diff",
    "vttdata.publish.difference": "vttdata.publish.diff",
    "vttdata.publish.foils": "vttdata.dataset.foils.write",
    "vttdata.publish.media": "vttdata.dataset.videos",
    "vttdata.publish.package": "vttdata.compose.package",
    "vttdata.publish.provenance": "vttdata.dataset.provenance",
    "vttdata.publish.rebuild": "vttdata.compose.rebuild",
    "vttdata.publish.rows": "vttdata.dataset.rows",
    "vttdata.recipe.dump": "vttdata.recipe.published",
    "vttdata.record_schemas": "vttdata.records",
    "vttdata.recipe.paths": "vttdata.recipe.load",
    "vttdata.recipe_paths": "vttdata.recipe.load",
    "vttdata.recipe_text": "vttdata.recipe.published",
    "vttdata.recipe_yaml": "vttdata.files.strict_yaml",
    "vttdata.schema": "vttdata.records",
    "vttdata.split.resemblance": "vttdata.split.near_duplicates.matches",
    "vttdata.tables": "vttdata.files.tables",
    "vttdata.text.concepts": "vttdata.text.nouns.mentions",
    "vttdata.text.lexicon": "vttdata.text.nouns.lexicon",
    "vttdata.text.matching": "vttdata.text.clip_matching",
}

# Module -> name of the library and the extra that brings it.
LIBRARIES = {
    "PIL": ("Pillow", "build"),
    "av": ("PyAV", "build"),
    "ffmpeg": ("ffmpeg-python", "build"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "build"),
    "jinja2": ("Jinja2", "build"),
    "py3langid": ("py3langid", "build"),
    "pydantic": ("pydantic", "build"),
    "ray": ("Ray", "ray"),
    "sacrebleu": ("sacrebleu", "metrics"),
    "safetensors": ("safetensors", "lm"),
    "scipy": ("SciPy", "assess"),
    "sklearn": ("scikit-learn", "foil"),
    "sqlalchemy": ("SQLAlchemy", "annotate"),
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
    "vttdata.evaluate.baseline",
    "vttdata.generate.foils",
    "vttdata.text.nouns",
    "vttdata_builder_foils",
)


class MissingLibraryError(VttdataError, ModuleNotFoundError):
    """Library that is not installed; the message names the extra that brings it."""


class MissingModules:
    """Finder that is asked last, so it costs nothing unless a module is missing."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG004
        """Raise an error for a former import path, and for an optional library; return None for any other module.

        A name imported from a package is looked for as a module too, so names can be among the former paths.

        Raises:
            ModuleNotFoundError: for a former path; without its field `name`, with which the import system would replace
                it by one of its own.
            MissingLibraryError: for an import of an optional library by this package.
        """
        if name in MOVED:
            raise ModuleNotFoundError(f"No module named '{name}': it is in {MOVED[name]}")
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
