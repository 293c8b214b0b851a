"""Write the three files that a benchmark consists of: builder, recipe and test, which work and wait to be changed."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from vttdata.errors import VttdataError
from vttdata.files.output_file import make_output_folder, write_whole
from vttdata.recipe import packaged

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_MAX_NAME_LENGTH = 60

_BUILDER = '''"""$title (TODO: Authors, VENUE YEAR): TODO: what the benchmark holds, in one sentence.

TODO: the official files, their columns or keys, and in which unit times are. Say where the format is described.
"""

from __future__ import annotations

import io
from pathlib import Path

from vttdata.annotations import Annotations
from vttdata.annotations.files import choose_files, read_text
from vttdata.annotations.model import SPLITS
from vttdata.annotations.record_collector import RecordCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, parse_table

# What a file is for -> its name in lower case; * and ? as in a shell.
_FILES = {"captions": "$file.csv"}
_COLUMNS = Columns(names := ("video_id", "source_id", "start", "end", "split", "caption"), [(name,) for name in names])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the official files.

    Returns:
        One clip for each row, in the order of the file. Nothing is corrected or dropped.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape.
    """
    records = RecordCollector(language)
    file = choose_files(folder, _FILES)["captions"]
    text = read_text(file, records.checksums)
    for line, row in parse_table(str(file), ".csv", io.StringIO(text, newline=""), _COLUMNS):
        location = f"{file}:{line}"
        if row["split"] not in SPLITS:
            raise VttdataError(f"{location}: unknown split {str(row['split'])[:60]!a}.")
        try:
            start, end = float(row["start"]), float(row["end"])
        except (TypeError, ValueError) as error:
            raise VttdataError(f"{location}: start and end should be numbers of seconds.") from error
        clip = records.add_clip(
            file,
            row["video_id"] or "",
            row["source_id"] or "",
            start,
            end,
            split=SPLITS[row["split"]],
            location=location,
        )
        records.add_caption(file, clip.video_id, row["caption"] or "")
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
'''

_RECIPE = """\
# $title from TODO: its official files: vttdata build $recipe --set annotations=FOLDER
# TODO: authors, venue, year. The folder holds $file.csv.
name: me/$recipe
builder: $module
version: 1.0.0
description: >-
  TODO: what the benchmark holds, in one or two sentences.
citation: |
  @inproceedings{TODO,
    title = {TODO},
    year = {TODO}
  }
"""

_TEST = '''"""$title: small files in the official format."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.recipe.packaged import load_builder

HEAD = "video_id,source_id,start,end,split,caption\\n"
ROWS = "a_0_10,a,0,10,train,a man runs\\nb_5_9,b,5,9.5,test,a dog barks\\n"


def test_clips_and_captions_are_read_completely(tmp_path: Path) -> None:
    (tmp_path / "$file.csv").write_text(HEAD + ROWS)
    $module = load_builder("$module").read(tmp_path)
    # TODO: the published counts, and the first and the last item.
    assert [(clip.video_id, clip.start, clip.end, clip.split) for clip in $module.clips] == [
        ("a_0_10", 0.0, 10.0, "train"),
        ("b_5_9", 5.0, 9.5, "test"),
    ]
    assert [caption.caption for caption in $module.captions] == ["a man runs", "a dog barks"]
    assert $module.findings == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("video_id,source_id\\n", "there is no column"),
        (HEAD + "a,a,x,1,test,a man\\n", "csv:2: start and end should be numbers"),
        (HEAD + "../a,a,0,1,test,a man\\n", "csv:2: '../a' is not a usable id"),
    ],
)
def test_damaged_file_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "$file.csv").write_text(text)
    with pytest.raises(VttdataError, match=words):
        load_builder("$module").read(tmp_path)
'''


def write_benchmark(name: str, folder: Path) -> list[Path]:
    """Write ``builders/NAME.py``, ``recipes/NAME.yaml`` and ``tests/builders/test_NAME.py``, and return their paths.

    They read a table ``NAME.csv`` and pass their own tests. The name is of lower-case letters, digits, ``-`` and ``_``;
    the folder is a checkout of this project, or the one that ``VTTDATA_PLUGINS`` names.

    Raises:
        VttdataError: when the name is not usable or taken, or another file exists; nothing is written then.
    """
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME_LENGTH:
        raise VttdataError(
            f"{name[:80]!a} cannot name a benchmark; use lower-case letters, digits, - and _, such as tiny-talks."
        )
    recipe, module = name.replace("_", "-"), name.replace("-", "_")
    title = recipe.replace("-", " ").title()
    texts = {
        path: Template(text).substitute(title=title, recipe=recipe, module=module, file=recipe)
        for path, text in (
            (folder / "builders" / f"{module}.py", _BUILDER),
            (folder / "recipes" / f"{recipe}.yaml", _RECIPE),
            (folder / "tests" / "builders" / f"test_{module}.py", _TEST),
        )
    }
    # An interrupted run leaves some of the files, as they are written here; the same command writes the others.
    missing = [path for path in texts if not path.exists()]
    if any(path.read_bytes() != text.encode() for path, text in texts.items() if path.is_file()) or not missing:
        existing = next(path for path in texts if path.exists())
        raise VttdataError(f"{existing}: exists already; choose another name or folder.")
    if len(missing) == len(texts) and (recipe in packaged.recipes() or module in packaged.builders()):
        raise VttdataError(f"There is a benchmark '{recipe}' already; choose another name.")
    for path in missing:
        make_output_folder(path.parent)
        write_whole(path, texts[path])
    return list(texts)
