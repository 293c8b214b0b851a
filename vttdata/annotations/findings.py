"""What is odd in official files, told and never mended: each kind of oddity with the ids that show it.

A finding does not stop anything. Files that cannot be read as what they should be are errors, not findings.
"""

from __future__ import annotations

from dataclasses import dataclass

MEANINGS = {
    "file_not_read": "files that were left aside, since others with the official names were there",
    "repeated_paragraph": "paragraphs that a second file repeats word for word; they stand here once",
    "no_paragraph": "videos of the official splits without a paragraph in these files; they have no clip",
    "doubled_video": "clips that are listed more than once; every row is kept",
    "several_splits": "clips that are in more than one split; every row is kept",
    "no_split": "ids on no list of the official splits; clips of MSVD are in the split `unlisted`, "
    "videos of ActivityNet in the split of their file",
    "unknown_split": "clips whose split is none of train, validation and test; it is kept under its name",
    "unknown_id": "listed ids that are not an id of this dataset's kind; they have no row",
    "unknown_category": "clips whose category number has no name in category.txt; the number stands for the name",
    "end_before_start": "clips that end at their start or before it",
    "start_before_zero": "clips that start before their video does",
    "end_after_duration": "clips that end after the stated duration of their video",
    "no_caption": "clips without a sentence; their rows are kept",
    "unknown_video": "sentences about clips that are not listed; they are in the build, not in the dataset",
    "doubled_sentence": "sentences whose number another sentence has too; both are kept",
    "duplicate_caption": "sentences that repeat another sentence of the same clip word for word; both are kept",
    "empty_caption": "sentences without a word; they are kept",
    "concepts_without_clip": "annotated segments that are no clip here; they have no row",
    "misaligned_concepts": "annotated segments whose times are not those of their clip; they are kept",
    "stray_file": "files that are no captions of this set by their name; left aside",
    "unusable_urls": "lists of addresses that have not one for each video of their set; not used for it",
    "no_url": "videos whose address is not known",
    "video_of_several_years": "videos that were judged in more than one year; who trains on other years has seen them",
    "unknown_length": "videos whose length the files do not state; their clip ends where it starts",
    "video_not_in_set": "videos of a year that its multiple annotators did not see; the others were found by what "
    "systems said of them, which is the same, in the same order",
    "longer_references": "human captions for all videos of the year where a set has a part of them; those of this part "
    "are used",
    "differing_caption": "captions that two files give differently; the first is kept",
    "doubled_score": "scores whose system, id and HIT another score has too; both are kept",
    "score_without_caption": "scores of a system whose captions are not there; they are kept",
    "wrapped_id": "scores whose id leads outside the list of captions; they count from its other end, id 0 as the last",
    "shifted_ids": "sets whose ids lead to other lines than the published ones do, as overlap shows; corrected",
    "alignment_unknown": "sets with too few scores to see whether ids lead to the right lines; line = id - 1 is taken",
    "missing_file": "videos whose file is not in the folder of videos, or cannot be read; their rows are kept",
}
"""Every kind of finding and what it means; the order is that of `Findings.result`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity in one file.

    Fields:
        kind: a key of `MEANINGS`.
        file: the name of the file that shows it, without its folder; the name of the folder for missing files.
        count: how often.
        ids: all ids concerned, in the order of the file; `<video_id>/<sen_id>` for sentences.
    """

    kind: str
    file: str
    count: int
    ids: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """What the kind means, in words."""
        return MEANINGS[self.kind]


class Findings:
    """Collects what is odd, one id after the other."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], list[str]] = {}

    def add(self, kind: str, file: str, id_: str) -> None:
        """Note one oddity; text that fits into no table loses what does not fit."""
        self._ids.setdefault((kind, file), []).append(id_.encode("utf-8", "replace").decode())

    def result(self) -> tuple[Finding, ...]:
        """All findings, by kind and then by file."""
        order = list(MEANINGS)
        found = sorted(self._ids.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
        return tuple(Finding(kind, file, len(ids), tuple(ids)) for (kind, file), ids in found)
