from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.recipe import packaged
from vttdata.recipe.origins import Effort, all_origins, effort, find_origins, read_origins

DIGEST = "a" * 64
BLOB = "8ab686eafeb1f44702738c8b0f24f2567c36da6d"
GOOD = f"""
home: https://example.org
terms: MIT
recipes: {{tiny: {{seconds: 3, protocols: {{usual: {{test: b.csv}}}}}}}}
places:
  - at: [https://example.org/one/, https://example.org/two/]
    licence: MIT
    files:
      a b.json: {{path: data/a b.json, bytes: 5, sha256: {DIGEST}}}
      b.csv: {{git_blob: {BLOB}}}
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.yaml"
    path.write_text(text)
    return path


def test_files_have_an_address_at_every_place(tmp_path: Path) -> None:
    origins = read_origins(write(tmp_path, GOOD))
    first, second = origins.files
    assert first.addresses == ("https://example.org/one/data/a%20b.json", "https://example.org/two/data/a%20b.json")
    assert (str(first), first.bytes, first.digest, first.licence) == ("0/a b.json", 5, DIGEST, "MIT")
    assert (second.addresses[0], second.bytes, second.digest) == ("https://example.org/one/b.csv", None, BLOB)


@pytest.mark.parametrize(
    ("good", "bad", "place"),
    [
        (DIGEST, "0123", "sha256"),
        ("bytes: 5", "bytes: five", "bytes"),
        ("https://example.org/two/", "ftp://example.org/two/", "at"),
        ("b.csv: {", "../b.csv: {", "leads out"),
        (f"git_blob: {BLOB}", "optional: true", "neither sha256 nor git_blob is given"),
        ("terms: MIT", "term: MIT", "term"),
        ("test: b.csv", "test: c.csv", "c.csv"),
        ("seconds: 3", "seconds: 0", "seconds"),
    ],
)
def test_mistake_is_refused_in_one_sentence(tmp_path: Path, good: str, bad: str, place: str) -> None:
    path = write(tmp_path, GOOD.replace(good, bad))
    with pytest.raises(VttdataError) as refused:
        read_origins(path)
    assert str(path) in str(refused.value)
    assert place in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", all_origins())
def test_packaged_origins_are_of_packaged_recipes(name: str) -> None:
    origins = read_origins(all_origins()[name])
    assert set(origins.recipes) <= set(packaged.recipes())
    assert len({file.name for file in origins.files}) == len(origins.files)
    for recipe in origins.recipes:
        needs_folder = effort(recipe) is None
        assert packaged.build_command(recipe) == f"vttdata build {recipe}" + " --set annotations=FOLDER" * needs_folder


def test_effort_is_known_of_what_needs_no_file() -> None:
    assert effort("demo") == Effort(bytes=0, unknown_sizes=0, seconds=30)
    msrvtt = effort("msrvtt")
    assert msrvtt is not None
    assert msrvtt.bytes == 2594639 + 1105940 + 88899 + 68999 + 74475
    assert effort("own-folder") is None
    assert effort("flickr8k") is None
    assert find_origins("tgif") is None
