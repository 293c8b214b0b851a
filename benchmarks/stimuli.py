"""Check stimuli and gains: an oracle, the cover of intervals, frames of every container, and the cost of a clip.

Run `python benchmarks/stimuli.py oracle`, `coverage`, `matrix` or `cost VIDEO...`.

- ``oracle``: films that are drawn to need colour, direction, order, speed or count, through `vttdata stimuli`, an
  oracle that sees the pictures, and `vttdata evaluate --conditions`.
- ``coverage``: 500 simulated models, whose true gains are known; how often the 95 % interval has the true gain in it.
- ``matrix``: pictures of every container and codec of `benchmarks/spans.py`, whose frames show their numbers.
- ``cost``: seconds and bytes of a clip by condition, and how many frames of it are decoded.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.drawn_questions import KINDS, OPTIONS, build_questions, draw_benchmark, write_oracle
from tests.helpers.stimulus_matrix import CODECS, try_codec
from vttdata.cli.main import main as vttdata
from vttdata.conditions import CONDITIONS, SINGLE_FRAMES, StimuliSettings
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conditions import estimate_gains
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items
from vttdata.media.stimuli import ClipStimuli
from vttdata.statistics.scores import ColumnScores

_FILMS_A_KIND = 6
_MODELS, _SOURCES, _ITEMS_A_SOURCE, _DRAWS = 500, 200, 3, 1_000
# By how much more often all models are right on the items of one half of the sources.
_EASIER = 0.1


def main() -> None:
    """Run one of the parts."""
    parts = {"oracle": oracle, "coverage": coverage, "matrix": matrix}
    if sys.argv[1:2] == ["cost"]:
        cost([Path(name) for name in sys.argv[2:]])
    else:
        parts[sys.argv[1]]()


def oracle() -> None:
    """Print the accuracy of the oracle by kind of question and condition, and its gains."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        films = draw_benchmark(folder, _FILMS_A_KIND)
        build_questions(folder)
        shown, report = folder / "shown", folder / "report"
        run("stimuli", str(folder / "build"), "--videos", str(folder), "--out", str(shown), "--quiet")
        write_oracle(films, shown, folder / "oracle")
        run("evaluate", str(folder / "build"), "--conditions", str(folder / "oracle"), "--out", str(report))
        values: dict[tuple[str, str], list[float]] = defaultdict(list)
        kinds = {film.name: film.kind for film in films}
        for line in (report / "items.jsonl").read_text().splitlines():
            row = json.loads(line)
            values[kinds[row["item"]], row["condition"]].append(row["value"])
        print(f"| condition | {' | '.join(KINDS)} |\n|---|{'--:|' * len(KINDS)}")
        for condition in CONDITIONS:
            cells = (f"{np.mean(values[kind, condition]):.3f}" if values[kind, condition] else "" for kind in KINDS)
            print(f"| {condition} | {' | '.join(cells)} |")
        print(f"\nguessing: {', '.join(f'{kind} {1 / len(OPTIONS[kind]):.3f}' for kind in KINDS)}")


def run(*arguments: str) -> None:
    """Run a command, which must end well."""
    if vttdata(arguments) != 0:
        sys.exit(f"vttdata {' '.join(arguments)} failed")


def coverage() -> None:
    """Print for each gain how often the interval has the true value in it, and how the best frame may be chosen."""
    draw = np.random.default_rng(2026)
    covered: Counter[str] = Counter()
    signs: Counter[str] = Counter()
    for _ in range(_MODELS):
        truth = {name: draw.uniform(0.3, 0.6) for name in ("text", *SINGLE_FRAMES, "shuffled", "reversed")}
        truth["all"] = draw.uniform(0.5, 0.8)
        if draw.random() < 0.5:
            # The case in which a maximum is most biased.
            truth |= dict.fromkeys(SINGLE_FRAMES, truth["first"])
        gains = {
            "visual": truth["all"] - truth["text"],
            "temporal": truth["all"] - max(truth[name] for name in SINGLE_FRAMES),
            "order": truth["all"] - truth["shuffled"],
            "direction": truth["all"] - truth["reversed"],
        }
        columns, items = simulate(truth, draw)
        found = estimate_gains(Estimator(items, draws=_DRAWS), columns).gains
        for name, value in gains.items():
            covered[name] += found[name].low <= value <= found[name].high
            signs[name] += (found[name].score > 0) == (value > 0)
        low, high = choose_in_each_draw(columns, items)
        covered["temporal, best frame chosen anew in each draw"] += low <= gains["temporal"] <= high
    print(f"{_MODELS} models, {_SOURCES} sources of {_ITEMS_A_SOURCE} items")
    for name, number in covered.items():
        sign = f", sign right {signs[name] / _MODELS:.3f}" if name in signs else ""
        print(f"{name}: covered {number / _MODELS:.3f}{sign}")


