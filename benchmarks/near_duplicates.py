"""Accuracy and speed of the search for near-duplicates: families of real copies, planted copies, and at scale.

``python benchmarks/near_duplicates.py families VIDEOS`` compares all files below a folder; two files are true copies if
their names agree up to the first ``-`` or ``.``. ``planted VIDEOS`` makes edited copies of
each file and looks for them. ``scale`` draws fingerprints for 10,000 to 1,000,000 sources and finds the planted copies.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import itertools
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import MediaError
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.fingerprint import fingerprint
from vttdata.records import HASH_SCHEME, HASHES_PER_SAMPLE, HASHES_PER_SECOND, Fingerprint
from vttdata.split.near_duplicates.matches import Matches, NearDuplicate, match_sources
from vttdata.split.near_duplicates.samples import collect_samples

CAPTION = (
    "drawbox=x=iw*0.1:y=ih*0.82:w=iw*0.8:h=ih*0.12:color=black@0.7:t=fill,"
    "drawbox=x=iw*0.14:y=ih*0.85:w=iw*0.3:h=ih*0.06:color=white:t=fill,"
    "drawbox=x=iw*0.5:y=ih*0.85:w=iw*0.25:h=ih*0.06:color=white:t=fill"
)
SMALL_LOGO = "drawbox=x=iw*0.85:y=ih*0.04:w=iw*0.1:h=ih*0.1:color=white:t=fill"
# Video filter and encoder options of each edited copy; x264 at CRF 28 unless they say otherwise.
EDITS = {
    "codec (MPEG-4)": ["scale=320:-2", "-c:v", "mpeg4", "-q:v", "12"],
    "re-encoded (CRF 36)": ["scale=320:-2", "-crf", "36"],
    "scaled to 160x120": ["scale=160:120"],
    "grey": ["scale=320:-2,hue=s=0"],
    "sepia": ["scale=320:-2,colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131"],
    "contrast, brightness": ["scale=320:-2,eq=brightness=0.1:contrast=1.3:gamma=1.2"],
    "letterboxed": ["scale=320:-2,pad=iw:ih*4/3:0:(oh-ih)/2"],
    "pillarboxed": ["scale=320:-2,pad=iw*4/3:ih:(ow-iw)/2:0"],
    "12 frames a second": ["scale=320:-2,fps=12"],
    "small logo": [f"scale=320:-2,{SMALL_LOGO}"],
    "large logo (12 %)": ["scale=320:-2,drawbox=x=iw*0.5:y=ih*0.1:w=iw*0.4:h=ih*0.3:color=yellow:t=fill"],
    "caption overlaid": [f"scale=320:-2,{CAPTION}"],
    "head of 1.3 s trimmed": ["scale=320:-2,trim=start=1.3,setpts=PTS-STARTPTS"],
    "cropped 5 %": ["crop=iw*0.95:ih*0.95,scale=320:-2"],
    "cropped 10 %": ["crop=iw*0.9:ih*0.9,scale=320:-2"],
    "mirrored": ["scale=320:-2,hflip"],
    "turned by 90 degrees": ["scale=320:-2,transpose=clock"],
    "turned by 180 degrees": ["scale=320:-2,hflip,vflip"],
    "turned by 270 degrees": ["scale=320:-2,transpose=cclock"],
    "upside down": ["scale=320:-2,vflip"],
    "mirrored, turned by 90": ["scale=320:-2,transpose=clock_flip"],
    "mirrored, turned by 270": ["scale=320:-2,transpose=cclock_flip"],
    "sped up 5 %": ["scale=320:-2,setpts=PTS/1.05"],
    "sped up 25 %": ["scale=320:-2,setpts=PTS/1.25"],
    "all: crop, trim, logo, ...": [
        f"crop=iw*0.95:ih*0.95,scale=256:-2,fps=20,trim=start=0.7,setpts=PTS-STARTPTS,{SMALL_LOGO},eq=contrast=1.15",
        "-crf",
        "33",
    ],
    "the same, turned by 90": [
        f"crop=iw*0.95:ih*0.95,scale=256:-2,fps=20,trim=start=0.7,setpts=PTS-STARTPTS,{SMALL_LOGO},eq=contrast=1.15,"
        "transpose=clock",
        "-crf",
        "33",
    ],
}

FAMILY = re.compile(r"[-.]")
# Difference between two files of a family -> pattern that their names match.
KINDS = {
    "codec": r"\.\d\.",
    "size": r"-hd-.*-sd-|-longer-.*-sd-",
    "grey": "grey",
    "sepia": "sepia",
    "small logo": "small-logo",
    "large logo": "large-logo",
    "trim": r"-(19|20)-|longer",
}


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("families", "planted"):
        part = parts.add_parser(name)
        part.add_argument("folder", type=Path, help="a folder of videos")
        part.add_argument("--skip", default="broken", help="leave out folders of this name")
    part = parts.add_parser("scale")
    part.add_argument("sources", type=int, nargs="*", default=[10_000, 30_000, 100_000], help="how many sources")
    part.add_argument("--turned", type=float, default=0.0, help="share of the copies that are turned or mirrored")
    arguments = parser.parse_args()
    if arguments.part == "scale":
        with tempfile.TemporaryDirectory() as folder:
            for number in arguments.sources:
                scale(number, arguments.turned, Path(folder))
        return
    files = [path for path in sorted(arguments.folder.rglob("*.*")) if arguments.skip not in path.parts]
    families(files) if arguments.part == "families" else planted(files)


def fingerprint_files(files: list[Path]) -> dict[str, Fingerprint]:
    """Return fingerprints by file name; files that cannot be read are named and left out."""
    found = {}
    for path in files:
        try:
            found[path.name] = fingerprint(path)
        except MediaError as error:
            print(f"{path.name} is left out: {error}")
    return found


def families(files: list[Path]) -> None:
    """Compare all pairs of files, and print recall within families and everything found between them."""
    matches = match_sources(fingerprint_files(files).items())
    names = matches.samples.ids
    family = {name: FAMILY.split(name)[0] for name in names}
    found = {(pair.source_a, pair.source_b): pair for pair in matches.duplicates()}
    true = {pair for pair in itertools.combinations(names, 2) if family[pair[0]] == family[pair[1]]}
    print(f"{len(names)} files, {len(names) * (len(names) - 1) // 2} pairs, {len(true)} of one family")
    print(f"found {len(found)}: {len(true & found.keys())} true (recall {len(true & found.keys()) / len(true):.3f})")
    print(f"false: {sorted(found.keys() - true) or 'none'}; missed: {sorted(true - found.keys()) or 'none'}")
    for kind, pattern in KINDS.items():
        own = [pair for pair in sorted(true) if re.search(pattern, " ".join(pair))]
        if own:
            similar = [found[pair].similarity if pair in found else 0.0 for pair in own]
            print(f"  {kind:<12}{sum(map(bool, similar)):>4}/{len(own)}   weakest {min(similar):.2f}")
    print(f"closest pair of different families: {describe(matches.closest(family))}")


def planted(files: list[Path]) -> None:
    """Make edited copies of every file of at least four seconds, and print which are found."""
    originals = {
        name: prints
        for name, prints in fingerprint_files(files).items()
        if len(prints.hashes) >= 4 * HASHES_PER_SECOND * 32 * HASHES_PER_SAMPLE / 3
    }
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for path in files:
            if path.name in originals:
                make_copies(path, Path(folder))
        for path in sorted(Path(folder).iterdir()):
            copies[path.name] = fingerprint(path)
    matches = match_sources([*originals.items(), *copies.items()])
    found = {frozenset((pair.source_a, pair.source_b)): pair for pair in matches.duplicates()}
    print(f"{len(originals)} originals; found of each edit:")
    for number, edit in enumerate(EDITS):
        pairs = [found.get(frozenset((name, f"{name}.{number:02}.mp4"))) for name in originals]
        missed = [name for name, pair in zip(originals, pairs, strict=True) if pair is None]
        distance = np.mean([pair.distance for pair in pairs if pair]) if any(pairs) else np.nan
        print(f"  {edit:<28}{len(pairs) - len(missed):>4}/{len(pairs)}   distance {distance:.2f}   {missed or ''}")


def make_copies(path: Path, folder: Path) -> None:
    """Write every edited copy of a video in one decode."""
    command = [ffmpeg_path(), "-v", "error", "-y", "-i", str(path)]
    for number, (graph, *options) in enumerate(EDITS.values()):
        codec = [] if "-c:v" in options else ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
        quality = [] if "-crf" in options or "-q:v" in options else ["-crf", "28"]
        target = folder / f"{path.name}.{number:02}.mp4"
        command += ["-map", "0:v:0", "-an", "-vf", graph, *codec, *quality, *options, str(target)]
    subprocess.run(command, check=True)


def describe(pair: NearDuplicate | None) -> str:
    """Return a pair of sources in words."""
    if pair is None:
        return "no two pictures look alike"
    return (
        f"{pair.source_a} and {pair.source_b}, similarity {pair.similarity:.2f} (copies: 1), {pair.distance:.2f} apart"
    )


def scale(number: int, turned: float, folder: Path) -> None:
    """Print time, memory, precision and recall for drawn fingerprints, in a process with a peak of its own."""
    file = folder / f"{number}-{turned}.jsonl"
    for step in (draw_file, search_file):
        child = os.fork()
        if not child:
            step(number, turned, file)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
    file.unlink()


def draw_file(number: int, turned: float, file: Path) -> None:
    """Write a line with the name, the fingerprint and the original, if it is a copy, of each drawn source."""
    with file.open("w") as stream:
        for name, prints, original in draw_sources(number, turned):
            stream.write(f"{name} {prints.hashes} {original}\n")


def search_file(number: int, turned: float, file: Path) -> None:
    """Find the copies among drawn sources, which are read one by one as a build reads them."""
    true, samples = set(), 0

    def read() -> Iterator[tuple[str, Fingerprint]]:
        nonlocal samples
        with file.open() as stream:
            for line in stream:
                name, hashes, *original = line.split()
                true.update((first, name) for first in original)
                samples += len(hashes) * 3 // (32 * HASHES_PER_SAMPLE)
                yield name, Fingerprint(HASH_SCHEME, hashes)

    before, busy, wall = peak_memory(), time.process_time(), time.monotonic()
    with PeakDisk() as disk:
        matches: Matches = match_sources(read())
    found = {(pair.source_a, pair.source_b) for pair in matches.duplicates()}
    busy, wall = time.process_time() - busy, time.monotonic() - wall
    right = len(found & true)
    side = {name: int(name[1:]) % 2 for name in matches.samples.ids}
    closest_busy = time.process_time()
    matches.closest(side)
    closest_busy = time.process_time() - closest_busy
    digest = hashlib.sha256(repr(matches.duplicates()).encode()).hexdigest()[:16]
    print(
        f"{number:>8} sources {samples:>9} samples, turned {turned:.0%}: {busy:6.1f} CPU s of {wall:.1f}, peak "
        f"{peak_memory():5.0f} MiB (before: {before:.0f}), {disk.most / 2**20:.0f} MiB of temporary files, "
        f"{len(matches.alignments)} alignments, {len(found)} pairs ({digest}), precision "
        f"{right / max(len(found), 1):.4f}, recall {right / max(len(true), 1):.4f}; closest {closest_busy:.1f} CPU s"
    )


class PeakDisk(threading.Thread):
    """Measure, several times a second, the disk that the open files without a name of this process take (Linux)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._is_over = threading.Event()

    def __enter__(self) -> PeakDisk:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self.join()

    def run(self) -> None:
        """Keep the largest sum."""
        while not self._is_over.wait(0.2):
            taken = 0
            for name in os.listdir("/proc/self/fd"):
                with contextlib.suppress(OSError):
                    status = os.stat(f"/proc/self/fd/{name}")
                    taken += status.st_blocks * 512 if stat.S_ISREG(status.st_mode) and not status.st_nlink else 0
            self.most = max(self.most, taken)


