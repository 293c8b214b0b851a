"""A recipe is right, or one sentence says what is wrong with it: file, key, what was found, what is allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.recipe import packaged
from vttdata.recipe.load import check_recipe, load_recipe

GOOD = """
name: someone/street-scenes
builder: own_videos
seed: 7
collect: {manifest: sources.csv}
captions: {file: captions.csv, columns: {video_id: clip, caption: text, annotator: worker}, per_clip: 20}
clips: {min_seconds: 10, max_seconds: 30}
split: {ratios: {train: 0.6, test: 0.4}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.csv").write_text("path\na.mp4\n")
    (tmp_path / "captions.csv").write_text("clip,text,worker\n")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text)
    return path


def sentence(path: Path, *overrides: str) -> str:
    with pytest.raises(VttdataError) as caught:
        load_recipe(str(path), overrides)
    return str(caught.value)


def test_recipe_becomes_typed_settings(folder: Path) -> None:
    recipe = load_recipe(str(write(folder, GOOD))).recipe
    assert recipe.name == "someone/street-scenes"
    assert recipe.clips.max_seconds == 30.0
    assert recipe.split.ratios == {"train": 0.6, "test": 0.4}
    assert recipe.captions.columns["caption"] == "text"


def test_paths_are_relative_to_the_recipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    recipe = load_recipe(str(write(folder, GOOD))).recipe
    assert recipe.collect.manifest == str(folder / "sources.csv")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("min_seconds: 10", "min_second: 10"), ["clips.min_second", "no such key", "did you mean 'min_seconds'"]),
        (("seed: 7", "sead: 7"), ["sead", "no such key", "did you mean 'seed'"]),
        (("seed: 7", "seed: seven"), ["seed", 'found "seven"', "it should be an integer"]),
        (("seed: 7", "seed: -7"), ["seed", "found -7", "greater than or equal to 0"]),
        (("min_seconds: 10", "min_seconds: '10'"), ["clips.min_seconds", 'found "10"', "it should be a number"]),
        (("min_seconds: 10", "min_seconds: -1"), ["clips.min_seconds", "found -1", "it should be greater than"]),
        (("min_seconds: 10", "min_seconds: 40"), ["clips", "40", "30"]),
        (("min_seconds: 10", "min_seconds: .nan"), ["recipe.yaml"]),
        (("builder: own_videos", "builder: own_video"), ["builder", "'own_video'", "did you mean 'own_videos'"]),
        (("builder: own_videos", "builder: gone.py"), ["builder", "gone.py", "existing"]),
        (("name: someone/street-scenes", "name: ../up"), ["name", "../up"]),
        (("name: someone/street-scenes", ""), ["name", "missing"]),
        (("{manifest: sources.csv}", "{manifest: gone.csv}"), ["collect.manifest", "gone.csv", "not an existing file"]),
        (("{manifest: sources.csv}", "{}"), ["collect", "exactly one"]),
        (("{manifest: sources.csv}", "{manifest: sources.csv, scenes: {}}"), ["collect", "exactly one"]),
        (("{manifest: sources.csv}", "sources.csv"), ["collect", 'found "sources.csv"']),
        (("test: 0.4", "test: 0.5"), ["split", "1"]),
        (("test: 0.4", "test: 1.4"), ["split.ratios.test", "found 1.4", "less than or equal to 1"]),
        (("seed: 7", "seed: 7\nseed: 8"), ["recipe.yaml: line 5: not valid YAML (the key 'seed' is duplicated)"]),
        (("seed: 7", "seed: [7"), ["not valid YAML"]),
        (("seed: 7", "seed: !!python/object/apply:os.getcwd []"), ["not valid YAML"]),
        (("seed: 7", "seed: 2020-01-01"), ["recipe.yaml"]),
        (("seed: 7", "a: &a [x]\nseed: *a"), ["aliases"]),
        (("seed: 7", "7: 8"), ["the key 7 is not a text"]),
        (("seed: 7", "licence: ''"), ["licence", "empty", "cc-by-4.0"]),
        (("seed: 7", "licence: 4"), ["licence", "found 4", "a text such as cc-by-4.0"]),
        (("seed: 7", "licence: {sound: mit}"), ["licence", "'sound'", "annotations, captions, videos"]),
        (("seed: 7", "date: 2026-02-30"), ["date", "found '2026-02-30'", "a day such as"]),
        (("seed: 7", "date: 2026"), ["date", "found 2026", "a day such as"]),
        (("seed: 7", "citation: somebody"), ["citation", 'found "somebody"', "BibTeX"]),
        (("seed: 7", "publish: {media: tape}"), ["publish.media", 'found "tape"', "'embedded'"]),
        (("seed: 7", "publish: {media: files}\nmedia: {keep: none}"), ["publish", "media.keep is none"]),
    ],
)
def test_mistake_is_one_sentence_with_file_and_key(folder: Path, change: tuple[str, str], words: list[str]) -> None:
    text = GOOD.replace(*change)
    assert text != GOOD
    message = sentence(write(folder, text))
    assert "\n" not in message
    assert "recipe.yaml" in message
    for word in words:
        assert word in message