def simulate(truth: dict[str, float], draw: np.random.Generator) -> tuple[dict[str, ScoreColumn], Items]:
    """Return answers of a model that is right so often in each condition, and more often on half of the sources."""
    number = _SOURCES * _ITEMS_A_SOURCE
    sources = np.repeat(np.arange(_SOURCES), _ITEMS_A_SOURCE)
    easier = draw.choice((-_EASIER, _EASIER), _SOURCES)[sources]
    ids = [str(index) for index in range(number)]
    names = [f"s{index}" for index in range(_SOURCES)]
    items = Items("simulated", "1", "questions", "test", ids, sources, names, [None] * number, ())
    columns = {}
    for condition, share in truth.items():
        right = (draw.random(number) < share + easier).astype(float)
        columns[condition] = ScoreColumn(ColumnScores.from_means(right), np.arange(number))
    return columns, items


def choose_in_each_draw(columns: dict[str, ScoreColumn], items: Items) -> tuple[float, float]:
    """Return the percentile interval of the difference to the best frame, which each draw of sources chooses anew."""
    draw = np.random.default_rng(1)
    sums = {name: np.bincount(items.sources, columns[name].scores.items, _SOURCES) for name in ("all", *SINGLE_FRAMES)}
    chosen = draw.integers(0, _SOURCES, (_DRAWS, _SOURCES))
    means = {name: values[chosen].sum(axis=1) / (_SOURCES * _ITEMS_A_SOURCE) for name, values in sums.items()}
    differences = means["all"] - np.max([means[name] for name in SINGLE_FRAMES], axis=0)
    low, high = np.quantile(differences, (0.025, 0.975))
    return float(low), float(high)


def matrix() -> None:
    """Print how many pictures of each container show the frame of the stated index, at the stated time."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with ProcessPoolExecutor(2) as pool:
        for trials in pool.map(try_codec, CODECS):
            for container, outcome, number in trials:
                counts[container][outcome] += number
    outcomes = sorted({outcome for of_container in counts.values() for outcome in of_container})
    print(f"| container | {' | '.join(outcomes)} |\n|---|{'--:|' * len(outcomes)}")
    for container, of_container in counts.items():
        print(f"| {container} | {' | '.join(str(of_container[outcome]) for outcome in outcomes)} |")
    sys.exit(any("wrong" in outcome for of_container in counts.values() for outcome in of_container))


def cost(videos: Sequence[Path]) -> None:
    """Print the mean CPU seconds, those of ffmpeg among them, and bytes of a clip by condition, each made alone."""
    seconds: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[int]] = defaultdict(list)
    frames, settings = 0, StimuliSettings()
    with tempfile.TemporaryDirectory() as name:
        for video in videos:
            started = cpu_seconds()
            with ClipStimuli(video, settings, Path(name), Path(name)) as stimuli:
                seconds["decoding, once"].append(cpu_seconds() - started)
                frames += len(stimuli.clip.frames)
                for condition in ("muted", *CONDITIONS):
                    if condition not in sizes or len(sizes[condition]) < len(seconds["decoding, once"]):
                        started = cpu_seconds()
                        made = stimuli.write(video.stem, condition, video.stem)
                        seconds[condition].append(cpu_seconds() - started)
                        sizes[condition].append(made.bytes)
    print(f"{len(videos)} clips, {frames / len(videos):.0f} frames each")
    print("| condition | CPU seconds a clip | bytes a clip | hours of 10,000 clips on one core | GB of 10,000 clips |")
    print("|---|--:|--:|--:|--:|")
    for condition, of_clips in seconds.items():
        mean, size = float(np.mean(of_clips)), float(np.mean(sizes.get(condition, [0])))
        print(f"| {condition} | {mean:.3f} | {size:,.0f} | {mean * 1e4 / 3600:.2f} | {size / 1e5:.2f} |")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
