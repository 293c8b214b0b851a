"""Review foils: captions with one thing swapped, which should be wrong, plausible and well written (VALSE)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from vttdata.errors import VttdataError
from vttdata.export.reader import DatasetReader
from vttdata.files.results import Section
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table
from vttdata.load.lookup import find_dataset
from vttdata.people.task import (
    Answered,
    AnswerError,
    Earlier,
    Item,
    Material,
    Ratings,
    Row,
    Task,
    Unit,
    majority,
)
from vttdata.settings import Count, Ratio, Strict
from vttdata.text.word_spans import find_words, split_words

VERDICTS = {
    "sound": "The marked thing is not there, and the sentence could well be true of another video.",
    "odd": "It is not there, but the sentence reads as if something were wrong.",
    "implausible": "No video would show this.",
    "present": "The marked thing is to be seen or heard in the video.",
    "alike": "It is another name for something that is there.",
    "ungrammatical": "The sentence is not correct English.",
}
"""Verdicts in the order of the page, with what the worker reads; `vttdata foil --verdicts` reads them."""

_FIELDS = ("foil_id", "video_id", "caption", "foil", "replacement", "start")


@dataclass(frozen=True, slots=True)
class FoilReviewSettings(Strict):
    """Settings of the task `foil-review`.

    Fields:
        sample: number of foils that are reviewed, drawn at random; 0 for all.
        controls: share of true captions among the sentences, which are present by construction.
        pass_mark: least share of controls that are found present, or another name for something there.
        min_controls: controls from which on a worker is judged.
        min_shown: least share of a video's length that must have been shown, 0..1; the page asks for it, and at least
            half of a worker's answers must have it.
    """

    sample: Count = 0
    controls: Ratio = 0.1
    pass_mark: Ratio = 0.7
    min_controls: Count = 3
    min_shown: Ratio = 0.5


class FoilTask(Task):
    """Judge a sentence with one marked thing."""

    Settings = FoilReviewSettings
    title = "Check sentences about videos"
    takes = "datasets of foils, or tables with foil_id, video_id, caption and foil"
    columns: ClassVar[Mapping[str, str]] = {
        "foil_id": "foil",
        "video_id": "clip",
        "verdict": "; ".join(f"{name}: {meaning}" for name, meaning in VERDICTS.items()),
        "annotator": "hashed worker",
        "seconds": "from showing to answering",
    }

    def instructions(self) -> Sequence[str]:
        """Say what the verdicts mean."""
        return (
            "Each sentence describes the video beside it, with one part marked. Say what is true of the marked part.",
            "Watch the video to its end before you say that something is not there.",
            *(f"{name.capitalize()}: {meaning}" for name, meaning in VERDICTS.items()),
        )

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each foil, and controls: true captions with their own words marked."""
        foils = {
            row["foil_id"]: row for reference in material.inputs for row in _read_foils(reference, material.columns)
        }
        files = material.with_videos(row["video_id"] for row in foils.values())
        names = sorted(name for name, row in foils.items() if row["video_id"] in files)
        if self.settings.sample and self.settings.sample < len(names):
            names = sorted(material.draw("sample").sample(names, self.settings.sample))
        units = []
        for name in names:
            row = foils[name]
            _, marked = _difference(row["caption"], row["foil"])
            shown = {"sentence": row["foil"], "marked": list(marked), "verdicts": VERDICTS}
            item = Item(material.name("foil", name), row["video_id"], shown, {"foil_id": name})
            units.append(self.unit(material, item))
        for name in material.draw_in_secret("controls").sample(names, self.number_of_controls(len(names))):
            row = foils[name]
            marked, _ = _difference(row["caption"], row["foil"])
            shown = {"sentence": row["caption"], "marked": list(marked), "verdicts": VERDICTS}
            item = Item(material.name("control", name), row["video_id"], shown, {"expected": "present"})
            units.append(self.unit(material, item, is_control=True))
        return sorted(units, key=lambda unit: material.draw_in_secret("order", unit.unit).random())

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Take one of the verdicts."""
        if answer.get("verdict") not in VERDICTS:
            raise AnswerError("Please choose one of the answers.")
        return {"verdict": answer["verdict"]}

    def control_passed(self, item: Item, answer: Mapping[str, Any]) -> bool | None:
        """Return whether the worker sees in a true caption what it names."""
        return None if "foil_id" in item.facts else answer["verdict"] in ("present", "alike")

    def chance(self) -> float:
        """Return the share of verdicts that are right about a true caption."""
        return 2 / len(VERDICTS)

    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return the verdicts on foils, and whether they accept them."""
        verdicts: dict[str, dict[str, float | str]] = {}
        accepted: dict[str, dict[str, float | str]] = {}
        for row in self.rows(list(answers)):
            verdicts.setdefault(row["foil_id"], {})[row["annotator"]] = row["verdict"]
            accepted.setdefault(row["foil_id"], {})[row["annotator"]] = str(row["verdict"] in ("sound", "odd"))
        return [Ratings("verdict", "nominal", verdicts), Ratings("accepted", "nominal", accepted)]

    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return a row for each verdict on a foil; `vttdata foil --verdicts` reads the table."""
        return [
            {
                "foil_id": entry.item.facts["foil_id"],
                "video_id": entry.item.video_id,
                "verdict": entry.answer["verdict"],
                "annotator": entry.worker,
                "seconds": entry.rounded_seconds(),
            }
            for entry in answers
            if "foil_id" in entry.item.facts
        ]

    def further_files(
        self,
        answers: Sequence[Answered],  # noqa: ARG002
        rows: Sequence[Row],
        *,
        kept: Collection[str],  # noqa: ARG002
    ) -> dict[str, str | Sequence[Section]]:
        """Return the verdict of the majority on each foil, and whether two of three accept it, as VALSE asks."""
        votes: dict[str, list[str]] = {}
        for row in rows:
            votes.setdefault(row["foil_id"], []).append(row["verdict"])
        table: list[list[Any]] = [["foil_id", "verdicts", "accepted", "majority", "valid"]]
        for name, verdicts in sorted(votes.items()):
            accepted = sum(verdict in ("sound", "odd") for verdict in verdicts)
            counts = ", ".join(f"{verdict} {n}" for verdict, n in sorted(Counter(verdicts).items()))
            valid = 3 * accepted >= 2 * len(verdicts)
            table.append(
                [name, counts, f"{accepted} of {len(verdicts)}", majority(verdicts) or "", "yes" if valid else "no"]
            )
        return {"foils.csv": as_csv(table)}


def _read_foils(reference: str, columns: Mapping[str, str | Sequence[str]]) -> Iterator[Row]:
    """Yield the foils of a table or of a dataset."""
    path = Path(reference)
    if path.suffix and path.is_file():
        required = tuple((name,) for name in _FIELDS[:4])
        for line, row in read_table(path, Columns(_FIELDS, required, (), columns, any_table=True)):
            if not all(isinstance(row.get(name), str) and row[name].strip() for name in _FIELDS[:4]):
                raise VttdataError(f"{path}:{line}: a foil needs a foil_id, a video_id, a caption and a foil.")
            yield row
        return
    reader = DatasetReader(find_dataset(reference))
    for split in reader.splits("foils"):
        yield from reader.rows("foils", split, list(_FIELDS[:4]))


def _difference(caption: str, foil: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the span of whole words in which each of two texts differs from the other."""
    ours, theirs = split_words(caption), split_words(foil)
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < min(len(ours), len(theirs)) - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1

    def span(text: str) -> tuple[int, int]:
        found = find_words(text)
        differing = found[start : len(found) - end]
        if differing:
            return differing[0][0], differing[-1][1]
        at = found[start][0] if start < len(found) else len(text)
        return at, at

    return span(caption), span(foil)


TASK = FoilTask
