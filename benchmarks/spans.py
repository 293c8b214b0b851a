"""Cut spans of sources in every container and codec, and read frame numbers and a chirp back from the clips.

Run `python benchmarks/spans.py [CODEC]`, for one of the codecs of `tests/helpers/span_matrix.py` or for all. Every
source is tried with five spans: at the start of the file, inside the first GOP, on a keyframe, of one frame, and at the
end of the file. A clip is exact if it shows exactly the frames of the span at their times, with their sound. What is
refused is listed with its reason; a wrong clip makes the program fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.span_matrix import CODECS, Trial, cells, try_cell


def main() -> None:
    """Print a table by container and one by codec, and every span that did not give an exact clip."""
    codecs = sys.argv[1:] or list(CODECS)
    with ProcessPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        trials = [trial for found in pool.map(try_codec, codecs) for trial in found]
    for heading, group in (
        ("container", lambda trial: trial.cell.container),
        ("codec", lambda trial: trial.cell.codec),
    ):
        print(f"| {heading} | sources | cells tried | exact | refused | wrong | ends alone decoded |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for row in rows(trials, group):
            print(row)
        print()
    for reason, number in Counter(f"{trial.outcome}: {trial.reason}" for trial in trials if trial.reason).most_common():
        example = next(trial for trial in trials if f"{trial.outcome}: {trial.reason}" == reason)
        print(f"{number} x {reason} ({example.cell.name}, {example.span})")
    sys.exit(any(trial.outcome == "wrong" for trial in trials))


def try_codec(codec: str) -> list[Trial]:
    """Try every cell of a codec, and tell how it went."""
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as name:
        for cell in cells():
            if cell.codec == codec:
                try:
                    trials += try_cell(cell, Path(name))
                except subprocess.CalledProcessError as error:
                    print(f"{cell.name} cannot be written: {error.stderr.decode()[-200:].strip()}", file=sys.stderr)
    print(f"{codec}: {Counter(trial.outcome for trial in trials)}", file=sys.stderr)
    return trials


def rows(trials: list[Trial], group: Callable[[Trial], str]) -> Iterator[str]:
    """Yield a line for each group of trials, and one for all."""
    for name in [*dict.fromkeys(map(group, trials)), "all"]:
        members = [trial for trial in trials if name in (group(trial), "all")]
        outcomes = Counter(trial.outcome for trial in members)
        counts = (
            len({trial.cell for trial in members}),
            len(members),
            *(outcomes[outcome] for outcome in ("exact", "refused", "wrong")),
            sum(trial.ends_only for trial in members),
        )
        yield " | ".join((f"| {name}", *map(str, counts))) + " |"


if __name__ == "__main__":
    main()
