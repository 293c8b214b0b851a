"""Caption clips: one sentence by each of several workers, none a copy of another's."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from vttdata.annotate.task import (
    Answered,
    AnswerError,
    Earlier,
    Item,
    Material,
    Question,
    Ratings,
    Row,
    Task,
    Unit,
    item_id,
)
from vttdata.errors import VttdataError
from vttdata.files.csv_safety import escape_formula
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table
from vttdata.ids import find_video_id
from vttdata.media.video_folder import locate_videos
from vttdata.settings import Count, PositiveCount, Ratio, Strict
from vttdata.text.captions import clean_text
from vttdata.text.language import is_language

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
# Words that say nothing of what a video shows; a control is passed by naming something else that its captions name.
_COMMON = frozenset(
    """
    a an the is are was were be being been and or of in on at to by with for from as it its this that there he she they
    his her their some one two several while then
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class CaptionTaskSettings(Strict):
    """Settings of the task `caption`.

    Fields:
        min_words, max_words: allowed lengths of a caption.
        max_similarity: a caption is refused when this share of its words, in their order, is that of another worker's
            caption of the clip, or of the worker's own caption of another clip.
        language: ISO 639-1; a caption that is almost certainly in another language is refused. None for any.
        qualification: workers pass a short test before they begin.
        pass_mark: least share of controls that name something that the control's captions name.
        min_controls: controls from which on a worker is judged.
    """

    min_words: PositiveCount = 5
    max_words: PositiveCount = 60
    max_similarity: Ratio = 0.9
    language: str | None = "en"
    qualification: bool = True
    pass_mark: Ratio = 0.6
    min_controls: Count = 3