def test_all_mistakes_are_named_at_once(folder: Path) -> None:
    mistakes = (
        *(("seed: 7", "sead: 7"), ("min_seconds: 10", "min_seconds: ten"), ("captions.csv", "nowhere.csv")),
        *(("train: 0.6, test: 0.4", "train: 6, test: x"), ("name: someone", "licence: [a]\nname: someone")),
    )
    text = GOOD
    for old, new in mistakes:
        assert old in text
        text = text.replace(old, new)
    message = sentence(write(folder, text), "media.height=tall")
    keys = ("captions.file", "sead", "clips.min_seconds", "split.ratios.train", "split.ratios.test", "licence")
    assert [message.count(f" {key}: ") for key in keys] == [1] * 6
    assert message.count("recipe.yaml: ") == 1
    assert message.endswith(' --set: media.height: found "tall"; it should be an integer.')
    assert "\n" not in message


def test_colon_without_a_space_is_told(folder: Path) -> None:
    said = sentence(write(folder, GOOD), "split.ratios={train:0.8,test:0.2}")
    assert said.startswith("--set: split.ratios.train:0.8: YAML wants a space after a colon, as in {train: 0.8, ")


@pytest.mark.parametrize(
    ("setting", "form"),
    [
        ("split.ratios=70/10/20", "a mapping of keys, such as {train: 0.65, validation: 0.05, test: 0.3}"),
        ("split.together=source", "a list, such as [source, near_duplicate]"),
        ("filter.score_only=blur", "a list, such as [one, two]"),
        ("collect.columns=clip", "a mapping of keys, such as {name: value}"),
        ("clips=5", "a mapping of keys, such as clips.min_seconds"),
    ],
)
def test_wrong_form_of_a_value_is_told_with_an_example(folder: Path, setting: str, form: str) -> None:
    assert sentence(write(folder, GOOD), setting).endswith(f"; it should be {form}.")


@pytest.mark.parametrize("text", ["", "just words", "- a\n- list", "\x00", "name: [" * 5000])
def test_recipe_that_is_not_a_mapping_is_an_error(folder: Path, text: str) -> None:
    assert "recipe.yaml" in sentence(write(folder, text))


def test_recipe_that_is_not_utf8_is_an_error(folder: Path) -> None:
    path = folder / "recipe.yaml"
    path.write_bytes(b"name: \xff\xfe")
    assert "not UTF-8" in sentence(path)


def test_override_replaces_a_key_and_is_checked_like_the_file(folder: Path) -> None:
    path = write(folder, GOOD)
    recipe = load_recipe(str(path), ["clips.max_seconds=20", "media.keep=none", "licence=mit"]).recipe
    assert (recipe.clips.max_seconds, recipe.media.keep, recipe.licence) == (20.0, "none", "mit")
    assert "clips.max_second:" in sentence(path, "clips.max_second=20")
    assert "KEY=VALUE" in sentence(path, "clips.max_seconds")
    assert "KEY=VALUE" in sentence(path, ".x=3")
    assert "made for its builder" in sentence(path, "builder=other")


def test_licence_date_and_citation_are_kept_as_written(folder: Path) -> None:
    parts = "licence: {annotations: cc-by-4.0, videos: cc0-1.0}\ndate: 2026-11-21\ncitation: '@misc{a, year = {2020}}'"
    recipe = load_recipe(str(write(folder, GOOD.replace("seed: 7", parts)))).recipe
    assert recipe.licence == {"annotations": "cc-by-4.0", "videos": "cc0-1.0"}
    assert (recipe.date, recipe.citation) == ("2026-11-21", "@misc{a, year = {2020}}")
    recipe = load_recipe(str(write(folder, GOOD)), ["date=2026-11-21", "licence.captions=mit"]).recipe
    assert (recipe.date, recipe.licence) == ("2026-11-21", {"captions": "mit"})


