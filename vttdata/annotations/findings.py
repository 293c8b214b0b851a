"""Irregularities in official files, which are reported and never corrected: each kind with the ids that show it.

A finding does not stop a build. Files that cannot be read as what they should be are errors instead.
"""

from __future__ import annotations

from dataclasses import dataclass

# Every kind of finding that readers share; the order is that of `Findings.result`. A reader's own kinds come after.
MEANINGS = {
    "file_not_read": "files that were left aside, since files with the official names were there",
    "repeated_paragraph": "paragraphs that a second file repeats word for word; they are kept once",
    "no_paragraph": "videos of the official splits without a paragraph in these files; they have no clip",
    "doubled_video": "clips that are listed more than once; every row is kept",
    "several_splits": "clips that are in more than one split; every row is kept",
    "no_split": "ids on no list of the official splits; clips are in the split `unlisted`, videos of "
    "ActivityNet in the split of their file",
    "unknown_split": "clips whose split is not train, validation or test; it is kept under its name",
    "unknown_id": "listed ids that do not have the form of this dataset's ids; they have no row",
    "unknown_category": "clips whose category number has no name in category.txt; the number stands for the name",
    "end_before_start": "clips that end at their start or before it",
    "start_before_zero": "clips that start before their video does",
    "end_after_duration": "clips that end after the stated duration of their video",
    "no_caption": "clips without a sentence; their rows are kept",
    "unknown_video": "sentences about clips that are not listed; they are in the build, not in the dataset",
    "doubled_sentence": "sentences that share their number with another sentence; both are kept",
    "duplicate_caption": "sentences that repeat another sentence of the same clip word for word; both are kept",
    "empty_caption": "sentences without a word; they are kept",
    "mojibake": "sentences in UTF-8 that was read in another encoding, such as `cafÃ©`; they are kept",
    "replacement_character": "sentences with U+FFFD, which stands for characters that were lost; they are kept",
    "concepts_without_clip": "annotated segments that are not among the clips; they have no row",
    "misaligned_concepts": "annotated segments whose times are not those of their clip; they are kept",
    "stray_file": "files that are not captions of this set by their name; left aside",
    "unusable_urls": "lists of addresses that do not have one for each video of their set; not used for it",
    "differing_url": "videos whose stated address is not that of their id; the id decides",
    "no_url": "videos whose address is not known",
    "video_of_several_years": "videos that were judged in several years; a model trained on other years has seen them",
    "unknown_length": "videos whose length the annotations do not state, and images; their clip ends where it starts",
    "video_not_in_set": "videos of a year that its multiple annotators did not see; the others were found by the "
    "captions of systems, which are the same, in the same order",
    "longer_references": "human captions for all videos of the year where a set has a part of them; those of this part "
    "are used",
    "differing_caption": "captions that two files give differently; the first is kept",
    "doubled_score": "scores that share system, id and HIT with another score; both are kept",
    "score_without_caption": "scores of a system without captions; they are kept",
    "wrapped_id": "scores whose id lies outside the list of captions; they count from its other end, id 0 as the last",
    "shifted_ids": "sets whose ids lead to other lines than in the published files, as word overlap shows; corrected",
    "alignment_unknown": "sets with too few scores to see whether ids lead to the right lines; line = id - 1 is taken",
    "identical_texts": "pairs whose true text and foil are the same; they are kept, and no blind attacker tries them",
    "same_options": "questions of which two wrong options are the same text; they are kept",
    "same_as_answer": "questions of which a further option is the text of the answer; either counts as right",
    "empty_question": "questions without a text; they are kept",
    "annotators_disagree": "sentences for which several moments were marked most often, each by as many annotators; "
    "the first of these is the span",
    "no_answer": "questions whose answer these files do not have; nobody can score them here, so they are left out",
    "few_options": "questions without two options that can be read, such as those with open answers; they are left out",
    "wrong_answer": "questions whose answer is none of their options; they are left out",
    "wrong_span": "questions about a span that is no time in seconds, or ends before it starts; they are left out",
    "span_after_video": "questions about a span that ends after the stated duration of their video; they are kept",
    "derived_video": "videos that are named after another one with an ending, such as `ID_reverse`; both count as one "
    "source, unless a column `source_id` says otherwise",
    "no_window": "queries without a window; they are kept",
    "missing_file": "videos whose file is not in the folder of videos, or cannot be read; their rows are kept",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Irregularity of one kind in one file.

    Fields:
        kind: key of `MEANINGS`, or a name for a reader's own kind, such as ``video_without_title``.
        file: name of the file that shows it, without its folder; for missing files the name of the folder.
        count: number of occurrences.
        ids: all ids concerned, in the order of the file; `<video_id>/<sen_id>` for sentences.
    """

    kind: str
    file: str
    count: int
    ids: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """Return the meaning of the kind in words."""
        return MEANINGS.get(self.kind, self.kind.replace("_", " "))


class Findings:
    """Collection of irregularities, to which ids are added one by one."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], list[str]] = {}

    def add(self, kind: str, file: str, id_: str) -> None:
        """Add an id; characters that no table can hold, such as unpaired surrogates, are replaced."""
        self._ids.setdefault((kind, file), []).append(id_.encode("utf-8", "replace").decode())

    def result(self) -> tuple[Finding, ...]:
        """Return all findings, by kind and then by file."""
        order = {kind: position for position, kind in enumerate(MEANINGS)}
        keys = sorted(self._ids, key=lambda key: (order.get(key[0], len(order)), *key))
        return tuple(Finding(*key, len(self._ids[key]), tuple(self._ids[key])) for key in keys)