class CaptionTask(Task):
    """Write a caption of a clip; clips that have human captions already can be controls."""

    Settings = CaptionTaskSettings
    title = "Describe short videos"
    takes = "a folder of videos, or tables with a column video_id; --captions makes controls of the clips that it names"
    compares = True
    columns: ClassVar[Mapping[str, str]] = {
        "video_id": "clip",
        "caption": "text, white space folded",
        "annotator": "hashed worker",
        "language": "ISO 639-1, as the campaign wants it",
        "seconds": "from showing the clip to sending the caption",
    }

    def instructions(self) -> Sequence[str]:
        """Say what makes a good caption."""
        words = self.settings.min_words
        return (
            f"Watch each video and describe what happens in one sentence of at least {words} words.",
            "Name who or what is to be seen and what they do, so that somebody who has not seen the video could pick "
            "it out of others. Say only what is to be seen or heard: no guesses about names, feelings or what is next.",
            "Good: “A woman in a red coat feeds pigeons on a square.” Too vague: “A woman is outside.” A guess: “A "
            "lonely tourist visits Rome.”",
            "Use your own words each time. Captions that repeat another person's, or your own of another video, are "
            "refused.",
        )

    def quiz(self) -> Sequence[Question]:
        """Ask whether four captions of the same video are good ones."""
        if not self.settings.qualification:
            return ()
        scene = "The video shows a man in a kitchen who cuts carrots and puts them into a pot. Is this a good caption: "
        captions = (
            ("A man cuts carrots and puts them into a pot.", "yes", "It says what is to be seen."),
            ("This is a nice video.", "no", "It does not say what happens."),
            (
                "A famous chef cooks dinner for his wife.",
                "no",
                "Who he is and for whom he cooks is not to be seen.",
            ),
            (
                "In a kitchen, somebody is chopping vegetables for a pot.",
                "yes",
                "Other words for the same things are fine.",
            ),
        )
        choices = ("yes", "no")
        return [
            Question(f"{scene}“{caption}”", choices, choices.index(right), reason)
            for caption, right, reason in captions
        ]

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each clip, and one for each clip that has human captions as a control."""
        references: dict[str, list[str]] = {}
        for caption in material.human:
            references.setdefault(caption.video_id, []).append(clean_text(caption.caption))
        clips = material.with_videos(video_ids(material))
        shown = {"min_words": self.settings.min_words, "max_words": self.settings.max_words}
        units = []
        for video_id in sorted(clips, key=lambda name: material.draw("order", name).random()):
            facts = {"references": references[video_id]} if video_id in references else {}
            item = Item(item_id("caption", material.seed, video_id), video_id, shown, facts)
            units.append(self.unit(item, is_control=bool(facts)))
        if all(unit.is_control for unit in units):
            raise VttdataError("Every clip has a caption in --captions, so each would be a control; leave some out.")
        return units

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Refuse captions that are too short or long, in another language, or copies."""
        text = answer.get("caption")
        if not isinstance(text, str):
            raise AnswerError("Please write a caption.")
        text = clean_text(text)
        if escape_formula(text) != text:
            raise AnswerError("Please begin with a word.")
        words = _words(text)
        if len(words) < self.settings.min_words:
            raise AnswerError(f"{len(words)} words so far; please write at least {self.settings.min_words}.")
        if len(words) > self.settings.max_words:
            raise AnswerError(f"{len(words)} words; please write at most {self.settings.max_words}.")
        if len(set(words)) * 2 < len(words):
            raise AnswerError("Most words are repeated; please describe the video in a sentence.")
        if self._is_copy(words, earlier.others):
            raise AnswerError("Somebody has described this video in almost the same words; please use your own.")
        if self._is_copy(words, earlier.own):
            raise AnswerError(
                "You gave another video almost the same caption; please say what is special about this one."
            )
        if self.settings.language is not None and not is_language(text, self.settings.language):
            raise AnswerError(f"This does not seem to be in the right language ('{self.settings.language}').")
        return {"caption": text}

    def _is_copy(self, words: Sequence[str], others: Iterable[Mapping[str, Any]]) -> bool:
        matcher = difflib.SequenceMatcher(autojunk=False)
        matcher.set_seq2(words)
        for other in others:
            matcher.set_seq1(_words(other["caption"]))
            limit = self.settings.max_similarity
            if matcher.real_quick_ratio() >= limit and matcher.quick_ratio() >= limit and matcher.ratio() >= limit:
                return True
        return False

    def control_passed(self, item: Item, answer: Mapping[str, Any]) -> bool | None:
        """Return whether a caption of a control names anything that its human captions name."""
        if "references" not in item.facts:
            return None
        known = {word for text in item.facts["references"] for word in _words(text)} - _COMMON
        return not known.isdisjoint(_words(answer["caption"]))

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return the caption's words."""
        return " ".join(_words(answer["caption"]))

    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:  # noqa: ARG002
        """Return nothing: captions are to differ."""
        return []

    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return a row for each caption of a clip that is no control."""
        return [
            {
                "video_id": entry.item.video_id,
                "caption": entry.answer["caption"],
                "annotator": entry.worker,
                "language": self.settings.language or "",
                "seconds": round(entry.seconds, 1),
            }
            for entry in answers
            if "references" not in entry.item.facts
        ]

    def further_files(self, answers: Sequence[Answered], rows: Sequence[Row]) -> dict[str, str]:  # noqa: ARG002
        """Return the captions as `vttdata build` reads them."""
        names = ("video_id", "caption", "annotator", *(("language",) if self.settings.language else ()))
        return {"captions.csv": as_csv([list(names), *([row[name] for name in names] for row in rows)])}


def video_ids(material: Material) -> list[str]:
    """Return the ids of the videos that inputs name: files in folders, rows of tables, sorted.

    Raises:
        VttdataError: when an input is neither, or names no video.
    """
    names: dict[str, None] = {}
    for reference in material.inputs:
        path = Path(reference)
        if path.is_dir():
            names |= dict.fromkeys(locate_videos(path))
            continue
        if not path.is_file():
            raise VttdataError(f"{reference}: neither a folder of videos nor a table with a column video_id.")
        columns = Columns(("video_id",), (("video_id",),), (), material.columns)
        for line, row in read_table(path, columns):
            if not isinstance(row.get("video_id"), str):
                raise VttdataError(f"{path}:{line}: 'video_id' is empty.")
            names[find_video_id(row["video_id"], names) or row["video_id"]] = None
    if not names:
        raise VttdataError(f"{', '.join(material.inputs)}: names no videos.")
    return sorted(names)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


TASK = CaptionTask
