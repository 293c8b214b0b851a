"""Datasets in the shapes in which strangers publish them, with or without one leak between splits."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
Disguise = Callable[[random.Random, str], str]

LETTERS = string.ascii_letters + string.digits + "-_"
# Words of captions; those that videos share by chance are few and short.
WORDS = [
    *("man", "woman", "child", "dog", "cat", "horse", "car", "bike", "guitar", "piano", "ball", "river", "street"),
    *("kitchen", "garden", "table", "bread", "fish", "tree", "snow", "rain", "red", "blue", "green", "small", "large"),
    *("old", "young", "quickly", "slowly", "under", "over", "near", "behind", "holding", "throwing", "cutting"),
    *("riding", "playing", "singing", "washing", "climbing", "opening", "painting"),
]
GENERIC = ("a man is talking", "someone is cooking", "a person dances", "People play.", "a cartoon")


def youtube_id(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=11))


def sentence(draw: random.Random) -> str:
    return f"{' '.join(draw.choices(WORDS, k=draw.randint(7, 12)))}."


class Foreign:
    """Rows of clips by split, each with all that a dataset may state; a shape writes some of it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.splits: dict[str, list[Row]] = {}
        for split, number in (("train", self.draw.randint(12, 25)), ("test", self.draw.randint(6, 12))):
            rows: list[Row] = []
            while len(rows) < number:
                source = youtube_id(self.draw)
                rows += [self.clip(source, part) for part in range(self.draw.randint(1, 3))]
            self.splits[split] = rows

    def clip(self, source: str, part: int = 0) -> Row:
        """Draw a clip of a source."""
        start = round(10.0 * part + self.draw.random(), 2)
        return {
            "id": f"clip_{self.draw.getrandbits(40):010x}",
            "source": source,
            "url": f"https://www.youtube.com/watch?v={source}",
            "start": start,
            "end": round(start + self.draw.uniform(3, 8), 2),
            "sha": hashlib.sha256(self.draw.randbytes(8)).hexdigest(),
            "source_sha": hashlib.sha256(source.encode()).hexdigest(),
            "phash": f"{self.draw.getrandbits(128):032x}",
            "captions": [*(sentence(self.draw) for _ in range(5)), self.draw.choice(GENERIC)],
            "copy_of": None,
        }

    def pair(self) -> tuple[Row, Row]:
        """Draw a clip of training and a fresh one, which is put into test."""
        fresh = self.clip(youtube_id(self.draw))
        self.splits["test"].insert(self.draw.randrange(len(self.splits["test"])), fresh)
        return self.draw.choice(self.splits["train"]), fresh


def disguise_id(draw: random.Random, text: str) -> str:
    return draw.choice([text.upper(), f" {text}", f"{text} ", f"{text}.mp4", f"{text.upper()}.MP4 ", f"{text}\t"])


def disguise_source(draw: random.Random, text: str) -> str:
    return draw.choice([disguise_id(draw, text), f"v_{text}", f"youtube-{text}"])


def disguise_checksum(draw: random.Random, text: str) -> str:
    return draw.choice([text, text.upper(), f" {text.upper()}", f"sha256:{text}"])


def disguise_url(draw: random.Random, video: str) -> str:
    forms = (
        "https://youtu.be/{}", "http://youtu.be/{}?t=31", "youtube.com/watch?v={}&feature=share",
        "https://m.youtube.com/watch?app=desktop&v={}", "https://www.youtube.com/embed/{}?start=3&end=9",
        "//www.youtube-nocookie.com/embed/{}", "https://youtube.com/shorts/{}?si=abcDEF", "HTTPS://WWW.YOUTUBE.COM/watch?v={}#t=3",
        "https://music.youtube.com/watch?v={}&list=RDAMVM", "https://www.youtube.com/live/{}", "https://www.youtube.com/v/{}?version=3",
        " https://www.youtube.com/watch?v={} ", "https://i.ytimg.com/vi/{}/hqdefault.jpg", "https://www.youtube.com/watch?v={}&amp;t=3s",
        "https://web.archive.org/web/20160101000000/https://www.youtube.com/watch?v={}", "https://i.ytimg.com/vi_webp/{}/0.webp",
        "http://youtube.com./watch?v={}", "https://www.youtube.com/user/x#p/u/1/{}", "https://web.archive.org/https://youtu.be/{}",
    )  # fmt: skip
    return draw.choice(forms).format(video)


def disguise_caption(draw: random.Random, text: str) -> str:
    bare = text.rstrip(".")
    return draw.choice([text, text.upper(), f" {text}", bare, f"{bare} !", text.replace(" ", "  "), text.title()])


def _copied(
    key: str, disguise: Callable[[random.Random, str], str] = lambda _, text: text
) -> Callable[[Foreign], None]:
    """Return what gives a clip of test a value of one of training, perhaps in another form."""

    def plant(f: Foreign) -> None:
        a, b = f.pair()
        b[key] = disguise(f.draw, a[key])

    return plant


