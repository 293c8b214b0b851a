from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
import pytest

import vttdata
from vttdata.dataset import Metadata, write_dataset
from vttdata.errors import VttdataError
from vttdata.load.integrity import verify_row_counts
from vttdata.load.load_dataset import load_dataset
from vttdata.load.local_builds import builds_folder
from vttdata.load.lookup import find_dataset
from vttdata.records import Caption, Clip


def write(folder: Path, *, version: str = "1.0.0", text: str = "a person waves") -> Path:
    clips = [Clip("v1", "s1", 0.0, 10.0, 0, 249, 1, split="test")]
    captions = [Caption("v1", 1, text)]
    about = Metadata("vttdata/demo", version=version)
    write_dataset(folder, clips=clips, captions=captions, sources=[], metadata=about, media=None)
    return folder


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network, no user's caches, no user's builds; one reader's cache for each test."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A local build of vttdata/demo 1.0.0."""
    return write(tmp_path / "home/vttdata/demo/dataset").parent


class TestLocal:
    def test_a_name_finds_the_local_build(self, build: Path) -> None:
        assert load_dataset("vttdata/demo", split="test")["captions"][:] == [["a person waves"]]
        assert load_dataset("vttdata/demo", "captions", split="test")["caption"][:] == ["a person waves"]

    def test_streaming_works_by_name(self, build: Path) -> None:
        assert next(iter(load_dataset("vttdata/demo", split="test", streaming=True)))["video_id"] == "v1"

    def test_a_rebuild_is_seen_at_once(self, build: Path) -> None:
        for text in ("a person waves", "a person sings", "a person waves"):
            write(build / "dataset", text=text)
            assert load_dataset("vttdata/demo", split="test")["captions"][:] == [[text]]

    def test_two_builds_with_one_file_layout_are_not_mixed_up(self, build: Path, tmp_path: Path) -> None:
        write(tmp_path / "home/other/demo/dataset", text="a dog barks")
        for name, text in (("vttdata", "a person waves"), ("other", "a dog barks"), ("vttdata", "a person waves")):
            assert load_dataset(f"{name}/demo", split="test")["captions"][:] == [[text]]

    def test_folders_of_builds_and_datasets_load_too(self, build: Path) -> None:
        for path in (build, build / "dataset", str(build)):
            assert load_dataset(path, split="test").num_rows == 1

    def test_relative_folders_load_though_they_look_like_names(self, tmp_path: Path) -> None:
        write(tmp_path / "out/mine")
        assert load_dataset("out/mine", split="test").num_rows == 1

    def test_other_paths_are_passed_to_datasets(self, tmp_path: Path) -> None:
        (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
        assert load_dataset("csv", data_files=str(tmp_path / "rows.csv"), split="train")[0] == {"a": 1, "b": 2}

    @pytest.mark.parametrize("revision", ["1.0.0", "v1.0.0"])
    def test_its_own_version_is_served(self, build: Path, revision: str) -> None:
        assert load_dataset("vttdata/demo", split="test", revision=revision).num_rows == 1

    def test_another_version_is_not_served_by_a_local_build(self, build: Path) -> None:
        with pytest.raises(VttdataError, match=r"no dataset 'vttdata/demo' in version 2\.0\.0"):
            load_dataset("vttdata/demo", revision="2.0.0")
        with pytest.raises(VttdataError, match=r"holds version 1\.0\.0, but 2\.0\.0 was requested"):
            load_dataset(build, revision="2.0.0")


class TestVerified:
    def test_unchanged_dataset_passes_verification(self, build: Path) -> None:
        for streaming in (False, True):
            rows = load_dataset("vttdata/demo", split="test", verify=True, streaming=streaming)
            assert [row["video_id"] for row in rows] == ["v1"]

    def test_lost_rows_are_detected(self, build: Path) -> None:
        rows = load_dataset("vttdata/demo")
        verify_row_counts(rows, build / "dataset", "vttdata/demo", None)
        with pytest.raises(VttdataError, match=r"0 rows of clips/test were loaded, but the dataset has 1"):
            verify_row_counts(rows["test"].select([]), build / "dataset", "vttdata/demo", "test")

    def test_a_missing_file_is_named(self, build: Path) -> None:
        next((build / "dataset" / "captions").iterdir()).unlink()
        with pytest.raises(VttdataError, match=r"not as it was built: captions/test-\S+: is missing; it is in"):
            load_dataset(build, verify=True)


class TestHub:
    """The Hub is played by a function that answers as `datasets.load_dataset` would."""

    @pytest.fixture
    def requests(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, Any]]:
        write(tmp_path / "hub", version="2.0.0")
        real = datasets.load_dataset
        calls: list[tuple[str, Any]] = []

        def answer(path: str, revision: Any = None, **arguments: Any) -> Any:
            calls.append((path, revision))
            return real(str(tmp_path / "hub"), **arguments)

        monkeypatch.setattr(datasets, "load_dataset", answer)
        return calls

    def test_unbuilt_dataset_comes_from_the_hub(self, requests: list[tuple[str, Any]]) -> None:
        assert load_dataset("vttdata/demo", revision="v2.0.0")["test"].num_rows == 1
        assert requests == [("vttdata/demo", "v2.0.0")]

    @pytest.mark.parametrize("arguments", [{}, {"split": "test"}, {"streaming": True}])
    def test_other_version_from_a_cache_is_refused(
        self, requests: list[tuple[str, Any]], arguments: dict[str, Any]
    ) -> None:
        with pytest.raises(VttdataError, match=r"version 1\.0\.0 was requested, but 2\.0\.0 was loaded"):
            load_dataset("vttdata/demo", revision="1.0.0", hub=True, **arguments)


