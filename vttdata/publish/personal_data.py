"""Find what a dataset would publish of people: names of annotators and uploaders, file names, addresses, tags.

Only what is there is listed; whether it may be public is for whoever publishes to say. Faces and voices are not looked
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.files.results import Section
from vttdata.ids import VIDEO_EXTENSIONS, is_pseudonym

# Columns of names -> how they are called, and what to do.
_NAMES = {
    "annotator": ("names of annotators", "captions.pseudonyms=FILE publishes hashes in their place"),
    "verified_by": ("names of those who verified captions", "captions.pseudonyms=FILE publishes hashes in their place"),
    "uploader": ("names of uploaders", "they stand in the list of videos or come from the site"),
    "file": ("names of original files", "rename files whose names say who is in them"),
}
_TEXTS = ("caption", "captions", "title")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TAG = re.compile(r"location|gps|xyz|make|model|author|artist|creator|owner|comment|apple|android", re.IGNORECASE)
# Tags that programs write into every file.
_PLAIN_TAGS = frozenset({"compatible_brands", "com.android.version"})
_SHOWN, _SHOWN_CHARACTERS = 3, 100


def find_personal_data(dataset: Path) -> Section:
    """Return a section that lists the personal data that the tables and the videos of a dataset folder hold."""
    found: dict[str, dict[str, None]] = {}
    for config, splits in read_layout(dataset, needs=None).files.items():
        paths = [path for files in splits.values() for path in files]
        for row in read_parquet_rows(paths, (), optional=(*_NAMES, *_TEXTS)):
            for name in _NAMES:
                if row.get(name) and not is_pseudonym(str(row[name])):
                    found.setdefault(name, {})[str(row[name])] = None
            for name in _TEXTS:
                for text in [row[name]] if isinstance(row.get(name), str) else row.get(name) or ():
                    for address in _ADDRESS.findall(text):
                        found.setdefault(f"{config}.{name}", {})[address] = None
    items = [
        f"{called}: {_examples(found.pop(name))}; {advice}."
        for name, (called, advice) in _NAMES.items()
        if name in found
    ]
    items += [f"e-mail addresses in {name}: {_examples(values)}." for name, values in found.items()]
    items += _tags_of_videos(dataset)
    nothing = "No names, addresses or tags of people were found in tables and videos."
    sentence = "This would be public:" if items else nothing
    return Section("Personal data", [sentence], items)


def _examples(values: Sequence[str] | dict[str, None]) -> str:
    shown = ", ".join(f"'{value[:_SHOWN_CHARACTERS]}'" for value in list(values)[:_SHOWN])
    return f"{len(values):,}, such as {shown}" if len(values) > _SHOWN else shown


def _tags_of_videos(dataset: Path) -> Iterator[str]:
    """Yield a line on the tags of video files that name a place, a device or a person."""
    files = [path for path in sorted(dataset.rglob("*")) if path.suffix.lower() in VIDEO_EXTENSIONS and path.is_file()]
    try:
        import av
    except ModuleNotFoundError:
        if files:
            yield "Tags of video files were not read: pip install 'vttdata[build]'."
        return
    tagged: dict[str, None] = {}
    for path in files:
        try:
            with av.open(path) as container:
                tags = {**container.metadata}
                for stream in container.streams:
                    tags |= stream.metadata
        except (av.FFmpegError, OSError):
            continue
        told = [f"{name}={value}" for name, value in tags.items() if _TAG.search(name) and name not in _PLAIN_TAGS]
        if told:
            tagged[f"{path.relative_to(dataset)}: {', '.join(told)}"] = None
    if tagged:
        yield f"tags of places, devices or people in {len(files):,} videos: {_examples(tagged)}."
