"""Describes a dataset folder in Croissant 1.1 (MLCommons), so that other tools than `datasets` know its tables.

Written as plain dictionaries in the shape that `mlcroissant` both validates and loads. The specification asks for a
licence and a day of publication; where nobody gave them they are left out, and none is made up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vttdata.dataset.card.rights import build_citation
from vttdata.dataset.columns import Column, columns_of
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.shards import SplitFiles

CROISSANT = "croissant.json"

_NO_CHECKSUM = "https://github.com/mlcommons/croissant/issues/80"  # what stands for that of a whole repository
_TYPES = {
    "string": "sc:Text",
    "strings": "sc:Text",
    "int64": "sc:Integer",
    "int64s": "sc:Integer",
    "classes": "sc:Integer",
    "float64": "sc:Float",
    "float64s": "sc:Float",
    "bool": "sc:Boolean",
}
_LISTS = frozenset({"strings", "int64s", "float64s", "classes"})
_SPLITS = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}
_TERMS = [
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
    *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
    *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
]
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
} | {term: f"cr:{term}" for term in _TERMS}

Json = dict[str, Any]
Tables = Mapping[str, Sequence[SplitFiles]]


def write_croissant(
    dataset: Path,
    about: Metadata,
    tables: Tables,
    *,
    categories: Sequence[str] = (),
    classes: Sequence[str] = (),
    limitations: Sequence[str] = (),
) -> None:
    """Write ``croissant.json``.

    Args:
        dataset: the folder.
        about: what the tables do not say.
        tables: configuration -> its splits.
        categories: the names of the category labels, in the order of their numbers.
        classes: those of the classes of concepts.
        limitations: what is known to be wrong with the dataset, a sentence each.
    """
    labels = {"categories": categories, "classes": classes}
    cite = "\n\n".join(text for text in (about.citation.strip(), build_citation(about, dataset)) if text)
    content = _described(about, tables, limitations) | {
        "citeAs": cite,
        "distribution": [_repository(about), *(node for config in tables for node in _files(config, tables[config]))],
        "recordSet": [
            _splits(tables),
            *(_labels(name, names) for name, names in labels.items() if names),
            *(_records(config, splits, labelled=bool(categories)) for config, splits in tables.items()),
        ],
    }
    (dataset / CROISSANT).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _described(about: Metadata, tables: Tables, limitations: Sequence[str]) -> Json:
    owner, _, name = about.name.partition("/")
    licences = list(dict.fromkeys(own for own in about.licences.values() if own is not None))
    steps = [
        f"{stage} ({unit}): {taken} in, {kept} kept" + (f"; {lost}" if lost else "")
        for stage, unit, taken, kept, lost in about.attrition
    ]
    content: Json = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": name,
        "description": about.description.strip() or "A video-to-text benchmark built with vttdata.",
        "url": _address(about),
        "version": about.version,
        "license": None if "unknown" in licences else licences[0] if len(licences) == 1 else licences,
        "datePublished": about.date,
        "creator": {"@type": "Organization", "name": owner, "url": f"https://huggingface.co/{owner}"},
        "inLanguage": about.language,
        "keywords": ["video captioning", "video-to-text", *tables],
        "isLiveDataset": False,
        "rai:dataCollection": about.collected,
        "rai:dataPreprocessingProtocol": steps,
        "rai:dataLimitations": list(limitations),
    }
    return {key: value for key, value in content.items() if value not in (None, "", [])}


def _address(about: Metadata) -> str:
    return f"https://huggingface.co/datasets/{about.name}"


def _repository(about: Metadata) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": "repo",
        "name": "repo",
        "description": "The repository of the dataset; manifest.json in it has the checksum of every file.",
        "contentUrl": f"{_address(about)}/tree/main",
        "encodingFormat": "git+https",
        "sha256": _NO_CHECKSUM,
    }


def _files(config: str, splits: Sequence[SplitFiles]) -> list[Json]:
    """The set of all files of a configuration, and each file with its checksum."""
    inside = {"containedIn": {"@id": "repo"}, "encodingFormat": "application/x-parquet"}
    whole = {"@type": "cr:FileSet", "@id": f"{config}-files", "includes": f"{config}/*.parquet"}
    return [whole | inside] + [
        {
            "@type": "cr:FileObject",
            "@id": shard.path,
            "name": shard.path,
            "contentUrl": shard.path,
            "contentSize": f"{shard.bytes} B",
            "sha256": shard.sha256,
        }
        | inside
        for own in splits
        for shard in own.shards
    ]


def _splits(tables: Tables) -> Json:
    names = dict.fromkeys(own.split for splits in tables.values() for own in splits)
    rows = [{"splits/name": name} | {"splits/url": _SPLITS.get(name, "cr:Split")} for name in names]
    return _inline("splits", "cr:Split", {"name": "sc:Text", "url": "sc:URL"}, rows)


def _labels(record_set: str, names: Sequence[str]) -> Json:
    rows = [{f"{record_set}/label": label, f"{record_set}/name": name} for label, name in enumerate(names)]
    return _inline(record_set, "sc:Enumeration", {"label": "sc:Integer", "name": "sc:Text"}, rows)


def _inline(name: str, kind: str, columns: Mapping[str, str], rows: Sequence[Json]) -> Json:
    fields = [{"@type": "cr:Field", "@id": f"{name}/{column}", "dataType": own} for column, own in columns.items()]
    key = {"@id": fields[0]["@id"]}
    return {"@type": "cr:RecordSet", "@id": name, "dataType": kind, "key": key, "field": fields, "data": list(rows)}


def _records(config: str, splits: Sequence[SplitFiles], *, labelled: bool) -> Json:
    # The reader applies the pattern to the path and then once more to what came out, so both must match.
    pattern = f"(?:{config}/)?({'|'.join(own.split for own in splits)})(?:-.+parquet)?$"
    split = {
        "@type": "cr:Field",
        "@id": f"{config}/split",
        "dataType": "sc:Text",
        "source": _from(config, fileProperty="fullpath") | {"transform": {"regex": pattern}},
        "references": {"field": {"@id": "splits/name"}},
    }
    fields = [_field(config, column, labelled=labelled) for column in columns_of(config)]
    return {"@type": "cr:RecordSet", "@id": config, "name": config, "field": [split, *fields]}


def _field(config: str, column: Column, *, labelled: bool) -> Json:
    field: Json = {"@type": "cr:Field", "@id": f"{config}/{column.name}", "description": column.meaning}
    if column.kind == "video":
        return field | {"subField": [_part(config, column.name, name) for name in ("bytes", "path")]}
    kind = ("sc:Integer" if labelled else "sc:Text") if column.kind == "category" else _TYPES[column.kind]
    shape = {"isArray": True, "arrayShape": "-1"} if column.kind in _LISTS else {}
    return field | {"dataType": kind} | shape | {"source": _from(config, column=column.name)}


def _part(config: str, column: str, name: str) -> Json:
    """One field of a column of structs."""
    return {
        "@type": "cr:Field",
        "@id": f"{config}/{column}/{name}",
        "dataType": {"bytes": "sc:VideoObject", "path": "sc:Text"}[name],
        "source": _from(config, column=column) | {"transform": {"jsonPath": name}},
    }


def _from(config: str, **extract: str) -> Json:
    return {"fileSet": {"@id": f"{config}-files"}, "extract": extract}