class TestMissing:
    def test_error_names_searched_places_and_a_similar_name(self, build: Path, tmp_path: Path) -> None:
        with pytest.raises(VttdataError) as caught:
            load_dataset("vttdata/dmeo")
        message = str(caught.value)
        assert str(tmp_path / "home/vttdata/dmeo") in message
        assert "the Hub does not have it or cannot be reached" in message
        assert "Did you mean 'vttdata/demo'?" in message
        assert "\n" not in message

    def test_finding_follows_the_same_rules(self, build: Path, tmp_path: Path) -> None:
        for reference in ("vttdata/demo", build, build / "dataset"):
            assert find_dataset(reference) == (build / "dataset").resolve()
        (tmp_path / "empty").mkdir()
        with pytest.raises(VttdataError, match="neither a dataset folder nor a build folder"):
            find_dataset("empty")
        (tmp_path / "empty/manifest.json").write_text("{}")
        with pytest.raises(VttdataError, match="'empty' holds tables without a card and is not a dataset; a recipe"):
            find_dataset("empty")
        with pytest.raises(VttdataError, match="not a name such as"):
            find_dataset("../../nowhere/at/all")
        with pytest.raises(VttdataError, match="no local build at"):
            find_dataset("vttdata/unknown")

    def test_a_removed_build_is_gone(self, build: Path) -> None:
        load_dataset("vttdata/demo")
        shutil.rmtree(build)
        with pytest.raises(VttdataError, match="There is no dataset"):
            load_dataset("vttdata/demo", hub=True)


class TestPackage:
    def test_public_names_are_listed_before_they_are_used(self) -> None:
        code = "import sys, vttdata; assert 'datasets' not in sys.modules; print(*dir(vttdata))"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        names = set(done.stdout.split())
        assert {"build", "find_dataset", "list_datasets", "load_dataset"} <= names
        assert "importlib" not in names
        assert all(callable(getattr(vttdata, name)) for name in names - {"__version__"})

    @pytest.mark.parametrize("load", [vttdata.load_dataset, datasets.load_dataset])
    @pytest.mark.parametrize("streaming", [False, True])
    def test_info_says_what_a_dataset_is(self, tmp_path: Path, load: Any, streaming: bool) -> None:
        clips = [Clip("v1", "s1", 0.0, 10.0, 0, 249, 1, split="test")]
        captions = [Caption("v1", 1, "a person waves")]
        texts = {"description": 'Streets, "busy": yes - no.', "citation": "@article{x,\n  title={T}}"}
        licence = {"annotations": "cc-by-4.0", "captions": "mit"}
        about = Metadata("me/street", licence=licence, **texts)
        write_dataset(tmp_path / "d", clips=clips, captions=captions, sources=[], metadata=about, media=None)
        for config in ("clips", "captions"):
            info = load(str(tmp_path / "d"), config, split="test", streaming=streaming).info
            assert {"description": info.description, "citation": info.citation} == texts
            assert info.license == "annotations: cc-by-4.0, captions: mit"
        info = load(str(write(tmp_path / "other")), split="test", streaming=streaming).info
        assert (info.description, info.citation, info.license) == ("", "", "")

    def test_builds_folder_is_in_the_cache_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("VTTDATA_HOME")
        assert builds_folder() == Path.home() / ".cache/vttdata"

    def test_the_signature_is_that_of_the_reader(self) -> None:
        assert vttdata.load_dataset is load_dataset
        ours, theirs = (inspect.signature(function).parameters for function in (load_dataset, datasets.load_dataset))
        own = ("verify", "hub")
        assert all(ours[name].kind is inspect.Parameter.KEYWORD_ONLY for name in own)
        assert [(name, p.kind, p.default) for name, p in ours.items() if name not in own] == [
            (name, p.kind, p.default) for name, p in theirs.items()
        ]

    def test_unknown_names_are_attribute_errors(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'lod_dataset'"):
            vttdata.lod_dataset  # noqa: B018

    def test_importing_is_light_and_needs_nothing_of_the_build_extra(self) -> None:
        code = (
            "import sys; sys.modules.update(dict.fromkeys(['py3langid', 'av', 'pydantic', 'yt_dlp']));"
            "import vttdata, vttdata.text.captions, vttdata.text.clip_matching, vttdata.load.lookup;"
            "assert not {'datasets', 'pyarrow', 'numpy', 'huggingface_hub'} & set(sys.modules);"
            "import vttdata.dataset; assert 'datasets' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


def test_error_for_missing_dataset_names_the_build_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(VttdataError, match=r"builds it: vttdata build tgif --set annotations=FOLDER\."):
        find_dataset("vttdata/tgif")
