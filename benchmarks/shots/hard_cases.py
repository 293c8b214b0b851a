"""Draw hard cases: single takes under disturbances that are no boundary, and boundaries that colours hardly show.

Every case is drawn over footage of one half (`benchmarks.shots.footage`) and written beside a JSON file with its truth,
like the composed videos. Run `python benchmarks/shots/run.py --hard`.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from benchmarks.shots.footage import TAKES, Half, Reel, Take
from vttdata.media.ffmpeg_program import ffmpeg_path

WIDTH, HEIGHT, RATE, FRAMES = 640, 360, 25, 300

Picture = NDArray[np.uint8]
"""A picture in RGB, height x width x 3."""
Show = Callable[[int], Picture]
"""Function from a frame's index to its picture."""
Transitions = list[tuple[int, int, str]]
"""First and last frame and kind of each true boundary, as `benchmarks.shots.plan.Plan.truth` writes them."""
Case = Callable[[Random, "Footage"], tuple[Show, Transitions]]
_X, _Y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
_WORDS = ("the", "of", "a", "video", "shot", "frame", "light", "camera", "street", "water", "record", "result", "table")


def _limited(values: NDArray[np.float64]) -> Picture:
    return np.clip(values, 0, 255).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Footage:
    """Takes of one half, decoded into a folder."""

    takes: tuple[Take, ...]
    source: Path
    folder: Path

    def show(self, random: Random, without: str = "") -> tuple[str, Show]:
        """Return the scene of a random take and the take from a random frame on, back and forth, filling the frame."""
        take = random.choice([take for take in self.takes if take.scene != without])
        reel = Reel(take, self.source, self.folder)
        last, start = len(reel) - 1, random.randrange(len(reel))

        @cache
        def picture(index: int) -> Picture:
            y, u, v = reel.planes(index)
            flat = np.concatenate([plane.ravel() for plane in (y, u, v)]).reshape(-1, y.shape[1])
            frame = av.VideoFrame.from_ndarray(flat, format="yuv420p")
            # The bars of the letterboxed trailer stay outside.
            fill = max(WIDTH / frame.width, HEIGHT / frame.height) * (1.35 if "sintel" in take.file else 1)
            wide, high = math.ceil(frame.width * fill), math.ceil(frame.height * fill)
            large = frame.reformat(wide, high, "rgb24").to_ndarray()
            return large[(high - HEIGHT) // 2 :, (wide - WIDTH) // 2 :][:HEIGHT, :WIDTH]

        return take.scene, lambda frame: picture(last - abs(last - (start + frame) % (2 * last)))


def _spans(random: Random, shortest: float, longest: float, pause: tuple[float, float]) -> list[tuple[int, int]]:
    """Return random spans of frames, lengths and pauses between them in seconds."""
    spans, at = [], round(random.uniform(1, 2.5) * RATE)
    while at < FRAMES - 2 * RATE:
        length = min(round(random.uniform(shortest, longest) * RATE), FRAMES - RATE - at)
        spans.append((at, at + length))
        at += length + round(random.uniform(*pause) * RATE)
    return spans


def welding(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Strike an arc that flickers and dazzles; the camera closes its iris over a few frames."""
    _, take = footage.show(random)
    bursts = _spans(random, 0.2, 1.8, (0.4, 2))
    x, y, spread = (
        random.uniform(0.2, 0.8) * WIDTH,
        random.uniform(0.3, 0.8) * HEIGHT,
        random.uniform(0.06, 0.3) * WIDTH,
    )
    glow = np.exp(-((_X - x) ** 2 + (_Y - y) ** 2) / (2 * spread**2))[..., None] * (235, 245, 255)
    haze = random.uniform(0, 60) * np.array((0.8, 0.9, 1))
    iris = random.uniform(0.35, 0.8)
    flicker = [random.uniform(0.6, 1.3) for _ in range(FRAMES)]

    def show(frame: int) -> Picture:
        for first, end in bursts:
            if first <= frame < end:
                gain = 1 - (1 - iris) * min((frame - first + 1) / 3, 1)
                return _limited(take(frame) * gain + flicker[frame] * (glow + haze))
        return take(frame)

    return show, []


def light(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Switch a lamp on and off, of another colour and from one side; fluorescent ones flicker first."""
    _, take = footage.show(random)
    spans = _spans(random, 1, 4, (1, 3))
    x, y = random.uniform(-0.2, 1.2) * WIDTH, random.uniform(-0.3, 0.5) * HEIGHT
    near = np.exp(-((_X - x) ** 2 + (_Y - y) ** 2) / (2 * (random.uniform(0.5, 1.5) * WIDTH) ** 2))[..., None]
    ambient, gamma = random.uniform(0.15, 0.5), random.uniform(0.8, 1.3)
    tint = np.array((1, random.uniform(0.8, 0.95), random.uniform(0.6, 1)))
    flickers, starting = random.random() < 0.4, [random.random() < 0.5 for _ in range(FRAMES)]
    ramp = random.choice((1, 1, 2, 4))

    def show(frame: int) -> Picture:
        power = 0.0
        for first, end in spans:
            if first <= frame < end:
                is_off = flickers and frame - first < 12 and starting[frame]
                power = 0 if is_off else min((frame - first + 1) / ramp, 1)
        lit = (take(frame) / 255.0) ** gamma * (ambient + power * (0.2 + 1.1 * near) * tint)
        return _limited(255 * lit)

    return show, []


def whip(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Swing the camera over a wide scene, blurred as by an open shutter, and hold it in between."""
    stills, scene = [], ""
    for _ in range(4):
        scene, take = footage.show(random, scene)
        stills.append(take(0).astype(np.float32))
    seam, step = 120, WIDTH - 120
    wide = np.zeros((HEIGHT, WIDTH + 3 * step, 3), np.float32)
    weight = np.minimum(np.minimum(np.arange(WIDTH) + 1, WIDTH - np.arange(WIDTH)) / seam, 1)[:, None]
    total = np.zeros((wide.shape[1], 1), np.float32)
    for number, still in enumerate(stills):
        wide[:, number * step : number * step + WIDTH] += still * weight
        total[number * step : number * step + WIDTH] += weight
    wide /= total
    at, places = random.uniform(0, 3 * step), []
    while len(places) < FRAMES + 1:
        places += [at] * round(random.uniform(0.8, 2.5) * RATE)
        goal = random.choice([position for position in range(0, 3 * step, 40) if abs(position - at) > 0.7 * WIDTH])
        length = random.randint(3, 12)
        places += [at + (goal - at) * (0.5 - 0.5 * math.cos(math.pi * (k + 1) / length)) for k in range(length)]
        at = goal
    shake = random.uniform(0, 3)

    def show(frame: int) -> Picture:
        open_until = places[frame] + 0.6 * (places[frame + 1] - places[frame])
        sway = shake * math.sin(frame / 5)
        steps = np.linspace(
            places[frame] + sway, open_until + sway, max(1, min(24, int(abs(open_until - places[frame]))))
        )
        lefts = np.clip(steps.round().astype(int), 0, 3 * step)
        return _limited(np.mean([wide[:, left : left + WIDTH] for left in lefts], 0))

    return show, []


def window(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Show cut footage in a window in a corner of a take; the window comes and goes."""
    scene, take = footage.show(random)
    share = random.uniform(0.24, 0.46)
    wide, high = round(WIDTH * share), round(HEIGHT * share)
    left = random.choice((16, WIDTH - wide - 16))
    top = random.choice((12, HEIGHT - high - 12))
    first, end = random.choice(((0, FRAMES), (round(random.uniform(1, 3) * RATE), FRAMES - random.randint(0, 80))))
    inner, shown = [], scene
    while len(inner) < FRAMES:
        shown, other_take = footage.show(random, shown)
        inner += [other_take] * round(random.uniform(1, 3) * RATE)

    def show(frame: int) -> Picture:
        picture = take(frame).copy()
        if first <= frame < end:
            small = av.VideoFrame.from_ndarray(np.ascontiguousarray(inner[frame](frame)), format="rgb24")
            picture[top - 2 : top + high + 2, left - 2 : left + wide + 2] = 250
            picture[top : top + high, left : left + wide] = small.reformat(
                wide, high, interpolation="AREA"
            ).to_ndarray()
        return picture

    return show, []


def cutaway(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Cut from a take to others and back to where it goes on."""
    scene, take = footage.show(random)
    spans = [(span, footage.show(random, scene)[1]) for span in _spans(random, 0.5, 3, (0.8, 2.5))]

    def show(frame: int) -> Picture:
        for (first, end), other_take in spans:
            if first <= frame < end:
                return other_take(frame)
        return take(frame)

    return show, [(frame, frame, "cut") for span, _ in spans for frame in span]


def fade_in(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Begin in black, and cut to black before each further take; every take fades in, some in few steps."""
    scene, takes, at, transitions = "", [], 0, []
    while at < FRAMES - 4 * RATE:
        scene, take = footage.show(random, scene)
        # Half a second of black more or less decides whether it is a shot of its own.
        black = round((random.choice((0.1, 0.3, 0.8, 1.5)) if at else random.uniform(0, 0.6)) * RATE)
        length = round(random.uniform(0.4, 2) * RATE)
        bend = random.uniform(0.5, 1.5)
        if at and black > RATE / 2:
            transitions += [(at, at, "cut"), (at + black, at + black + length, "fade")]
        elif at:
            transitions.append((at, at + black + length, "fade"))
        takes.append((at, black, length, bend, take))
        at += black + length + round(random.uniform(1.5, 3) * RATE)

    def show(frame: int) -> Picture:
        first, black, length, bend, take = [entry for entry in takes if entry[0] <= frame][-1]
        share = np.clip((frame - first - black) / length, 0, 1) ** bend
        return _limited(take(frame) * share)

    return show, transitions


@cache
def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def _lines(random: Random, count: int) -> list[str]:
    return [" ".join(random.choice(_WORDS) for _ in range(random.randint(4, 11))) for _ in range(count)]


def slides(random: Random, _: Footage) -> tuple[Show, Transitions]:
    """Show pages of text in one layout; on some of them lines appear one by one."""
    paper, ink = random.choice((("white", "black"), ("#fbf7ea", "#202040"), ("#16202c", "#f0f0f0")))
    pages: list[tuple[int, Picture]] = []
    cuts, at = [], 0
    while at < FRAMES - RATE:
        title, lines = _lines(random, 1)[0], _lines(random, random.randint(3, 7))
        builds = random.random() < 0.3
        for shown in range(1, len(lines) + 1) if builds else [len(lines)]:
            page = Image.new("RGB", (WIDTH, HEIGHT), paper)
            draw = ImageDraw.Draw(page)
            draw.text((40, 24), title.title(), ink, _font(28))
            draw.line((40, 66, WIDTH - 40, 66), ink, 2)
            for number, line in enumerate(lines[:shown]):
                draw.text((56, 88 + 34 * number), f"- {line}", ink, _font(18))
            draw.text((WIDTH - 60, HEIGHT - 28), str(len(cuts) + 1), ink, _font(14))
            pages.append((at, np.asarray(page)))
            at += round((0.7 if shown < len(lines) else random.uniform(1.5, 4)) * RATE)
        cuts.append(at)
    changes = [cut for cut in cuts if cut < FRAMES - RATE]
    return lambda frame: [page for first, page in pages if first <= frame][-1], [(cut, cut, "cut") for cut in changes]


class Desktop:
    """Desktop with icons, a task bar and windows of text."""

    def __init__(self, random: Random, wallpaper: Picture) -> None:
        self._random = random
        still = random.random() < 0.5
        self._empty = Image.fromarray(wallpaper) if still else Image.new("RGB", (WIDTH, HEIGHT), "#305070")
        draw = ImageDraw.Draw(self._empty)
        draw.rectangle((0, HEIGHT - 22, WIDTH, HEIGHT), "#202428")
        for number in range(5):
            draw.rectangle(
                (12, 14 + 48 * number, 40, 42 + 48 * number), random.choice(("#d0a030", "#50a060", "#c05050"))
            )
        self._windows: list[dict[str, Any]] = []

    def act(self) -> Iterator[Picture]:
        """Do something at random, and yield the pictures until the next action."""
        random, windows = self._random, self._windows
        action = random.choice(("open", "open", "scroll", "scroll", "page", "close", "drag")) if windows else "open"
        if action == "open" and len(windows) < 4:
            self._open()
        elif action == "close":
            windows.pop()
        elif action == "page":
            windows[-1]["row"] += windows[-1]["high"] // 20
        for frame in range(round(random.uniform(0.6, 2.2) * RATE)):
            if action == "scroll" and frame < RATE and frame % 3 == 0:
                windows[-1]["row"] += 3
            if action == "drag" and frame < RATE // 2:
                windows[-1]["left"] = min(windows[-1]["left"] + 9, WIDTH - 80)
            yield self._paint()

    def _open(self) -> None:
        random = self._random
        wide, high = random.randint(200, WIDTH - 60), random.randint(140, HEIGHT - 40)
        left, top = random.randint(50, WIDTH - wide), random.randint(0, HEIGHT - 22 - high)
        paper, ink = random.choice((("white", "black"), ("white", "black"), ("#1e1e1e", "#d4d4d4")))
        self._windows.append({"left": left, "top": top, "wide": wide, "high": high, "paper": paper, "ink": ink,
                              "lines": _lines(random, 200), "row": 0, "name": random.choice(_WORDS)})  # fmt: skip

    def _paint(self) -> Picture:
        picture = self._empty.copy()
        for entry in self._windows:
            body = Image.new("RGB", (entry["wide"], entry["high"]), entry["paper"])
            draw = ImageDraw.Draw(body)
            lines = entry["lines"][entry["row"] : entry["row"] + (entry["high"] - 26) // 16]
            for row, line in enumerate(lines):
                draw.text((10, 26 + 16 * row), line, entry["ink"], _font(12))
            draw.rectangle((0, 0, entry["wide"], 18), "#e4e4e4" if entry is self._windows[-1] else "#b8b8b8")
            draw.text((8, 3), entry["name"], "black", _font(11))
            picture.paste(body, (entry["left"], entry["top"]))
        return np.asarray(picture)


def screen(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Record a desktop on which windows open, close, are dragged and scrolled."""
    desktop = Desktop(random, footage.show(random)[1](0))
    frames: list[Picture] = []
    while len(frames) < FRAMES:
        frames += desktop.act()
    return lambda frame: frames[frame], []


def damage(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Show a take; `damage_packets` damages it once it is encoded."""
    return footage.show(random)[1], []


def damage_packets(path: Path, random: Random) -> None:
    """Flip bits of some packets of a file in place, never of the first ones."""
    with av.open(str(path)) as container:
        packets = [(packet.pos, packet.size) for packet in container.demux(video=0) if packet.size and packet.pos]
    data = bytearray(path.read_bytes())
    for _ in range(random.randint(3, 6)):
        position, size = max(random.sample(packets[RATE:], 5), key=lambda packet: packet[1])
        for _ in range(random.randint(1, 6)):
            # Headers stay readable, so that decoders conceal the damage.
            data[position + min(size - 1, 24 + random.randrange(max(size // 2, 1)))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


CASES: dict[str, Case] = {
    case.__name__: case for case in (welding, light, screen, window, whip, damage, slides, fade_in, cutaway)
}
_X264 = ("-c:v", "libx264", "-preset", "faster", "-pix_fmt", "yuv420p")
_ENCODINGS = (
    ("mp4", (*_X264, "-crf", "23")),
    ("mp4", (*_X264, "-crf", "28", "-g", "50", "-keyint_min", "50", "-sc_threshold", "0")),
    ("avi", ("-c:v", "mpeg4", "-q:v", "5", "-g", "60", "-bf", "0", "-pix_fmt", "yuv420p")),
)


def _write(case: str, draw: Case, number: int, half: Half, footage: Footage, seed: int) -> Path:
    """Write one video and its truth, unless both exist."""
    random = Random(f"{seed}\0{half}\0{case}\0{number}")
    ending, options = _ENCODINGS[number % len(_ENCODINGS)]
    path = footage.folder / f"hard-{half}-{seed}-{case}-{number}.{ending}"
    truth = path.with_suffix(".json")
    if path.exists() and truth.exists():
        return path
    show, transitions = draw(random, footage)
    command = [ffmpeg_path(), "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(RATE), "-i", "pipe:0", "-threads", "1", *options, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for frame in range(FRAMES):
            process.stdin.write(np.ascontiguousarray(show(frame)).data)
        process.stdin.close()
        if process.wait():
            raise SystemExit(f"ffmpeg cannot encode {path.name}.")
    if case == "damage":
        damage_packets(path, random)
    planned = {"frames": FRAMES, "rate": RATE, "transitions": transitions, "events": [], "shots": [[0, case, ""]]}
    truth.write_text(json.dumps(planned) + "\n", "utf-8")
    return path


def write_hard_cases(
    half: Half, source: Path, folder: Path, *, seed: int, per_case: int, workers: int, cases: Mapping[str, Case]
) -> Iterator[Path]:
    """Write the hard cases of a half and yield their files, `per_case` of each."""
    folder.mkdir(parents=True, exist_ok=True)
    takes = tuple(take for take in TAKES if take.half == half and (source / take.file).exists() and take.frames > 30)
    footage = Footage(takes, source, folder)
    with ProcessPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(_write, case, draw, number, half, footage, seed)
            for case, draw in cases.items()
            for number in range(per_case)
        ]
        yield from (job.result() for job in jobs)
    for reel in folder.glob("*.yuv"):
        reel.unlink()
