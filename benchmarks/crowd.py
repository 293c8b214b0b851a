"""Measure the benefit of quality control on simulated crowds with bad workers.

Each seed draws captions, HITs of 100 items as made by `make_hits`, and workers. For the number of HITs that detects a
difference see `vttdata people plan`. `--rows` times all steps on a number of judgments instead.

`--msrvtt FOLDER` simulates campaigns of captions of MSR-VTT instead, each with 2 HITs about 35 videos of the test split
and the human captions of 120. Everybody answers both HITs. Those who do not look read the texts of their HITs with
n-gram models of the training split, draw scores, or give about the same score. Those who look are told what a video
shows by its other captions: they score the share of a caption's words of four and more letters that one of them has.
"""

from __future__ import annotations

import argparse
import functools
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.caption_reader import Reader
from vttdata.people import (
    ReliabilitySettings,
    caption_scores,
    judge_workers,
    make_hits,
    reliable_only,
    significance,
    standardise,
    system_scores,
)
from vttdata.people.hits.hit_records import Hit, HitItem
from vttdata.people.scoring.power import GOOD, crowd, placeholder_hits
from vttdata.people.scoring.simulation import Behaviour, simulate
from vttdata.recipe import packaged
from vttdata.records import Caption, Judgment
from vttdata.statistics.correlation import correlate

HUMAN = "human"
MIXED: tuple[Behaviour, ...] = ("lazy", "random", "lazy", "random", "colluding")


def compare_with_truth(truth: dict[str, float], judgments: list[Judgment]) -> tuple[int, float, int]:
    """Return the pairs of systems in wrong order, Pearson's r with the truth, and false significant wins."""
    captions = caption_scores(standardise(judgments))
    systems = system_scores(captions)
    order = [system.system for system in systems]
    wrong = sum(truth[a] < truth[b] for n, a in enumerate(order) for b in order[n + 1 :])
    tested = significance(captions)
    false = sum(
        tested.wins(row, column) and truth[tested.systems[row]] < truth[tested.systems[column]]
        for row in range(len(order))
        for column in range(len(order))
    )
    return wrong, correlate([truth[name] for name in order], [system.z for system in systems]).pearson, false


def run(options: argparse.Namespace, mix: tuple[Behaviour, ...], test: str) -> None:
    """Print one line for a mix of bad workers and a test."""
    worth = {f"system{n + 1}": 35 + options.gap * n for n in range(options.systems)} | {HUMAN: 85.0}
    seen: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    sums = [[0.0] * 3, [0.0] * 3]
    for seed in range(options.seeds):
        workers = crowd(options.workers, options.bad, mix)
        hits = placeholder_hits(options.systems, options.videos, seed=seed)
        simulated = simulate(hits, worth, workers, seed=seed)
        reports = judge_workers(simulated.judgments, ReliabilitySettings(test=test))  # type: ignore[arg-type]
        seen.update(workers.values())
        passed.update(workers[report.worker] for report in reports if report.verdict == "reliable")
        kept = reliable_only(simulated.judgments, reports)
        for total, judgments in zip(sums, (list(simulated.judgments), kept), strict=True):
            for column, value in enumerate(compare_with_truth(dict(simulated.truth), judgments)):
                total[column] += value / options.seeds
    shares = ", ".join(f"{name} {passed[name] / seen[name]:.1%}" for name in dict.fromkeys([*GOOD, *mix]))
    bad, good = set(mix), set(GOOD)
    caught = 1 - sum(passed[name] for name in bad) / sum(seen[name] for name in bad)
    lost = 1 - sum(passed[name] for name in good) / sum(seen[name] for name in good)
    print(
        f"| {', '.join(dict.fromkeys(mix))} | {test} | {caught:.1%} | {lost:.1%} | {sums[0][0]:.2f} | {sums[1][0]:.2f} "
        f"| {sums[0][1]:.4f} | {sums[1][1]:.4f} | {sums[0][2]:.2f} | {sums[1][2]:.2f} | {shares} |",
        flush=True,
    )