def test_override_of_an_exclusive_key_removes_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "videos: #1").mkdir()
    overrides = ["collect.folder=videos: #1", "collect.sleep_seconds=0"]
    recipe = load_recipe(str(write(folder, GOOD)), overrides).recipe
    assert recipe.collect.folder == "videos: #1"
    assert recipe.collect.manifest is None


def test_unknown_recipe_lists_the_known_ones() -> None:
    with pytest.raises(VttdataError, match="did you mean 'demo'"):
        load_recipe("demmo")


@pytest.mark.parametrize("name", sorted(packaged.recipes()))
def test_packaged_recipe_loads_and_opens_with_a_comment(name: str, folder: Path) -> None:
    own = {"own-list": [f"collect.manifest={folder / 'sources.csv'}"], "own-folder": [f"collect.folder={folder}"]}
    own |= {"demo": [], "msrvtt-collect": []}
    own |= {"questions": [f"annotations={folder / 'sources.csv'}"]}
    own |= {text_only: [f"input={folder / 'sources.csv'}"] for text_only in ("ranking-set", "vatex-eval")}
    loaded = load_recipe(name, own.get(name, [f"annotations={folder}"]))
    assert loaded.recipe.name in {f"vttdata/{name}", f"local/{name}"}
    assert packaged.recipes()[name].read_text().startswith("# ")


@given(
    st.dictionaries(
        st.text(max_size=20),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=20), lambda items: st.lists(items, max_size=4), max_leaves=8
        ),
        max_size=4,
    )
)
def test_any_invalid_recipe_is_one_sentence(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    import yaml

    path = tmp_path_factory.mktemp("any") / "recipe.yaml"
    path.write_text(yaml.safe_dump({"builder": "msrvtt", **value}))  # type: ignore[dict-item]
    assert sentence(path)


def test_override_replaces_an_item_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("video_id,caption\n")
    raw = {"name": "me/x", "builder": "foils", "format": "msrvtt", "annotations": str(tmp_path), "judges": ["a", "b"]}
    recipe = check_recipe(dict(raw), Path("foil"), ["judges.1=c"]).recipe
    assert recipe.model_dump()["judges"] == ("a", "c")
    with pytest.raises(VttdataError, match=r"^--set: judges"):
        check_recipe(dict(raw), Path("foil"), ["judges.2=c"])


def test_settings_without_a_file_are_checked_like_a_file() -> None:
    with pytest.raises(VttdataError, match=r"^degrade: name: is missing"):
        check_recipe({"builder": "own_videos"}, Path("degrade"))


def test_names_of_packaged_recipes_need_no_pydantic() -> None:
    code = (
        "import sys\nfrom vttdata.recipe import packaged\nassert packaged.recipes() and 'pydantic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("setting", ["license=cc0-1.0", "foils.caution=2"])
def test_unknown_key_cannot_be_set(tmp_path: Path, setting: str) -> None:
    (tmp_path / "captions.csv").write_text("video_id,caption\nv1,a cat\n")
    (tmp_path / "a.yaml").write_text("name: a/b\nbuilder: foils\ninput: captions.csv\n")
    load_recipe(str(tmp_path / "a.yaml"))
    with pytest.raises(VttdataError) as error:
        load_recipe(str(tmp_path / "a.yaml"), [setting])
    assert str(error.value).startswith(f"--set: {setting.partition('=')[0]}: there is no such key; allowed are ")


@pytest.mark.parametrize("name", ["own-folder", "own-list"])
def test_packaged_recipe_for_own_videos_differs_from_no_documented_default_unsaid(name: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("path\na.mp4\n")
    source = f"collect.manifest={tmp_path / 'list.csv'}"
    own = load_recipe(name, [source]).recipe.model_dump()
    (tmp_path / "bare.yaml").write_text("name: me/bare\nbuilder: own_videos\ncollect: {manifest: list.csv}\n")
    bare = load_recipe(str(tmp_path / "bare.yaml")).recipe.model_dump()
    different = {
        f"{section}.{key}"
        for section, values in bare.items()
        if isinstance(values, dict)
        for key, value in values.items()
        if own[section][key] != value and key != "manifest"
    }
    table = (Path(__file__).resolve().parents[2] / "docs/recipe.md").read_text()
    said = {
        f"{section}.{line.split('`')[1]}"
        for section in ("collect", "filter", "shots", "clips", "media", "captions", "split")
        for line in table.partition(f"### `{section}`")[2].partition("\n### ")[0].splitlines()
        if line.startswith("| `") and f"`{name}`" in line
    }
    assert different == said
