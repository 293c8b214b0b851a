"""Filters are found by lying in a folder; a user's file brings its recipe key, its column and its reason."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.helpers.builds import LOOSE, account
from tests.helpers.forked import COMMANDS
from vttdata.errors import VttdataError
from vttdata.media.filters import FILTERS, REASONS, SCORES, FilterSettings, judge, load_filters, screen
from vttdata.records import Measure, Probe

BRIGHT = '''
"""Reject videos that are bright most of the time."""

from vttdata.media.base_filter import MeanFilter, SampledPicture


class Bright(MeanFilter):
    """Mean luma."""

    default = None
    limit = "highest mean luma, 0..1."
    column = "mean luma, 0..1"

    def score_picture(self, picture: SampledPicture) -> float:
        return float(picture.luma.mean() / 255)
'''
PROBE = Probe("mov", "h264", None, "yuv420p", 320, 240, 0, 25.0, 0.0, 60.0, None, 0, None, *[None] * 5)
MEASURE = Measure(1500, 60.0, 0.0, False, {"dark": 0.5, "frozen": 0.5, "blur": 0.5, "blocky": 0.5})


def run_build(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Build own-folder in a new process, since filters are found when they are first imported."""
    return COMMANDS.run(["vttdata.cli.main", "build", "own-folder", *arguments], os.environ)


def build(out: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    return run_build("--quiet", "--out", str(out), *(part for setting in settings for part in ("--set", setting)))


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "plugins" / "filters"
    folder.mkdir(parents=True)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(folder.parent))
    return folder


def test_packaged_filters_keep_their_keys_columns_and_reasons() -> None:
    assert SCORES == ("dark", "frozen", "blur", "blocky")
    assert frozenset({"too_short", "too_long", "too_small", "hdr", "interlaced", *SCORES}) == REASONS
    assert dataclasses.asdict(FilterSettings()) == {
        "min_seconds": 10.0,
        "max_seconds": None,
        "min_width": 0,
        "min_height": 0,
        "keep_hdr": True,
        "keep_interlaced": True,
        "max_dark": 0.9,
        "max_frozen": 0.8,
        "max_blur": None,
        "max_blocky": None,
        "score_only": (),
    }


def test_recipe_keys_of_filters_are_documented() -> None:
    documentation = (Path(__file__).resolve().parents[3] / "docs" / "recipe.md").read_text(encoding="utf-8")
    for key in (key for filter_class in FILTERS for key in filter_class.recipe_keys()):
        numeric = f"{key.default:g}" if isinstance(key.default, int | float) else "none"
        default = str(key.default).lower() if isinstance(key.default, bool) else numeric
        assert f"| `{key.name}` | {default} | {key.description} |" in documentation


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({}, None), ({"min_seconds": 61}, "too_short"), ({"max_seconds": 59}, "too_long"),
     ({"min_width": 321}, "too_small"), ({"min_height": 241}, "too_small")],
)  # fmt: skip
def test_container_facts_are_screened(settings: dict[str, float], reason: str | None) -> None:
    verdict = screen(PROBE, FilterSettings(**settings))
    assert (verdict and verdict[0]) == reason


def test_container_without_duration_is_not_too_short() -> None:
    assert screen(dataclasses.replace(PROBE, container_seconds=0.0), FilterSettings(min_seconds=61)) is None


def test_scores_above_their_limit_are_rejected_and_score_only_is_not() -> None:
    assert judge(MEASURE, FilterSettings()) is None
    assert judge(MEASURE, FilterSettings(max_blur=0.5)) is None
    assert judge(MEASURE, FilterSettings(max_blur=0.4)) == ("blur", "blur 0.500, at most 0.4 wanted")
    assert judge(MEASURE, FilterSettings(max_blur=0.4, score_only=("blur",))) is None


def test_contradicting_durations_are_refused() -> None:
    with pytest.raises(ValueError, match="is below min_seconds"):
        FilterSettings(min_seconds=20, max_seconds=10)


def test_filter_of_a_user_rejects_and_becomes_a_column(videos: Path, tmp_path: Path, plugins: Path) -> None:
    (plugins / "bright.py").write_text(BRIGHT)
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0"]
    assert build(tmp_path / "out", *settings).returncode == 0
    path = next((tmp_path / "out" / "dataset" / "sources").rglob("*.parquet"))
    names = pq.read_schema(path).names
    assert names[names.index("dark") :][:6] == ["dark", "frozen", "blur", "blocky", "bright", "hash_scheme"]
    scores = sorted(pq.read_table(tmp_path / "out" / "stages" / "measure" / "kept.parquet")["bright"].to_pylist())
    assert 0 < scores[0] < scores[-1] < 1
    assert "`bright`" in (tmp_path / "out" / "dataset" / "README.md").read_text()

    limit = (scores[0] + scores[-1]) / 2
    assert build(tmp_path / "out", *settings, f"filter.max_bright={limit}").returncode == 0
    assert account(tmp_path / "out")["filter"]["rejected"]["bright"] >= 1
    assert account(tmp_path / "out")["measure"]["reused"] == account(tmp_path / "out")["measure"]["parts"]
    (plugins / "bright.py").write_text(BRIGHT.replace("default = None", "default = None\n    version = 2"))
    assert build(tmp_path / "out", *settings, f"filter.max_bright={limit}").returncode == 0
    assert account(tmp_path / "out")["measure"]["reused"] == 0
    (plugins / "bright.py").unlink()
    refused = build(tmp_path / "out", *settings, f"filter.max_bright={limit}")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "max_bright: there is no such key" in refused.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [(BRIGHT + "\nx = = 1", r"bright.py:17: cannot be loaded as a filter"),
     (BRIGHT.replace("limit =", "# limit ="), r"bright.py:7: filter 'bright' does not define the attribute limit"),
     (BRIGHT.replace("score_picture", "score_frame"), r"bright.py:7: .* does not define the method score_picture"),
     (BRIGHT.replace("default = None", "default = 2"), r"bright.py:7: .* has the default 2, which is not a number"),
     ("x = 1", r"bright.py: a filter file defines one subclass of PictureFilter, not 0")],
)  # fmt: skip
def test_file_that_is_not_a_filter_is_one_sentence(plugins: Path, text: str, message: str) -> None:
    (plugins / "bright.py").write_text(text)
    with pytest.raises(VttdataError, match=message):
        list(load_filters())


def test_filter_cannot_take_the_name_of_a_column(plugins: Path) -> None:
    (plugins / "bytes.py").write_text(BRIGHT)
    with pytest.raises(VttdataError, match="filter 'bytes' cannot be a column of that name"):
        list(load_filters())


@pytest.mark.parametrize(
    ("expression", "message"),
    [('float("nan")', "filter 'bright' scored nan, which is not between 0 and 1."),
     ("1.5", "filter 'bright' scored 1.5, which is not between 0 and 1."),
     ("1 / 0", "bright.py:15: filter 'bright' failed (ZeroDivisionError: ")],
)  # fmt: skip
def test_unusable_score_stops_the_build_in_one_sentence(
    videos: Path, tmp_path: Path, plugins: Path, expression: str, message: str
) -> None:
    (plugins / "bright.py").write_text(BRIGHT.replace("float(picture.luma.mean() / 255)", expression))
    done = build(tmp_path / "out", f"collect.folder={videos}", *LOOSE)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_broken_filter_file_is_one_sentence_on_the_command_line(plugins: Path) -> None:
    (plugins / "bright.py").write_text("raise RuntimeError('no')")
    done = run_build("--set", "collect.folder=.")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "bright.py:1: cannot be loaded as a filter (RuntimeError: no)" in done.stderr