def peak_memory() -> float:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def draw_sources(number: int, turned: float) -> Iterator[tuple[str, Fingerprint, str]]:
    """Draw fingerprints of `number` sources of 10-30 s, 2 % of them copies; yield each with the name of its original.

    Between cuts (every 2-8 s) a source changes by 6, 12 or 25 % of the bits from sample to sample, or (3 %) not at
    all; 5 % begin with one of 20 intros of 3 s and 5 % with 1 s of black. A copy has 2-20 % of its bits changed, is
    trimmed by up to 30 % at either end, and half of them lie between the original's samples in time. A share of them
    is turned or mirrored.
    """
    rng = np.random.default_rng(number)
    intros = rng.integers(1, 2**64, (20, 3 * HASHES_PER_SECOND, HASHES_PER_SAMPLE), np.uint64)
    originals: list[NDArray[np.uint64]] = []
    copies = number // 50
    for index in range(number):
        original = ""
        if index < number - copies:
            words = draw_words(rng, intros)
            if index < copies:
                originals.append(words)
        else:
            words = copy_words(rng, originals[index - (number - copies)])
            if rng.random() < turned:
                words = turn_words(words, int(rng.integers(1, 8)))
            original = f"s{index - (number - copies):07}"
        yield f"s{index:07}", as_fingerprint(words), original


