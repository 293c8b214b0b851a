"""Measure the cost of degrading captions, and compare the published variants.

Run nothing else meanwhile. Each size runs in a separate process, on random captions of 3-30 words, 20 per source.
``donors`` prepares the captions that words are taken from, ``degrade`` runs on one core; ``MiB`` is the peak memory of
both beyond the captions. ``--msrvtt FOLDER`` uses the official sentences instead and tabulates the results of each
variant. ``--variants`` prints the rules for captions of 1 to 30 words.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import resource
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from vttdata.generate import VARIANTS, DegradeSettings, Donors, degrade
from vttdata.generate.degrade.degrade import VariantName
from vttdata.recipe import packaged
from vttdata.records import Caption, Degraded

Material = tuple[list[Caption], dict[str, str]]


def random_captions(number: int) -> Material:
    """Return random captions, 20 about each source."""
    draw = random.Random(2016)
    words = [f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{n}" for n in range(30_000)]
    captions = [
        Caption(f"video{n // 20}", n, " ".join(draw.choices(words, k=min(30, 3 + int(draw.expovariate(1 / 7))))))
        for n in range(number)
    ]
    return captions, {caption.video_id: caption.video_id for caption in captions}


def official(folder: Path) -> Material:
    """Return the sentences of MSR-VTT."""
    official_files = packaged.load_builder("msrvtt").read(folder)
    return list(official_files.captions), {clip.video_id: clip.source_id for clip in official_files.clips}


def peak() -> float:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(task: tuple[int, Path | None]) -> str:
    """Measure one size and return a line of the table of costs."""
    number, folder = task
    captions, source_of = official(folder) if folder else random_captions(number)
    before = peak()
    times = [(time.perf_counter(), time.process_time())]
    donors = Donors(captions, source_of)
    times.append((time.perf_counter(), time.process_time()))
    degraded = sum(degrade(caption, donors).flag is None for caption in captions)
    times.append((time.perf_counter(), time.process_time()))
    wall, cpu = ([late[n] - early[n] for early, late in itertools.pairwise(times)] for n in (0, 1))
    each = 1e6 * sum(cpu) / len(captions)
    return (
        f"{len(captions):>9,} {degraded:>9,} {wall[0]:>8.2f} {wall[1]:>9.2f} {sum(wall):>8.2f} {sum(cpu):>7.2f} "
        f"{each:>10.1f} {peak() - before:>6.0f}"
    )


def outcomes(folder: Path) -> None:
    """Print the outcomes of degrading MSR-VTT with each variant, in percent."""
    captions, source_of = official(folder)
    donors = Donors(captions, source_of)
    heads = ["first word", "last word", "same source", "other length", "unchanged", "as another", "flagged"]
    print(f"\n{'percent of captions':<18}" + "".join(f"{head:>13}" for head in heads))
    texts: dict[str, set[str]] = {}
    for caption in captions:
        texts.setdefault(source_of[caption.video_id], set()).add(caption.caption)
    for name in VARIANTS:
        results = (degrade(caption, donors, DegradeSettings(name)) for caption in captions)
        counts = tally(results, source_of, texts)
        print(f"{name:<18}" + "".join(f"{100 * counts[head] / len(captions):>13.3f}" for head in heads))


def tally(results: Iterable[Degraded], source_of: dict[str, str], texts: dict[str, set[str]]) -> Counter[str]:
    """Count the outcomes, such as a replaced first word or words from the same source."""
    counts: Counter[str] = Counter()
    for result in results:
        if result.caption is None or result.start is None or result.words is None:
            counts["flagged"] += 1
            continue
        before = result.original.split()
        source_id = source_of[result.video_id]
        counts["first word"] += result.start == 0
        counts["last word"] += result.start + result.words == len(before)
        counts["same source"] += source_of.get(result.donor_video_id or "") == source_id
        counts["other length"] += len(result.caption.split()) != len(before)
        counts["unchanged"] += result.flag == "unchanged"
        counts["as another"] += result.flag != "unchanged" and result.caption in texts[source_id]
    return counts


def rules() -> None:
    """Print for each length and variant the words removed, the positions of the first, and the words inserted."""
    names: list[VariantName] = list(VARIANTS)
    print("| words | " + " | ".join(names) + " |\n|" + " --- |" * (len(names) + 1))
    for length in range(1, 31):
        print(f"| {length} | " + " | ".join(rule(name, length) for name in names) + " |")
    print("| source | " + " | ".join(VARIANTS[name].source.replace("_", " ") for name in names) + " |")


def rule(name: VariantName, length: int) -> str:
    """Return a rule in the form ``4 at 1-10``."""
    variant = VARIANTS[name]
    removed = min(variant.replaced(length), length)
    if not removed:
        return "flagged"
    if length == 1 and variant.replacement_of_single_word is not None:
        return f'"{variant.replacement_of_single_word}"'
    starts, inserted = variant.starts(length, removed), variant.inserted(length)
    positions = f"{starts[0]}-{starts[-1]}" if len(starts) > 1 else f"{starts[0]}"
    return f"{removed} at {positions}" + ("" if inserted == removed else f", {inserted} inserted")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 200_000, 500_000, 1_000_000])
    parser.add_argument("--msrvtt", type=Path, metavar="FOLDER", help="folder of the official files")
    parser.add_argument("--variants", action="store_true", help="print only the rules of all variants")
    options = parser.parse_args()
    if options.variants:
        rules()
        return
    print(" captions  degraded donors s degrade s   wall s   CPU s us/caption    MiB", flush=True)
    tasks = [(0, options.msrvtt)] if options.msrvtt else [(number, None) for number in options.sizes]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for line in pool.imap(measure, tasks):
            print(line, flush=True)
    if options.msrvtt:
        outcomes(options.msrvtt)


if __name__ == "__main__":
    main()