def _lost_zeros(f: Foreign) -> None:
    a, b = f.pair()
    key, number = f.draw.choice(["id", "source"]), f.draw.randrange(100, 10_000)
    a[key], b[key] = f.draw.sample([f"{number:07d}", f"{number}{f.draw.choice(['', '.0', '.mp4'])}"], 2)


def _same_address(f: Foreign) -> None:
    a, b = f.pair()
    a["url"] = b["url"] = f"https://media.example.org/films/{f.draw.getrandbits(40):x}.mp4"


def _other_address(f: Foreign) -> None:
    a, b = f.pair()
    if f.draw.random() < 0.7:
        b["url"] = disguise_url(f.draw, a["source"])
        return
    number = f.draw.randrange(10**7, 10**8)
    a["url"], b["url"] = f.draw.choice(
        [
            (f"https://vimeo.com/{number}", f"https://player.vimeo.com/video/{number}?h=1"),
            (f"https://www.dailymotion.com/video/x{number:x}_title", f"https://dai.ly/x{number:x}"),
            (f"https://a.org/v/{number}.mp4?a=1&b=2", f"http://www.a.org/v/{number}.mp4?b=2&a=1&utm_source=x#t"),
            (f"https://player.bilibili.com/player.html?aid={number}", f"https://b23.tv/av{number}?vd_source=1"),
            (f"https://twitch.tv/videos/{number}?msclkid=1", f"https://player.twitch.tv/?video=v{number}"),
            (f"https://a.org/v/{number}?Expires=12&Signature=ab", f"https://a.org/v/{number}/"),
        ]
    )


def _address_and_id(f: Foreign) -> None:
    a, b = f.pair()
    b["url"], a["url"] = disguise_url(f.draw, a["source"]), None
    b["source"] = None


def _declared(f: Foreign) -> None:
    a, b = f.pair()
    a, b = f.draw.sample([a, b], 2)
    b["copy_of"] = f.draw.choice([a["id"], disguise_id(f.draw, a["id"]), a["source"]])


def _captions(f: Foreign) -> None:
    a, b = f.pair()
    number = f.draw.randint(3, 5)
    shared = [disguise_caption(f.draw, text) for text in f.draw.sample(a["captions"][:5], number)]
    b["captions"] = [*shared, *(sentence(f.draw) for _ in range(5 - number)), f.draw.choice(GENERIC)]
    f.draw.shuffle(b["captions"])


def _long_caption(f: Foreign) -> None:
    a, b = f.pair()
    long = " ".join(f.draw.choices(WORDS, k=f.draw.randint(20, 60)))
    a["captions"], b["captions"] = [long.capitalize() + "."], [disguise_caption(f.draw, long)]


def _whole_clip(f: Foreign) -> None:
    a, b = f.pair()
    b.update({key: value for key, value in a.items() if key != "source"})


def _chain(f: Foreign) -> None:
    """Connect a clip of training with one of test over a third, each link of another kind."""
    a, b = f.pair()
    third = f.clip(youtube_id(f.draw))
    f.splits["train"].append(third)
    third["url"], third["sha"] = disguise_url(f.draw, a["source"]), b["sha"]


# Kind of leak -> what it needs of a shape, and what plants it.
LEAKS: dict[str, tuple[frozenset[str], Callable[[Foreign], None]]] = {
    "same id": (frozenset({"id"}), _copied("id")),
    "disguised id": (frozenset({"id"}), _copied("id", disguise_id)),
    "zeros lost before a number": (frozenset({"id", "source"}), _lost_zeros),
    "same source": (frozenset({"source"}), _copied("source")),
    "disguised source": (frozenset({"source"}), _copied("source", disguise_source)),
    "same address": (frozenset({"url"}), _same_address),
    "other form of an address": (frozenset({"url"}), _other_address),
    "address in one split, id in the other": (frozenset({"url", "source"}), _address_and_id),
    "checksum of a clip": (frozenset({"sha"}), _copied("sha", disguise_checksum)),
    "checksum of a source": (frozenset({"source_sha"}), _copied("source_sha", disguise_checksum)),
    "fingerprint": (frozenset({"phash"}), _copied("phash")),
    "declared copy": (frozenset({"copy_of", "id", "source"}), _declared),
    "captions in bulk": (frozenset({"id", "captions"}), _captions),
    "a long caption": (frozenset({"id", "captions"}), _long_caption),
    "whole clip under another source": (frozenset({"id", "sha"}), _whole_clip),
    "over a third clip": (frozenset({"url", "sha"}), _chain),
}

HARMLESS = (
    "row numbers",
    "placeholders",
    "one page for all",
    "bare hosts",
    "base 62",
    "generic captions",
    "folders",
    "nothing",
)


def _placeholders(draw: random.Random, page: str) -> Row:
    empty = draw.choice(["", "unknown", "N/A", "null", "None", "-", "0", "#NAME?", "\\N", "Not available"])
    url = draw.choice(["", page]) + empty
    return {"source": empty, "url": url, "sha": "0" * 64, "source_sha": empty, "phash": "0" * 32, "copy_of": empty}