def time_steps(rows: int) -> None:
    """Time each step on `rows` judgments, a hundred per worker."""
    worth = {f"system{n + 1}": 40.0 + 4 * n for n in range(10)} | {HUMAN: 85.0}
    judgments = simulate(placeholder_hits(10, 700), worth, crowd(rows // 100, 0.2, MIXED)).judgments
    begun = time.perf_counter()
    reports = judge_workers(judgments)
    judged = time.perf_counter()
    captions = caption_scores(standardise(reliable_only(judgments, reports)))
    scored = time.perf_counter()
    significance(captions)
    tested = time.perf_counter()
    print(
        f"{len(judgments)} judgments of {len(reports)} workers: workers judged in {judged - begun:.2f} s, "
        f"scored in {scored - judged:.2f} s, systems tested in {tested - scored:.2f} s"
    )


Scorer = Callable[[Sequence[HitItem], random.Random], list[float]]
"""Scores that somebody gives the items of a HIT."""


def score_pairs(likelihood: Callable[[str], float], sign: int = 1) -> Scorer:
    """Rate of two texts about a video that begin or end alike the likelier one (the unlikelier, if -1) higher."""

    def score(items: Sequence[HitItem], draw: random.Random) -> list[float]:
        scores = [draw.gauss(60, 15) for _ in items]
        of_video = defaultdict(list)
        for number, item in enumerate(items):
            of_video[item.video_id].append(number)
        for numbers in of_video.values():
            for first in numbers:
                for second in numbers:
                    if first < second and 2 * shared_ends(items[first].caption, items[second].caption) >= 1:
                        better = sign * (likelihood(items[first].caption) - likelihood(items[second].caption)) > 0
                        scores[first], scores[second] = (
                            draw.gauss(80 if is_better else 40, 8) for is_better in (better, not better)
                        )
        return scores

    return score


def shared_ends(first: str, second: str) -> float:
    """Return the share of words at both ends of two texts that they have in common; 0 if the texts are equal."""
    words, others = first.split(), second.split()
    if words == others:
        return 0
    shortest = min(len(words), len(others))
    front = next((n for n in range(shortest) if words[n] != others[n]), shortest)
    back = next((n for n in range(shortest - front) if words[-1 - n] != others[-1 - n]), shortest - front)
    return (front + back) / max(len(words), len(others))


def score_each(likelihood: Callable[[str], float]) -> Scorer:
    """Rate each text by the rank of the mean likelihood of its words in the HIT."""

    def score(items: Sequence[HitItem], _: random.Random) -> list[float]:
        values = [likelihood(item.caption) / (len(item.caption.split()) + 1) for item in items]
        return [100 * sum(other <= value for other in values) / len(values) for value in values]

    return score


def score_what_is_shown(captions: Mapping[str, Sequence[Caption]], behaviour: str) -> Scorer:
    """Rate a caption as somebody who knows what the video's other captions say, with the errors of a behaviour."""

    def score(items: Sequence[HitItem], draw: random.Random) -> list[float]:
        bias, scale = draw.gauss(0, 5), draw.uniform(0.85, 1.15)
        if behaviour == "biased":
            bias, scale = draw.choice((-25.0, 25.0)), 0.5
        scores = []
        for item in items:
            original = item.degraded.original if item.degraded else item.caption
            others = (caption.caption for caption in captions[item.video_id] if caption.caption != original)
            words = long_words(item.caption)
            fit = 20 + 75 * (len(words & long_words(" ".join(others))) / len(words) if words else 0.5)
            scores.append(50 + bias + scale * (fit - 50) + draw.gauss(0, 25 if behaviour == "noisy" else 8))
        return scores

    return score


def long_words(text: str) -> set[str]:
    """Return the words of four letters and more."""
    return set(re.findall("[a-z]{4,}", text.lower()))


class CampaignMaterial(NamedTuple):
    """Captions of MSR-VTT by video, sources, videos of the test split, and how those score who do not look or do."""

    captions: Mapping[str, Sequence[Caption]]
    source_of: Mapping[str, str]
    videos: Sequence[str]
    blind: Mapping[str, Scorer]
    looking: Mapping[str, Scorer]


@functools.cache
def load_material(folder: Path) -> CampaignMaterial:
    """Read the official captions, and train readers on those of the training split, which are public."""
    known = packaged.load_builder("msrvtt").read(folder)
    split = {clip.video_id: clip.split for clip in known.clips}
    captions: dict[str, list[Caption]] = defaultdict(list)
    for caption in known.captions:
        captions[caption.video_id].append(caption)
    public = [caption.caption for caption in known.captions if split[caption.video_id] == "train"]
    bigrams, trigrams = (make_likelihood(Reader(public, order)) for order in (2, 3))
    blind: dict[str, Scorer] = {
        "reads pairs, bigrams": score_pairs(bigrams),
        "reads pairs, bigrams inverted": score_pairs(bigrams, -1),
        "reads pairs, trigrams": score_pairs(trigrams),
        "reads each text, trigrams": score_each(trigrams),
        "random": lambda items, draw: [draw.uniform(0, 100) for _ in items],
        "about 70": lambda items, draw: [draw.gauss(70, 6) for _ in items],
        "always 70": lambda items, _: [70.0 for _ in items],
    }
    looking = {behaviour: score_what_is_shown(captions, behaviour) for behaviour in ("diligent", "noisy", "biased")}
    source_of = {clip.video_id: clip.source_id for clip in known.clips}
    videos = sorted(clip.video_id for clip in known.clips if clip.split == "test")
    return CampaignMaterial(captions, source_of, videos, blind, looking)


def make_likelihood(reader: Reader) -> Callable[[str], float]:
    """Return what a reader says of a text; texts recur within a campaign."""
    return functools.lru_cache(2_000)(lambda text: sum(reader.log_probabilities(text)))


def simulate_campaign(folder: Path, number: int) -> dict[tuple[str, bool], bool]:
    """Return (kind of worker, whether it is known what was shown) -> whether the verdict of a campaign is reliable."""
    material, draw = load_material(folder), random.Random(number)
    answers = answer_hits(draw_hits(material, draw), {**material.blind, **material.looking}, draw)
    told = [tell_shown(answer, draw, looks=answer.worker in material.looking) for answer in answers]
    return {
        (report.worker, is_known): report.verdict == "reliable"
        for is_known, judgments in ((False, answers), (True, told))
        for report in judge_workers(judgments)
    }


def simulate_campaigns(folder: Path, campaigns: int, processes: int) -> None:
    """Print for each kind of worker the share of campaigns in which the verdict is reliable."""
    kept: Counter[tuple[str, bool]] = Counter()
    # Forked processes have what their parent has read.
    load_material(folder)
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        for verdicts in pool.map(functools.partial(simulate_campaign, folder), range(campaigns), chunksize=5):
            kept.update(verdicts)
    print("| worker | kept, shown is not known or claimed | kept, shown is known |\n|---|--:|--:|")
    for worker in dict.fromkeys(worker for worker, _ in kept):
        print(f"| {worker} | {kept[worker, False] / campaigns:.3f} | {kept[worker, True] / campaigns:.3f} |")


def draw_hits(material: CampaignMaterial, draw: random.Random) -> Sequence[Hit]:
    """Make the HITs of four systems: people's captions, in one to four sixths of cases about another video."""
    videos = draw.sample(material.videos, 120)
    human: list[Caption] = []
    systems: dict[str, dict[str, str]] = {f"system{number}": {} for number in range(1, 5)}
    for place, video in enumerate(videos):
        order = draw.sample(material.captions[video], len(material.captions[video]))
        human += order[4:]
        if place < 35:
            for number, (caption, texts) in enumerate(zip(order[:4], systems.values(), strict=True), start=1):
                other = material.captions[draw.choice(videos)][0]
                texts[video] = (other if draw.random() < number / 6 else caption).caption
    return make_hits(systems, human, material.source_of, seed=draw.randrange(2**31)).hits


def answer_hits(hits: Sequence[Hit], scorers: Mapping[str, Scorer], draw: random.Random) -> list[Judgment]:
    """Return the answers of one worker of each kind to all HITs."""
    answers = []
    for worker, score in scorers.items():
        for hit in hits:
            for place, (item, value) in enumerate(zip(hit.items, score(hit.items, draw), strict=True)):
                shown = item.item, item.video_id, item.system, item.kind
                answers.append(Judgment(hit.hit, worker, *shown, min(max(round(value), 0), 100), place))
    return answers


def tell_shown(judgment: Judgment, draw: random.Random, *, looks: bool) -> Judgment:
    """Return a judgment with the share of the video that was shown: none, or somewhere above three tenths."""
    return replace(judgment, shown=draw.uniform(0.3, 1) if looks else 0.0)


def main() -> None:
    """Print a table, or the times of the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--gap", type=float, default=3.0, help="points of 0..100 between neighbouring systems")
    parser.add_argument("--videos", type=int, default=70)
    parser.add_argument("--workers", type=int, default=40, help="each answers one HIT")
    parser.add_argument("--bad", type=float, default=0.2, help="share of bad workers")
    parser.add_argument("--rows", type=int, help="time the steps on this number of judgments")
    parser.add_argument("--msrvtt", type=Path, metavar="FOLDER", help="simulate campaigns of its official captions")
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    if options.msrvtt:
        simulate_campaigns(options.msrvtt, options.campaigns, options.processes)
        return
    if options.rows:
        time_steps(options.rows)
        return
    print(
        "| bad workers | test | bad caught | good lost | swapped pairs, all | swapped, controlled | r, all "
        "| r, controlled | false wins, all | false wins, controlled | share that passes |"
    )
    print("|" + " --- |" * 11)
    for mix, test in [
        (MIXED, "paired_t"),
        (MIXED, "wilcoxon"),
        (MIXED, "mann_whitney"),
        (("random",), "paired_t"),
        (("lazy",), "paired_t"),
        (("colluding",), "paired_t"),
    ]:
        run(options, mix, test)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
