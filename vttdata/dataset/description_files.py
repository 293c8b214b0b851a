"""Write the files that describe a dataset of any kind: README, manifest, and Croissant 1.1 (MLCommons) for other tools.

The Croissant description consists of plain dictionaries in the shape that `mlcroissant` validates and loads. The
specification requires a licence and a date of publication; without them both are left out instead of made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from vttdata.dataset.card.card import format_card, list_limitations
from vttdata.dataset.card.foils import format_foil_card, list_blind_results
from vttdata.dataset.card.sections import Tables, build_citation
from vttdata.dataset.facts import DatasetFacts
from vttdata.dataset.front_matter import format_front_matter
from vttdata.dataset.leak_audit import audit_all
from vttdata.dataset.licences import find_licence_address
from vttdata.dataset.manifest import MANIFEST, write_manifest
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.rows import columns_of
from vttdata.dataset.schema import Column, LabelNames, Role
from vttdata.dataset.shards import SplitFiles
from vttdata.dataset.statistics import Statistics, count_files
from vttdata.files.output_file import write_whole
from vttdata.files.reading import file_sha256
from vttdata.json_types import JsonObject
from vttdata.split import Audit

CROISSANT = "croissant.json"

# The usual value for a whole repository, which has no checksum.
_NO_CHECKSUM = "https://github.com/mlcommons/croissant/issues/80"
_TYPES = {
    "string": "sc:Text",
    "int64": "sc:Integer",
    "class label": "sc:Integer",
    "float64": "sc:Float",
    "bool": "sc:Boolean",
}
_SPLITS = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}
_TERMS = [
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
    *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
    *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
]
_CONTEXT: JsonObject = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
} | {term: f"cr:{term}" for term in _TERMS}


RESPONSIBLE: Mapping[str, str] = {
    "rai:dataLimitations": "responsible.limitations",
    "rai:dataBiases": "responsible.biases",
    "rai:personalSensitiveInformation": "responsible.sensitive",
    "rai:dataUseCases": "responsible.uses",
    "rai:dataSocialImpact": "responsible.social_impact",
    "rai:hasSyntheticData": "responsible.synthetic",
    "prov:wasDerivedFrom": "responsible.derived_from",
    "prov:wasGeneratedBy": "",
    "license": "licence",
    "datePublished": "date",
}
"""Property that venues ask for in a Croissant description -> key of the recipe that states it, if one does."""


def write_description(
    dataset: Path,
    facts: DatasetFacts,
    tables: Tables,
    *,
    statistics: Statistics | None = None,
    audits: Mapping[str, Audit] | None = None,
    labels: LabelNames = MappingProxyType({}),
    known_files: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> None:
    """Describe a dataset folder whose tables and other files are complete, in the place of an earlier description.

    All that is written follows from the folder and these facts, which the manifest stores.

    Args:
        dataset: Folder.
        facts: What the tables do not hold.
        tables: Configuration -> its splits, the default one first.
        statistics: Those of the tables, if they are known already.
        audits: Those of the splits and of each protocol, if they are known already.
        labels: Names of the categories and of the classes of concepts.
        known_files: Manifest entries of files that need not be read again.
    """
    metadata = facts.metadata
    if facts.foils is not None:
        body = format_foil_card(facts, facts.foils, tables, dataset)
        limitations = list_blind_results(tables, dataset)
    else:
        paths = {
            config: {split.split: [dataset / shard.path for shard in split.shards] for split in splits}
            for config, splits in tables.items()
        }
        if statistics is None:
            statistics = count_files(paths, labels.get(Role.CATEGORY, ()), labels.get(Role.CLASS, ()))
        if audits is None:
            audits = audit_all(paths) if facts.audited else {}
        body = format_card(facts, statistics, audits, tables, dataset)
        limitations = list_limitations(metadata, statistics, audits, tables, dataset)
    croissant = _describe_dataset(dataset, metadata, tables, limitations)
    croissant |= describe_tables(metadata.name, tables, labels)
    write_whole(dataset / "README.md", f"{format_front_matter(tables, labels, metadata)}\n{body}")
    write_whole(dataset / CROISSANT, json.dumps(croissant, indent=1, ensure_ascii=False) + "\n")
    files = {
        shard.path: {"sha256": shard.sha256, "bytes": shard.bytes, "rows": shard.rows}
        for splits in tables.values()
        for split in splits
        for shard in split.shards
    } | dict(known_files)
    for path in dataset.rglob("*"):
        name = path.relative_to(dataset).as_posix()
        if path.is_file() and name not in files and name != MANIFEST:
            files[name] = {"sha256": file_sha256(path), "bytes": path.stat().st_size}
    write_manifest(dataset, name=metadata.name, version=metadata.version, files=files, facts=facts.as_json())


def _describe_dataset(dataset: Path, metadata: Metadata, tables: Tables, limitations: Sequence[str]) -> JsonObject:
    """Return what a Croissant description says of a dataset as a whole."""
    owner, _, name = metadata.name.partition("/")
    named = dict.fromkeys(licence for licence in metadata.licences.values() if licence is not None)
    licences = [find_licence_address(licence) or licence for licence in named]
    steps = [
        f"{stage} ({unit}): {taken} in, {kept} kept" + (f"; {losses}" if losses else "")
        for stage, unit, taken, kept, losses in metadata.attrition
    ]
    content: JsonObject = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": name,
        "description": metadata.description.strip() or "A video-to-text benchmark built with vttdata.",
        "url": f"https://huggingface.co/datasets/{metadata.name}",
        "version": metadata.version,
        "license": None if "unknown" in licences else licences[0] if len(licences) == 1 else licences,
        "datePublished": metadata.date,
        "creator": {"@type": "Organization", "name": owner, "url": f"https://huggingface.co/{owner}"},
        "inLanguage": metadata.languages[0] if len(metadata.languages) == 1 else metadata.languages,
        "keywords": ["video captioning", "video-to-text", *tables],
        "isLiveDataset": False,
        "rai:dataCollection": metadata.collected,
        "rai:dataPreprocessingProtocol": steps,
        "rai:dataLimitations": [*limitations, *filter(None, [metadata.responsible.limitations])],
        **_describe_responsibly(dataset, metadata, tables),
        "citeAs": "\n\n".join(filter(None, (metadata.citation.strip(), build_citation(metadata, dataset)))),
    }
    return {key: value for key, value in content.items() if value not in (None, "", [])}


def _describe_responsibly(dataset: Path, metadata: Metadata, tables: Tables) -> JsonObject:
    """Return what makers say of a dataset, and by what it was made from which inputs, in the terms of PROV-O."""
    stated = metadata.responsible
    inputs = [{"@id": f"urn:sha256:{sha256}", "prov:label": name} for name, sha256 in sorted(metadata.inputs.items())]
    named = [{"@id": name} if "://" in name else {"prov:label": name} for name in stated.derived_from]
    agent = {"@type": "prov:SoftwareAgent", "prov:label": f"vttdata {metadata.tools.get('vttdata', '')}".strip()}
    activities = [
        {
            "@type": "prov:Activity",
            "prov:label": stage,
            "description": f"{taken} {unit} in, {kept} kept" + (f"; {losses}" if losses else ""),
            "prov:wasAssociatedWith": agent,
        }
        for stage, unit, taken, kept, losses in metadata.attrition
    ]
    found = _find_synthetic(dataset, tables)
    return {
        "rai:dataBiases": stated.biases,
        "rai:personalSensitiveInformation": stated.sensitive,
        "rai:dataUseCases": stated.uses,
        "rai:dataSocialImpact": stated.social_impact,
        "rai:hasSyntheticData": stated.synthetic if found is None or stated.synthetic else found,
        "prov:wasDerivedFrom": [*named, *inputs],
        "prov:wasGeneratedBy": activities,
    }


def _find_synthetic(dataset: Path, tables: Tables) -> bool | None:
    """Return whether the tables say that videos or texts were made by a program; None where they leave it open."""
    if not {"foils", "degraded"}.isdisjoint(tables):
        return True
    paths = {
        config: [dataset / shard.path for split in tables.get(config, ()) for shard in split.shards]
        for config in ("captions", "sources")
    }
    authors = (row.get("author") for row in read_parquet_rows(paths["captions"], (), optional=("author",)))
    if any(author not in (None, "human") for author in authors):
        return True
    stated = {row.get("synthetic") for row in read_parquet_rows(paths["sources"], (), optional=("synthetic",))}
    return True if True in stated else False if stated == {False} else None


def describe_tables(name: str, tables: Tables, labels: LabelNames) -> JsonObject:
    """Return the files and the record sets of a dataset of this name."""
    splits = list(dict.fromkeys(split.split for of_config in tables.values() for split in of_config))
    urls = [_SPLITS.get(split, "cr:Split") for split in splits]
    repository = {
        "@type": "cr:FileObject",
        "@id": "repo",
        "name": "repo",
        "description": "The repository of the dataset; manifest.json in it has the checksum of every file.",
        "contentUrl": f"https://huggingface.co/datasets/{name}/tree/main",
        "encodingFormat": "git+https",
        "sha256": _NO_CHECKSUM,
    }
    label_sets = [
        _inline_records(
            role.value, "sc:Enumeration", {"label": ("sc:Integer", range(len(names))), "name": ("sc:Text", names)}
        )
        for role, names in labels.items()
        if names
    ]
    return {
        "distribution": [repository, *(node for config in tables for node in _files(config, tables[config]))],
        "recordSet": [
            _inline_records("splits", "cr:Split", {"name": ("sc:Text", splits), "url": ("sc:URL", urls)}),
            *label_sets,
            *(_records(config, tables[config], labels) for config in tables),
        ],
    }


def _files(config: str, splits: Sequence[SplitFiles]) -> list[JsonObject]:
    """Return the set of all files of a configuration, and each file with its checksum."""
    common = {"containedIn": {"@id": "repo"}, "encodingFormat": "application/x-parquet"}
    file_set = {"@type": "cr:FileSet", "@id": f"{config}-files", "includes": f"{config}/*.parquet"}
    return [file_set | common] + [
        {
            "@type": "cr:FileObject",
            "@id": shard.path,
            "name": shard.path,
            "contentUrl": shard.path,
            "contentSize": f"{shard.bytes} B",
            "sha256": shard.sha256,
        }
        | common
        for split in splits
        for shard in split.shards
    ]


def _inline_records(name: str, data_type: str, columns: Mapping[str, tuple[str, Iterable[object]]]) -> JsonObject:
    """Return a record set with its rows, from column -> type and values; the first column is the key."""
    ids = [f"{name}/{column}" for column in columns]
    types, values = zip(*columns.values(), strict=True)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "dataType": data_type,
        "key": {"@id": ids[0]},
        "field": [
            {"@type": "cr:Field", "@id": field, "dataType": field_type}
            for field, field_type in zip(ids, types, strict=True)
        ],
        "data": [dict(zip(ids, row, strict=True)) for row in zip(*values, strict=True)],
    }


def _records(config: str, splits: Sequence[SplitFiles], labels: LabelNames) -> JsonObject:
    # mlcroissant applies the pattern to the path and then again to the result, so both must match.
    pattern = f"(?:{config}/)?({'|'.join(split.split for split in splits)})(?:-.+parquet)?$"
    split_field = {
        "@type": "cr:Field",
        "@id": f"{config}/split",
        "dataType": "sc:Text",
        "source": _source(config, fileProperty="fullpath") | {"transform": {"regex": pattern}},
        "references": {"field": {"@id": "splits/name"}},
    }
    fields = [_field(config, column) for column in columns_of(config, labels)]
    return {"@type": "cr:RecordSet", "@id": config, "name": config, "field": [split_field, *fields]}


def _field(config: str, column: Column) -> JsonObject:
    field: JsonObject = {"@type": "cr:Field", "@id": f"{config}/{column.name}", "description": column.meaning}
    source = _source(config, column=column.name)
    if column.is_file:
        subfields = [
            {
                "@type": "cr:Field",
                "@id": f"{config}/{column.name}/{name}",
                "dataType": data_type,
                "source": source | {"transform": {"jsonPath": name}},
            }
            for name, data_type in (("bytes", "sc:VideoObject"), ("path", "sc:Text"))
        ]
        return field | {"subField": subfields}
    shape = {"isArray": True, "arrayShape": "-1"} if column.is_list else {}
    return field | {"dataType": _TYPES[column.dtype]} | shape | {"source": source}


def _source(config: str, **extract: str) -> JsonObject:
    return {"fileSet": {"@id": f"{config}-files"}, "extract": extract}
