"""Write an audit of a benchmark as a page: what was found, what it means for a published number, and what to do.

The figures are those of `vttdata.dataset.leak_audit`, of the findings in the official files, and of blind attackers on
sets of foils. Computed here are only how many clips have a sibling, a clip of the same source, in their own split, and
which clips are left where those that splits share are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from vttdata.annotations import MEANINGS
from vttdata.compose.question_audit import AttackedQuestions
from vttdata.dataset.leak_audit import AuditedClips
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.files.results import ResultTable, Section, escape_markdown, format_markdown
from vttdata.generate.blind.shortcuts import Attack, attack_section
from vttdata.recipe import packaged
from vttdata.split import Audit
from vttdata.split.audit.caption_sets import find_caption_sets
from vttdata.split.audit.clip_table import ClipTable

# Finding in official files -> what it means for a score, and what to do.
CONSEQUENCES = {
    "end_before_start": "Such a segment has no frame: a system cannot describe it, and no predicted span overlaps with "
    "it. Report how many of the scored items are concerned.",
    "end_after_duration": "Frames after the end of the video are made up by each reader of it in its own way. Cut "
    "the segment at the end of the video, and say so.",
    "duplicate_caption": "A repeated reference adds nothing, and for retrieval the same query counts twice. Scores by "
    "several references are comparable only with the same repetitions.",
    "no_paragraph": "The number of videos in the split lists is larger than the number that can be scored.",
    "differing_url": "A download by the stated address gets another video than the annotations are about.",
    "wrapped_id": "A judgment counts from the other end of the list: with the id taken as a line, it is about another "
    "caption.",
    "shifted_ids": "Ids lead to other lines than in the published files: correlations of metrics with these judgments "
    "that take the id as the line are those of other captions.",
    "video_of_several_years": "Training on one year and testing on another sees these videos twice; leave them out.",
    "several_splits": "A clip in two splits is trained on and tested; leave it out of one.",
}


def clean_protocol(clips: AuditedClips, dataset: str, version: str | None = None) -> Protocol:
    """Return the clips of each split that share no source, near-duplicate of one or set of captions with another split.

    A split whose name begins with ``train`` stays whole, since it is the others that are tested. The protocol is of a
    version of a dataset.
    """
    table = clips.table
    splits_of_sources = table.splits_of_sources()
    feeds = splits_of_sources.copy()
    for pair in clips.near.pairs if clips.near is not None else ():
        a, b = table.find_sources([pair.source_a, pair.source_b])
        feeds[a] |= splits_of_sources[b]
        feeds[b] |= splits_of_sources[a]
    is_shared = (feeds.sum(axis=1) > 1)[table.source] | find_caption_sets(table, clips.captions, 0).has_partner
    kept: dict[str, list[str]] = {}
    for number, name in enumerate(table.split_names):
        rows = np.flatnonzero((table.split == number) & (~is_shared | name.startswith("train")))
        kept[name] = list(dict.fromkeys(table.video_id.take(pa.array(rows)).to_pylist()))
    about = {
        "description": "Clips that share no video, near-duplicate or captions with another split; train is whole.",
        "dataset": dataset,
        **({"version": version} if version is not None else {}),
    }
    return Protocol("leak-free", {split: ids for split, ids in kept.items() if ids}, about)


def clip_sections(
    clips: AuditedClips,
    audit: Audit,
    protocol: Protocol,
    *,
    official: Path | None,
    questions: Mapping[str, AttackedQuestions],
) -> list[Section]:
    """Return what a page says of clips in splits, from their audit, `clean_protocol` and attacked questions by kind.

    Where the splits are the official ones, `official` is the folder of the dataset: the findings in official files come
    from the build that it lies in. Questions come first, and splits follow them only where several have clips.
    """
    found = [_official_findings(official), *_alignment(official)] if official is not None else []
    if questions and len(audit.filled) < 2:
        return [*_question_sections(questions), *found]
    counts = ", ".join(f"{split} {len(ids):,}" for split, ids in protocol.splits.items())
    contents, shared = audit.overview()
    return [
        *_question_sections(questions),
        contents,
        replace(shared, sentences=[shared.sentences[0], *_leak_meanings(audit)]),
        _inside_splits(clips.table, shared.sentences[1:]),
        *found,
        Section(
            "A protocol without leaks",
            [
                f"`leak-free` {'is the division as it is' if audit.ok else 'leaves out what the splits share'}: "
                f"{counts} clips, digest `{protocol.digest}`. `--clean DIR` writes it as `DIR/protocol.json` "
                "(`docs/protocols.md`)."
            ],
        ),
    ]


def foil_sections(
    attacks: Mapping[str, Sequence[Attack]], same_texts: Mapping[str, int], questions: Mapping[str, AttackedQuestions]
) -> list[Section]:
    """Return what a page says of a set of foils, from the results of the blind attackers by configuration.

    `same_texts` counts the pairs by configuration that were left out because their texts are the same, and `questions`
    are those of the set by kind.
    """
    meaning = (
        "What an attacker reaches without the video is the floor of the set, not 0.5: a score says something of seeing "
        "only as far as it is above the interval of the ensemble. State both, and compare systems by their difference."
    )
    return [
        *(
            attack_section(results, same_texts.get(config, 0), title=f"Blind attackers on `{config}`", key=config)
            for config, results in attacks.items()
        ),
        Section("For a score on pairs", [meaning]),
        *_question_sections(questions),
    ]


def format_audit_page(folder: Path, command: str, sections: Iterable[Section], verdicts: Iterable[str] = ()) -> str:
    """Return the page in Markdown of a dataset, or of a table of pairs, which says that `command` makes it.

    The verdicts stand at its top.
    """
    name, version = folder.stem, ""
    if (folder / "manifest.json").is_file():
        manifest = read_dataset_manifest(folder)
        name, version = str(manifest.get("name")), f" {manifest.get('version')}"
    recipe = packaged.datasets_of_recipes().get(name)
    commands = [*([f"{packaged.build_command(recipe)} --out {recipe}"] if recipe else []), command]
    listed = "".join(f"$ {line}\n" for line in commands)
    head = (
        f"# Audit of {escape_markdown(name)}{version}\n\n```console\n{listed}```\n\nThe same files give the same page."
    )
    return "\n\n".join([head, *(f"**{verdict}**" for verdict in verdicts), format_markdown(sections)])


def _question_sections(questions: Mapping[str, AttackedQuestions]) -> list[Section]:
    """Return a section for each kind of question, and what they mean for a score; nothing without questions."""
    floor = (
        "What all attackers reach without the video is the floor of a kind, not guessing: a published accuracy says "
        "something of seeing only as far as it is above their interval. `vttdata evaluate` gives the gain over "
        "them."
    )
    sections = [attacked.section() for attacked in questions.values()]
    return [*sections, Section("For a score on questions", [floor])] if sections else []


def _leak_meanings(audit: Audit) -> list[str]:
    sentences = []
    if audit.leaks["source"]["sources"]:
        sentences.append(
            "Sources that feed several splits let a model recognise what it was trained on: give scores apart for the "
            "clips concerned (`vttdata evaluate --train-split`), or use the protocol below."
        )
    else:
        sentences.append("No source feeds two splits, so a score is one on videos that training has not seen.")
    if audit.leaks["caption"]["captions"]:
        sentences.append(
            "Captions that occur in several splits are no leak of pictures, but retrieval counts a right clip as wrong "
            "where several clips have the query (`t2v-verbatim/...` of `vttdata evaluate` does not), and a frequent "
            "training caption is word for word a reference of a tested clip."
        )
    if "near_duplicate" not in audit.leaks:
        sentences.append(
            "Near-duplicates can be judged only with the videos in the dataset: `--set videos=FOLDER --set "
            "publish.media=files` when building."
        )
    return sentences


def _inside_splits(clips: ClipTable, repeats: Sequence[str]) -> Section:
    _, index, sizes = np.unique(np.stack([clips.split, clips.source]), axis=1, return_inverse=True, return_counts=True)
    total, siblings = (clips.count_by_split(flags) for flags in (clips.split >= 0, sizes[index.reshape(-1)] > 1))
    rows = [(name, n, f"{siblings[name]:,} ({siblings[name] / max(n, 1):.1%})") for name, n in total.items()]
    sentence = (
        "Clips of one source are not independent: intervals must resample sources, and a protocol that divides a split "
        "further, such as a training set that takes the rest of an official test set, leaks unless it keeps them "
        "together. `vttdata audit DATASET --split FILE` counts what it leaks."
    )
    table = ResultTable(("split", "clips", "of a source with several clips there"), rows)
    return Section("Inside splits", [sentence], repeats, table)


def _official_findings(folder: Path) -> Section:
    title, path = "In the annotations", folder.parent / "stages" / "findings" / "kept.parquet"
    if not path.is_file():
        sentence = "Only a build knows the findings in its annotations; audit the folder that was given to `--out`."
        return Section(title, [sentence])
    counts: Counter[str] = Counter()
    for row in read_parquet_rows([path], ("kind", "count")):
        counts[row["kind"]] += row["count"]
    if not counts:
        return Section(title, ["The annotations show no irregularity."])
    rows = [
        (f"`{kind}`", count, MEANINGS.get(kind, kind.replace("_", " ")), CONSEQUENCES.get(kind, ""))
        for kind, count in counts.items()
    ]
    return Section(title, table=ResultTable(("finding", "count", "meaning", "for a score"), rows))


def _alignment(folder: Path) -> Iterator[Section]:
    """Yield the section on which lines the ids of judgments lead to; nothing without judgments."""
    path = folder.parent / "stages" / "alignment" / "kept.parquet"
    if not path.is_file():
        return
    scans: dict[str, dict[int, float]] = {}
    for row in read_parquet_rows([path], ("campaign", "offset", "correlation")):
        scans.setdefault(row["campaign"], {})[row["offset"]] = row["correlation"]
    rows = []
    for name, of_offset in scans.items():
        best = max(of_offset, key=of_offset.__getitem__)
        rows.append((name, f"{best:+d}", of_offset[best], of_offset[0]))
    sentence = (
        "Pearson's r, within systems, of people's scores and the words that a caption shares with the references, by "
        "what is added to an id to get a line counted from 0; -1 means that ids count from 1. Taking the id as another "
        "line correlates with the scores of other captions."
    )
    columns = ("judgments", "added where r is highest", "r there", "r where the id is the line")
    yield Section("Which captions the judgments are about", [sentence], table=ResultTable(columns, rows))
