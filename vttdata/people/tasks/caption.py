"""Caption clips: one sentence by each of several workers, none a copy of another's.

Whether workers watch and write is checked without further material: by the share of a clip that was shown to them, by
their time, and by questions that only somebody who has seen a clip can answer.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le

from vttdata.errors import VttdataError
from vttdata.files.csv_safety import escape_formula
from vttdata.files.results import Section
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table
from vttdata.ids import find_video_id
from vttdata.media.video_folder import locate_videos
from vttdata.people.clip_questions import CHOICES, clip_questions
from vttdata.people.task import (
    Answered,
    AnswerError,
    Earlier,
    Item,
    Material,
    Note,
    Question,
    Ratings,
    Row,
    Task,
    Unit,
    Verdict,
    chance_of,
)
from vttdata.settings import Count, PositiveCount, Ratio, Seconds, Strict
from vttdata.text.captions import clean_text
from vttdata.text.language import is_language
from vttdata.text.word_spans import split_words

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
# Words that say nothing of what a video shows; a control is passed by naming something else that its captions name.
_COMMON = frozenset(
    """
    a an the is are was were be being been and or of in on at to by with for from as it its this that there he she they
    his her their some one two several while then
    """.split()  # noqa: SIM905
)


# How many questions about clips a worker answers before the first caption.
_QUALIFYING = 4
# Captions of other clips that are compared with those of a control.
_COMPARED = 200
# A worker with fewer captions is not flagged for how they were written.
_MIN_CAPTIONS = 3
# What TRECVID asked its annotators to put into one sentence (Graham et al., PLOS ONE 2018, "Data and system task").
_FACETS = (
    "Who: the people, animals or things that the video is about, and of what kind they are.",
    "What: what they do, or what happens to them.",
    "Where: the place, such as a kitchen, a street or a stadium.",
    "When: the time of day or the season.",
)


@dataclass(frozen=True, slots=True)
class CaptionTaskSettings(Strict):
    """Settings of the task `caption`.

    Fields:
        min_words, max_words: allowed lengths of a caption.
        max_similarity: a caption is refused when this share of its words, in their order, is that of another worker's
            caption of the clip, or of the worker's own caption of another clip.
        language: ISO 639-1; a caption that is almost certainly in another language is refused. None for any.
        qualification: workers pass a short test, and four of the questions about clips, before they begin.
        questions: of so many clips it is asked, before the first caption and in between, which of several captions or
            pictures is of it; 0 for none.
        min_shown: least share of a clip's length that must have been shown, 0..1; the page asks for it, and at least
            half of a worker's answers must have it.
        min_seconds: least median time of a worker's captions. Five words are about 25 letters, which take 3 s at 100
            words a minute, and the clip was watched before.
        facets: workers are asked for who, what, where and when, as far as it can be seen, all in one sentence.
        pass_mark: least share of controls that are right: of questions, and of captions of clips that have captions
            already, which must name something that these name.
        min_controls: controls from which on a worker is judged.
        alpha: a worker counts only if as many right controls are less probable than this for somebody who answers at
            random. A campaign with too few questions for it takes the probability that it can reach, and says so.
    """

    min_words: PositiveCount = 5
    max_words: PositiveCount = 60
    max_similarity: Ratio = 0.9
    language: str | None = "en"
    qualification: bool = True
    questions: Count = 16
    min_shown: Ratio = 0.8
    min_seconds: Seconds = 4.0
    facets: bool = False
    pass_mark: Ratio = 0.6
    min_controls: Count = 3
    alpha: Annotated[float, Gt(0), Le(1)] = 0.01


class CaptionTask(Task):
    """Write a caption of a clip; clips that have human captions already can be controls."""

    Settings = CaptionTaskSettings
    title = "Describe short videos"
    takes = "a folder of videos, or tables with a column video_id; --captions makes controls of the clips that it names"
    compares = True
    observes = (
        "The page also notes how much of each video was shown and, where you write, how many keys you press and how "
        "often the text is changed or pasted, but not which keys or what."
    )
    columns: ClassVar[Mapping[str, str]] = {
        "video_id": "clip",
        "caption": "text, white space folded",
        "annotator": "hashed worker",
        "language": "ISO 639-1, as the campaign wants it",
        "seconds": "from showing the clip to sending the caption",
        "shown": "share of the clip's length that was shown to the worker, 0 to 1; empty if unknown",
    }

    def instructions(self) -> Sequence[str]:
        """Say what makes a good caption."""
        words = self.settings.min_words
        facets = ("Put into the sentence, as far as it is to be seen:", *_FACETS) if self.settings.facets else ()
        return (
            f"Watch each video and describe what happens in one sentence of at least {words} words.",
            "Name who or what is to be seen and what they do, so that somebody who has not seen the video could pick "
            "it out of others. Say only what is to be seen or heard: no guesses about names, feelings or what is next.",
            "Good: “A woman in a red coat feeds pigeons on a square.” Too vague: “A woman is outside.” A guess: “A "
            "lonely tourist visits Rome.”",
            *facets,
            "Use your own words each time. Captions that repeat another person's, or your own of another video, are "
            "refused.",
            "Now and then, you are asked instead which of several pictures or sentences belongs to the video.",
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

    def qualifying(self) -> int:
        """Return the number of questions about clips before the first caption."""
        return _QUALIFYING if self.settings.qualification else 0

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each clip, a control where it has human captions, and controls that are questions."""
        references: dict[str, list[str]] = {}
        for caption in material.human:
            references.setdefault(caption.video_id, []).append(clean_text(caption.caption))
        clips = material.with_videos(video_ids(material))
        ours = self.settings
        shown = {"min_words": ours.min_words, "max_words": ours.max_words}
        shown |= {"facets": [facet.partition(":")[0] for facet in _FACETS]} if ours.facets else {}
        units = []
        for video_id in sorted(clips, key=lambda name: material.draw_in_secret("order", name).random()):
            facts: Row = {}
            if video_id in references:
                facts = {"references": references[video_id], "chance": _chance(video_id, references, material)}
            item = Item(material.name("caption", video_id), video_id, shown, facts)
            units.append(self.unit(material, item, is_control=bool(facts)))
        if all(unit.is_control for unit in units):
            raise VttdataError("Every clip has a caption in --captions, so each would be a control; leave some out.")
        first = {video_id: texts[0] for video_id, texts in references.items()}
        asked = clip_questions(material, clips, first, ours.questions, lambda text: {*_words(text)} - _COMMON)
        if ours.questions and not asked:
            meaning = (
                "clips, of which no two can be told apart by captions or by pictures of files; no questions are asked"
            )
            material.notes.append(Note("no_questions", meaning, tuple(sorted(clips))))
        for item in asked:
            units.append(self.unit(material, item, is_control=True, qualifies=True))
        written = [unit.items[0] for unit in units if unit.is_control and not unit.qualifies]
        # A worker meets questions first, or where there are none before, whatever controls there are.
        self._relax(material, asked if asked and ours.qualification else [*asked, *written])
        return units

    def _relax(self, material: Material, controls: Sequence[Item]) -> None:
        """Take the lowest level that the weakest controls allow to a worker with one wrong answer, and note it."""
        answers = [Answered("", "", item, {}, None, 0.0) for item in controls]
        chances = sorted(self.control_chances(answers))[-self.enough_controls() :]
        p = chance_of(max(len(chances) - 1, 1), chances)
        if chances and p >= self.settings.alpha:
            self.settings = replace(self.settings, alpha=min(1.01 * p, 1.0))
            meaning = f"controls that tell so little that {p:.1%} of workers who answer at random count as reliable"
            material.notes.append(Note("weak_controls", meaning, tuple(item.video_id for item in controls)))

    @property
    def alpha(self) -> float:
        """Probability below which as many right answers to controls are no chance."""
        return float(self.settings.alpha)

    def chance(self) -> float:
        """Return the probability that a random choice of as many as there can be is right."""
        return 1 / CHOICES

    def control_chances(self, answers: Sequence[Answered]) -> list[float]:
        """Return the share of right choices of a question, and of captions of others that would pass for a clip's."""
        items = [entry.item for entry in answers if not {"right", "references"}.isdisjoint(entry.item.facts)]
        return [
            1 / len(item.shown["choices"]) if "right" in item.facts else item.facts.get("chance", 0.0) for item in items
        ]

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:
        """Refuse captions that are too short or long, in another language, or copies; take a choice of a question."""
        if "right" in item.facts:
            return _check_choice(item, answer)
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
        known, limit = set(words), self.settings.max_similarity
        for theirs in (_words(other["caption"]) for other in others if "caption" in other):
            # No more words can match than occur in both, and counting them is much faster than matching.
            if 2 * sum(map(known.__contains__, theirs)) / (len(words) + len(theirs)) >= limit:
                matcher.set_seq1(theirs)
                if matcher.ratio() >= limit:
                    return True
        return False

    def control_passed(self, item: Item, answer: Mapping[str, Any]) -> bool | None:
        """Return whether a choice is right, or a caption of a control names anything that its human captions name."""
        if "right" in item.facts:
            return bool(answer["choice"] == item.facts["right"])
        if "references" not in item.facts:
            return None
        known = _named(item.facts["references"])
        return not known.isdisjoint(_words(answer["caption"]))

    def verdict(self, answers: Sequence[Answered]) -> Verdict:
        """Judge a worker by the time of captions, then as other tasks do; see the settings."""
        verdict, least = super().verdict(answers), self.settings.min_seconds
        seconds = _caption_seconds(answers)
        if seconds and median(seconds) < least:
            evidence = f"median {median(seconds):.1f} s a caption, of at least {least:g} s; {verdict.evidence}"
            return Verdict(False, "too_fast", evidence)
        return verdict

    def flags(self, answers: Sequence[Answered]) -> list[tuple[str, str]]:
        """Flag workers who pasted most captions, or whose text came in fewer changes than it has words."""
        written = [(entry, entry.observed) for entry in answers if "caption" in entry.answer and entry.observed]
        if len(written) < _MIN_CAPTIONS:
            return []
        pasted = sum(observed.pastes > 0 for _, observed in written)
        sudden = sum(observed.changes < len(_words(entry.answer["caption"])) for entry, observed in written)
        found = []
        if 2 * pasted > len(written):
            found.append(("pasting", f"text was pasted into {pasted} of {len(written)} captions"))
        if 2 * sudden > len(written):
            evidence = f"{sudden} of {len(written)} captions came in fewer changes of the text than they have words"
            found.append(("not_composed", evidence))
        return found

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return the caption's words, or the number of the choice."""
        return " ".join(_words(answer["caption"])) if "caption" in answer else f"choice {answer['choice'] + 1}"

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
                "seconds": entry.rounded_seconds(),
                "shown": "" if entry.observed is None else round(entry.observed.shown, 3),
            }
            for entry in answers
            if not entry.item.facts
        ]

    def further_files(
        self,
        answers: Sequence[Answered],  # noqa: ARG002
        rows: Sequence[Row],
        *,
        kept: Collection[str],  # noqa: ARG002
    ) -> dict[str, str | Sequence[Section]]:
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


