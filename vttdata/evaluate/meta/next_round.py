"""Captions that people should rate next, so that the ranking of systems is decided with few ratings."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.evaluate.meta.verdicts import Judge
from vttdata.files.csv_safety import escape_formula
from vttdata.files.output_file import write_whole
from vttdata.ids import digest
from vttdata.statistics.arrays import Integers
from vttdata.statistics.assignment import LEAST_OF_ROUND, assign_evenly

COLUMNS = ("system", "video_id", "caption", "round", "probability")


@dataclass(frozen=True, slots=True)
class NextRound:
    """Where the captions of the next round are written, how many, and the seed by which they are drawn.

    Of each system the videos are drawn at random from all of them, in one order, so that systems are rated on the same
    videos as far as their numbers go. The column `probability` is that with which a caption of the system was drawn.
    """

    file: Path
    ratings: int
    seed: int = 0

    def write(
        self,
        captions: Sequence[tuple[str, str, str]],
        systems: Sequence[str],
        counts: Integers | None,
        rounds: int,
        undecided: int,
    ) -> str:
        """Write the next round's captions, unless every difference is decided; return a sentence on what comes next.

        Raises:
            VttdataError: if a text is not known, there are fewer captions than systems in a round, or the file exists
                with something else or cannot be written.

        Args:
            captions: system, video and text of all captions, of which the round's are drawn.
            systems: names of the systems.
            counts: captions of each system to rate; None if all is decided.
            rounds: rounds that there were.
            undecided: pairs of systems whose order is not decided.
        """
        if unknown := next(((system, video) for system, video, text in captions if not text), None):
            raise VttdataError(
                f"The caption of {unknown[1][:60]!a} by {unknown[0][:60]!a} is not known, which people would rate; "
                "--candidates names a table of captions."
            )
        if counts is None:
            return f"The order of all systems is decided after {rounds} rounds; nothing was written into {self.file}."
        if self.ratings < LEAST_OF_ROUND * len(systems):
            raise VttdataError(
                f"--number is {self.ratings:,}, but in every round each of {len(systems):,} systems needs "
                f"{LEAST_OF_ROUND} captions."
            )
        videos_of: dict[str, dict[str, str]] = {name: {} for name in systems}
        for system, video, text in captions:
            videos_of[system][video] = text
        order = sorted({video for _, video, _ in captions}, key=lambda video: digest([self.seed, rounds, video]))
        drawn = {name: [video for video in order if video in videos_of[name]] for name in systems}
        rows = []
        for name, count in zip(systems, counts.tolist(), strict=True):
            videos = drawn[name][:count]
            share = f"{len(videos) / len(drawn[name]):.6f}"
            rows += [(name, video, videos_of[name][video], str(rounds + 1), share) for video in videos]
        table = io.StringIO(newline="")
        csv.writer(table).writerows([COLUMNS, *([escape_formula(cell) for cell in row] for row in rows)])
        with DescribeOSErrors(f"{self.file}: cannot be written"):
            # The same command writes the same; captions of another round may be with people already.
            if self.file.exists() and self.file.read_bytes() != table.getvalue().encode():
                raise VttdataError(f"{self.file}: exists and has something else; name another file.")
            write_whole(self.file, table.getvalue())
        return (
            f"{undecided:,} pairs of systems are not decided after {rounds} rounds; {self.file} has the {len(rows):,} "
            f"captions of round {rounds + 1}."
        )

    def begin(self, captions: Mapping[tuple[str, str], str]) -> str:
        """Write the captions of a first round, the same number of every system, from (system, video) -> text.

        Raises:
            VttdataError: if there are fewer than two systems, or a caption is not known.
        """
        systems = sorted({system for system, _ in captions})
        if len(systems) < 2:
            raise VttdataError("A ranking needs the captions of two systems at least.")
        every = [(system, video, text) for (system, video), text in captions.items()]
        return self.write(
            every, systems, assign_evenly(len(systems), self.ratings), 0, len(systems) * (len(systems) - 1) // 2
        )


def captions_of(judges: Iterable[Judge], file: Path) -> dict[tuple[str, str], str]:
    """Return (system, item) -> caption of what judges scored, controls left out.

    Raises:
        VttdataError: if the table of verdicts has no captions.
    """
    captions: dict[tuple[str, str], str] = {}
    for judge in judges:
        for verdict in judge.verdicts:
            if not verdict.system:
                continue
            if verdict.caption is None:
                raise VttdataError(
                    f"{file}:{verdict.line}: the captions are needed that people rate; add a column caption."
                )
            captions[verdict.system, verdict.item] = verdict.caption
    return captions
