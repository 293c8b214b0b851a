"""Write an audit of a benchmark as a page: what was found, what it means for a published number, and what to do.

The figures are those of `vttdata.dataset.leak_audit`, of the findings in the official files, and of blind attackers on
sets of foils. Computed here are only how many clips have a sibling, a clip of the same source, in their own split, and
which clips are left where those that splits share are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from vttdata.annotations import MEANINGS
from vttdata.compose.question_audit import AttackedQuestions
from vttdata.dataset.card.sections import escape, format_table
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import audit_files, caption_batches, read_clip_columns, read_fingerprints
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.files.results import format_markdown
from vttdata.generate.blind.shortcuts import Attack, attack_section
from vttdata.recipe import packaged
from vttdata.split import Audit
from vttdata.split.audit.caption_sets import find_caption_sets
from vttdata.split.audit.clip_table import ClipTable
from vttdata.split.audit.leaks import count_rows, leak_rows, notes
from vttdata.split.near_duplicates.matches import match_sources

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


def clean_protocol(folder: Path) -> Protocol:
    """Return the clips of each split that share no source, near-duplicate of one or set of captions with another split.

    The split ``train`` stays whole, since it is the others that are tested.

    Raises:
        VttdataError: when it is no dataset of clips.
    """
    files, manifest = read_layout(folder, needs="clips").files, read_dataset_manifest(folder)
    table, split = read_clip_columns(files)
    names, paths = list(files["clips"]), list(chain(*files["clips"].values()))
    clips = ClipTable.from_arrow(table, split, names)
    splits_of_sources = clips.splits_of_sources()
    feeds = splits_of_sources.copy()
    sources = list(chain(*files.get("sources", {}).values()))
    for pair in match_sources(read_fingerprints(sources, set(clips.names.to_pylist()))).duplicates():
        a, b = clips.find_sources([pair.source_a, pair.source_b])
        feeds[a] |= splits_of_sources[b]
        feeds[b] |= splits_of_sources[a]
    captions = caption_batches(paths, clips, np.arange(len(clips)), len(clips))
    is_shared = (feeds.sum(axis=1) > 1)[clips.source] | find_caption_sets(clips, captions, 0).has_partner
    kept: dict[str, list[str]] = {}
    for number, name in enumerate(names):
        rows = np.flatnonzero((split == number) & (~is_shared | (name == "train")))
        kept[name] = list(dict.fromkeys(clips.video_id.take(pa.array(rows)).to_pylist()))
    about = {
        "description": "Clips that share no video, near-duplicate or captions with another split; train is whole.",
        "dataset": str(manifest.get("name")),
        "version": str(manifest.get("version")),
    }
    return Protocol("leak-free", {split: ids for split, ids in kept.items() if ids}, about)


def format_clip_page(folder: Path, command: str, questions: Mapping[str, AttackedQuestions]) -> str:
    """Return the page of a dataset of clips, which says that `command` makes it, with its attacked questions by kind.

    The findings in official files come from the build that the dataset lies in.
    """
    files = read_layout(folder, needs="clips").files
    audit = audit_files(files, media=folder)
    protocol = clean_protocol(folder)
    counts = ", ".join(f"{split} {len(ids):,}" for split, ids in protocol.splits.items())
    parts = [
        _format_head(folder, command),
        f"**{audit.verdict}**",
        format_table(count_rows(audit)),
        "## What splits share",
        format_table(leak_rows(audit)),
        " ".join([notes(audit)[0], *_leak_meanings(audit)]),
        "## Inside splits",
        "\n".join(f"- {escape(note)}" for note in notes(audit)[1:]),
        _format_siblings(files["clips"]),
        *_format_questions(questions),
        "## In the official files",
        _format_findings(folder),
        _format_alignment(folder),
        "## A protocol without leaks",
        f"`leak-free` {'is the official division' if audit.ok else 'leaves out what the splits share'}: {counts} "
        f"clips, digest `{protocol.digest}`. `vttdata audit DATASET --clean DIR` writes it as `DIR/protocol.json` "
        "(`docs/protocols.md`).",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def format_foil_page(
    folder_or_table: str,
    command: str,
    attacks: Mapping[str, Sequence[Attack]],
    same_texts: Mapping[str, int],
    questions: Mapping[str, AttackedQuestions],
) -> str:
    """Return the page of a set of foils, from the results of the blind attackers by configuration.

    `same_texts` counts the pairs by configuration that were left out because their texts are the same, and `questions`
    are those of the set by kind.
    """
    parts = [_format_head(Path(folder_or_table), command)]
    for config, results in attacks.items():
        section = attack_section(results, same_texts.get(config, 0), title=f"Blind attackers on `{config}`")
        parts.append(format_markdown([section]).rstrip())
    parts.append(
        "What an attacker reaches without the video is the floor of the set, not 0.5: a score says something of seeing "
        "only as far as it is above the interval of the ensemble. State both, and compare systems by their difference."
    )
    return "\n\n".join([*parts, *_format_questions(questions)]) + "\n"


def _format_head(folder: Path, command: str) -> str:
    name, version = folder.stem, ""
    if (folder / "manifest.json").is_file():
        manifest = read_dataset_manifest(folder)
        name, version = str(manifest.get("name")), f" {manifest.get('version')}"
    recipe = packaged.datasets_of_recipes().get(name)
    commands = [*([f"{packaged.build_command(recipe)} --out {recipe}"] if recipe else []), command]
    listed = "".join(f"$ {line}\n" for line in commands)
    return f"# Audit of {escape(name)}{version}\n\n```console\n{listed}```\n\nThe same files give the same page."


def _format_questions(questions: Mapping[str, AttackedQuestions]) -> list[str]:
    """Return a section for each kind of question, and what they mean for a score; nothing without questions."""
    sections = [format_markdown([attacked.section()]).rstrip() for attacked in questions.values()]
    floor = (
        "What all attackers reach without the video is the floor of a kind, not guessing: a published accuracy says "
        "something of seeing only as far as it is above their interval. `vttdata evaluate` gives the gain over "
        "them."
    )
    return [*sections, floor] if sections else []


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
        sentences.append("Near-duplicates can be judged only with the videos: `--set videos=FOLDER` when building.")
    return sentences


def _format_siblings(splits: Mapping[str, Sequence[Path]]) -> str:
    rows: list[tuple[str, ...]] = [("split", "clips", "of a source with several clips there")]
    for split, paths in splits.items():
        sources = [row["source_id"] or row["video_id"] for row in read_parquet_rows(paths, ("video_id", "source_id"))]
        counts = Counter(sources)
        siblings = sum(counts[source] > 1 for source in sources)
        rows.append((split, f"{len(sources):,}", f"{siblings:,} ({siblings / max(len(sources), 1):.1%})"))
    return (
        f"{format_table(rows)}\n\nClips of one source are not independent: intervals must resample sources, and a "
        "protocol that divides a split further, such as a training set that takes the rest of an official test set, "
        "leaks unless it keeps them together. `vttdata audit DATASET --split train=FILE --split test=FILE` counts what "
        "it leaks."
    )


def _format_findings(folder: Path) -> str:
    path = folder.parent / "stages" / "findings" / "kept.parquet"
    if not path.is_file():
        return "Only a build knows the findings in official files; audit the folder that was given to `--out`."
    rows: list[tuple[str, ...]] = [("finding", "count", "meaning", "for a score")]
    counts: Counter[str] = Counter()
    for row in read_parquet_rows([path], ("kind", "count")):
        counts[row["kind"]] += row["count"]
    for kind, count in counts.items():
        meaning = MEANINGS.get(kind, kind.replace("_", " "))
        rows.append((f"`{kind}`", f"{count:,}", escape(meaning), CONSEQUENCES.get(kind, "")))
    return format_table(rows) if counts else "The official files show no irregularity."


def _format_alignment(folder: Path) -> str:
    """Return the section on which lines the ids of judgments lead to; empty without judgments."""
    path = folder.parent / "stages" / "alignment" / "kept.parquet"
    if not path.is_file():
        return ""
    scans: dict[str, dict[int, float]] = {}
    for row in read_parquet_rows([path], ("campaign", "offset", "correlation")):
        scans.setdefault(row["campaign"], {})[row["offset"]] = row["correlation"]
    rows: list[tuple[str, ...]] = [("judgments", "added where r is highest", "r there", "r where the id is the line")]
    for name, of_offset in scans.items():
        best = max(of_offset, key=of_offset.__getitem__)
        rows.append((name, f"{best:+d}", f"{of_offset[best]:.3f}", f"{of_offset[0]:.3f}"))
    return (
        "## Which captions the judgments are about\n\nPearson's r, within systems, of people's scores and the words "
        "that a caption shares with the references, by what is added to an id to get a line counted from 0; -1 means "
        "that ids count from 1. Taking the id as another line correlates with the scores of other captions."
        f"\n\n{format_table(rows)}"
    )