def turn_words(words: NDArray[np.uint64], orientation: int) -> NDArray[np.uint64]:
    """Return the words of a copy that shows its original in an orientation of `ORIENTATIONS` but 0."""
    samples = collect_samples([("copy", as_fingerprint(words))])
    index = np.arange(len(words))
    # A transposition before one reflection is undone by a transposition before the other one.
    undone = {5: 6, 6: 5}.get(orientation, orientation)
    return np.concatenate([samples.oriented_words(index, undone), samples.oriented_words(index, undone ^ 4)], 1)


def as_fingerprint(words: NDArray[np.uint64]) -> Fingerprint:
    """Encode the words of a source's samples."""
    return Fingerprint(HASH_SCHEME, base64.b64encode(words.astype(">u8").tobytes()).decode())


def draw_words(rng: np.random.Generator, intros: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Draw the words of a source; see `draw_sources`."""
    length = int(rng.integers(10 * HASHES_PER_SECOND, 30 * HASHES_PER_SECOND + 1))
    kind = rng.random(3)
    motion = int(rng.integers(2, 5)) if kind[0] > 0.03 else 64
    steps = np.bitwise_and.reduce(rng.integers(0, 2**64, (min(motion, 8), length, HASHES_PER_SAMPLE), np.uint64), 0)
    steps = steps if motion < 64 else np.zeros_like(steps)
    cuts = (
        np.cumsum(rng.integers(2 * HASHES_PER_SECOND, 8 * HASHES_PER_SECOND, length // 4))
        if motion < 64
        else np.empty(0, np.int64)
    )
    for cut in [0, *cuts[cuts < length]]:
        steps[cut] = rng.integers(1, 2**64, HASHES_PER_SAMPLE, np.uint64)
    words = np.bitwise_xor.accumulate(steps, 0)
    if kind[1] < 0.05:
        words[: 3 * HASHES_PER_SECOND] = intros[rng.integers(len(intros))]
    elif kind[1] < 0.1:
        words[:HASHES_PER_SECOND] = 0
    return words


def copy_words(rng: np.random.Generator, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Draw the words of a copy of a source; see `draw_sources`."""
    first, last = (int(share * len(words)) for share in (rng.uniform(0, 0.3), rng.uniform(0.7, 1)))
    copy = words[first:last]
    # Half a sample later, of the bits that change, half have changed.
    if rng.random() < 0.5:
        after = np.roll(copy, -1, 0)
        copy = copy ^ ((copy ^ after) & rng.integers(0, 2**64, copy.shape, np.uint64))
    bits = rng.random((len(copy), HASHES_PER_SAMPLE, 64)) < rng.uniform(0.02, 0.2)
    noise = np.packbits(bits, axis=-1).view(np.uint64)[..., 0]
    return np.where(copy != 0, copy ^ noise, 0)


if __name__ == "__main__":
    main()