def _chance(video_id: str, references: Mapping[str, Sequence[str]], material: Material) -> float:
    """Return the share of captions of other sources that name something that the captions of a clip name."""
    source = material.source_of.get(video_id, video_id)
    others = [name for name in sorted(references) if material.source_of.get(name, name) != source]
    drawn = material.draw_in_secret("chance", video_id).sample(others, min(len(others), _COMPARED))
    known = _named(references[video_id])
    return sum(not known.isdisjoint(_named(references[name][:1])) for name in drawn) / max(len(drawn), 1)


def _named(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _words(text)} - _COMMON


def _check_choice(item: Item, answer: Mapping[str, Any]) -> Row:
    choice = answer.get("choice")
    if type(choice) is not int or not 0 <= choice < len(item.shown["choices"]):
        raise AnswerError("Please choose one of the answers.")
    return {"choice": choice}


def _caption_seconds(answers: Sequence[Answered]) -> list[float]:
    """Return the time of each of a worker's captions: what the page measured, and no more than the server saw pass."""
    ordered = sorted(answers, key=lambda entry: entry.saved)
    passed = [math.inf, *(entry.saved - before.saved for before, entry in pairwise(ordered))]
    return [
        min(entry.seconds, most)
        for entry, most in zip(ordered, passed, strict=True)
        if "caption" in entry.answer and entry.seconds is not None
    ]


# A worker's captions are compared with each further one.
@functools.lru_cache(20_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word for part in split_words(text.casefold()) for word in _WORD.findall(part))


TASK = CaptionTask