def add_harmless(f: Foreign, kind: str, seen: frozenset[str]) -> None:
    """Add what looks shared and is none: numbers of rows, placeholders, the page of the dataset, common captions."""
    page = f.draw.choice(["https://a.org/v/", "https://a.org/get?id=", "https://www.youtube.com/watch?v="])
    for rows in f.splits.values():
        for number, row in enumerate(rows):
            if kind == "row numbers" and "id" in seen:
                row["id"] = str(number)
            elif kind == "folders":
                row["id"] = f"{row['source'] or 'x'}/{row['id']}.mp4"
            elif kind == "placeholders":
                row.update(_placeholders(f.draw, page) if number % 2 else {"url": f"{page}{row['source']}"})
            elif kind == "one page for all" and "source" in seen:
                row["url"] = "https://github.com/lab/dataset"
            elif kind == "bare hosts":
                row["url"] = f.draw.choice(
                    ["https://www.youtube.com/", "youtube.com", "https://vimeo.com", "https://youtube.com/@channel"]
                )
            elif kind == "base 62":
                row["id"] = "".join(f.draw.choices(string.ascii_letters + string.digits, k=5))
            elif kind == "generic captions":
                row["captions"] = [*f.draw.sample(GENERIC, 2), *row["captions"][:3]]


NAMES = {
    "id": ("video_id", "clip_id", "id", "Clip Id", "file_name", "videoID", "vid"),
    "source": ("source_id", "youtube_id", "source_video_id", "ytid"),
    "url": ("url", "video_url", "Link", "youtube_url", "contentUrl"),
    "start": ("start", "start_time", "begin"),
    "end": ("end", "end_time", "end_seconds"),
    "sha": ("sha256", "checksum", "file_hash"),
    "source_sha": ("source_sha256", "source_checksum"),
    "phash": ("phash", "fingerprint", "video_hash"),
    "captions": ("caption", "text", "sentence", "description", "captions"),
    "copy_of": ("duplicate_of", "copy_of", "same_as"),
}


def write_foreign(f: Foreign, folder: Path, seen: frozenset[str]) -> Path:
    """Write the columns that are seen, and some others, in a drawn shape; return what is audited."""
    draw = f.draw
    optional = {"start", "end"} if draw.random() < 0.5 else set()
    kept = [key for key in NAMES if key in seen or key in optional or (key == "captions" and draw.random() < 0.5)]
    if not {"id", "source", "url", "captions"} & {*kept}:
        kept = ["captions", *kept]
    names = {key: draw.choice(NAMES[key]) for key in kept}
    # One row for each caption, or one with all of them.
    is_long = "captions" in kept and draw.random() < 0.5
    formats = ["json", "jsonl", "parquet", *(("csv", "tsv", "semicolon") if is_long or "captions" not in kept else ())]
    suffix = draw.choice(formats)
    by_split = {
        split: [
            {names[key]: text if key == "captions" else row[key] for key in kept}
            for row in rows
            for text in (row["captions"] if is_long else [row["captions"]])
        ]
        for split, rows in f.splits.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    spelled = draw.choice([("train", "test"), ("Training", "val"), ("train", "testing")])
    if draw.random() < 0.4:
        column = draw.choice(["split", "Split", "subset", "partition"])
        rows = [{**row, column: word} for word, own in zip(spelled, by_split.values(), strict=True) for row in own]
        draw.shuffle(rows)
        return _write(folder / "all", suffix, rows)
    shape = draw.choice(["files", "folders", "hub", "card"])
    configs = ""
    for number, (word, rows) in enumerate(zip(map(str.lower, spelled), by_split.values(), strict=True)):
        if shape == "files":
            _write(folder / word, suffix, rows)
        elif shape == "folders":
            _write(folder / word / "metadata", suffix, rows)
        elif shape == "hub":
            for shard in range(2):
                _write(folder / "data" / f"{word}-{shard:05d}-of-00002", suffix, rows[shard::2])
        else:
            path = _write(folder / f"part{number}", suffix, rows)
            configs += f"  - split: {word}\n    path: {path.name}\n"
    if configs:
        head = f"---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n{configs}---\n"
        (folder / "README.md").write_text(head)
    return folder


def _write(stem: Path, suffix: str, rows: list[Row]) -> Path:
    stem.parent.mkdir(exist_ok=True)
    if suffix == "parquet":
        path = stem.with_name(f"{stem.name}.parquet")
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif suffix in ("json", "jsonl"):
        path = stem.with_name(f"{stem.name}.{suffix}")
        text = json.dumps(rows) if suffix == "json" else "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8")
    else:
        path = stem.with_name(f"{stem.name}.{'tsv' if suffix == 'tsv' else 'csv'}")
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(
                stream, list(rows[0]), delimiter={"csv": ",", "tsv": "\t", "semicolon": ";"}[suffix]
            )
            writer.writeheader()
            writer.writerows(rows)
    return path
