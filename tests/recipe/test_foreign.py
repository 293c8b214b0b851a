"""A recipe from anybody names packaged things only, whatever key it uses; the rest is the user's to give."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vttdata.errors import VttdataError
from vttdata.recipe import packaged
from vttdata.recipe.published import ALLOWED, is_allowed, load_foreign_recipe

# What of a recipe is only shown, compared or counted; by hand, so that a new key has to be thought about.
SHOWN = {
    *("name", "version", "licence", "licence.*", "language", "description", "citation", "date", "allow_leaks"),
    *("columns.*", "collect.columns.*", "captions.columns.*", "captions.language", "paper.*.why"),
    *("responsible.limitations", "responsible.biases", "responsible.sensitive", "responsible.uses"),
    *("responsible.social_impact", "responsible.derived_from.*", "split.after"),
}
HOSTILE = ("/etc/passwd", "pip", "http://127.0.0.1:9/{query}")


def text_keys(schema: dict[str, Any], definitions: dict[str, Any], key: str = "") -> Iterator[str]:
    """Yield the dotted keys of a JSON schema under which any text can stand."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for option in (*schema.get("anyOf", []), *schema.get("allOf", [])):
        yield from text_keys(option, definitions, key)
    for name, inner in schema.get("properties", {}).items():
        yield from text_keys(inner, definitions, f"{key}.{name}" if key else name)
    for part in ("additionalProperties", "items"):
        if isinstance(schema.get(part), dict):
            yield from text_keys(schema[part], definitions, f"{key}.*")
    if schema.get("type") == "string" and "enum" not in schema and "const" not in schema:
        yield key


ALL_KEYS = [
    (builder, key)
    for builder in sorted(packaged.builders())
    for schema in [packaged.load_builder(builder).Recipe.model_json_schema()]
    for key in sorted({*text_keys(schema, schema.get("$defs", {}))} - {"builder"})
]


def nested(key: str, value: object) -> dict[str, Any]:
    """Return a mapping with a value under a dotted key; * is a list of one."""
    first, _, rest = key.partition(".")
    inner = nested(rest, value) if rest and rest != "*" else [value] if rest else value
    if rest in ("*", "*.*") and first in ("licence", "columns", "protocols", "queries"):
        inner = {"x": [value] if first == "queries" else {"y": value} if rest == "*.*" else value}
    return {"x" if first == "*" else first: inner}


def test_the_schemas_list_the_keys_that_are_known_to_be_dangerous() -> None:
    keys = {key for _, key in ALL_KEYS}
    assert len(keys) >= 30
    assert {
        "scorer",
        "judges.*",
        "pipeline",
        "lexicon",
        "verdicts",
        "collect.search.engine",
        "collect.js_runtime",
    } < keys
    assert {"collect.cookies", "collect.proxy", "collect.folder", "protocols.*.*", "input", "annotations"} < keys


_WATCHED = ("open", "import", "socket.connect", "socket.getaddrinfo", "subprocess.Popen")
_looked_at: list[str] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _looked_at is not None and event in _WATCHED:
        _looked_at.extend(str(argument) for argument in arguments)


@pytest.fixture(scope="module", autouse=True)
def _watching() -> None:
    # An audit hook stays for ever, so that there is one for all tests.
    sys.addaudithook(_watch)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is opened, imported and contacted during a test."""
    seen: list[str] = []
    monkeypatch.setattr(sys.modules[__name__], "_looked_at", seen)
    return seen


@pytest.mark.parametrize(("builder", "key"), ALL_KEYS)
def test_every_text_of_a_foreign_recipe_is_shown_only_or_refused(
    builder: str, key: str, tmp_path: Path, looked_at: list[str]
) -> None:
    file = tmp_path / "recipe.yaml"
    for value in HOSTILE:
        if key in SHOWN or key.startswith("fields."):
            assert is_allowed(key.replace("*", "x"), value)
            continue
        # A word here is the name of a packaged recipe, which is looked up.
        if (key, value) == ("verdicts_of", "pip"):
            continue
        with pytest.raises(VttdataError) as caught:
            load_foreign_recipe({"name": "me/x", "builder": builder} | nested(key, value), file, [])
        assert str(caught.value).startswith(f"{file}: {key.partition('.')[0]}"), caught.value
        assert "--set" in str(caught.value)
    assert not [text for text in looked_at if any(value in (text, Path(text).name) for value in HOSTILE)]


def test_the_allowlist_names_no_key_that_does_not_exist() -> None:
    keys = {key for _, key in ALL_KEYS} | {"builder"}
    choices = {key for key in ALLOWED if key not in keys}
    for key in choices:
        # A word that the type lists; the schema has it as an enumeration.
        assert any(_has(packaged.load_builder(name).Recipe, key) for name in packaged.builders()), key


def _has(model: Any, key: str) -> bool:
    schema = model.model_json_schema()
    node: Any = schema
    for step in key.split("."):
        options = [node, *node.get("anyOf", []), *node.get("allOf", [])]
        options = [schema["$defs"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in options]
        inner = [each.get("items") if step == "*" else each.get("properties", {}).get(step) for each in options]
        node = next((each for each in inner if each), None)
        if node is None:
            return False
    return True


def test_packaged_values_and_what_the_user_gives_are_taken(tmp_path: Path) -> None:
    table = tmp_path / "captions.csv"
    table.write_text("video_id,caption\na,a dog runs\n")
    raw = {"name": "me/x", "builder": "foils", "input": "give it with --set input=INPUT", "scorer": "ngram-3"}
    raw |= {"judges": ["ngram", "gpt2"], "pipeline": "en_core_web_sm", "verdicts_of": "activitynet-foil"}
    given = [f"input={table}"]
    with pytest.raises(VttdataError, match=r"judges\.1: is set to 'gpt2', .* give it with --set judges\.1=VALUE"):
        load_foreign_recipe(raw, tmp_path / "recipe.yaml", given)
    given.append("judges.1=gpt2")
    with pytest.raises(VttdataError, match="pipeline: is set to 'en_core_web_sm'"):
        load_foreign_recipe(raw, tmp_path / "recipe.yaml", given)
    recipe: Any = load_foreign_recipe(raw, tmp_path / "recipe.yaml", [*given, "pipeline=en_core_web_sm"]).recipe
    assert (recipe.scorer, recipe.judges, recipe.pipeline) == ("ngram-3", ("ngram", "gpt2"), "en_core_web_sm")


def test_a_search_contacts_only_a_site_that_the_user_names(tmp_path: Path) -> None:
    raw = {"name": "me/x", "builder": "own_videos", "collect": {"search": {"queries": {"Dr. Who": ["a", "b.c"]}}}}
    with pytest.raises(VttdataError, match=r"collect\.search: contacts a site; name it with --set"):
        load_foreign_recipe(raw, tmp_path / "recipe.yaml", [])
    recipe: Any = load_foreign_recipe(raw, tmp_path / "recipe.yaml", ["collect.search.engine=ytsearch"]).recipe
    assert recipe.collect.search.queries == {"Dr. Who": ("a", "b.c")}
    recipe = load_foreign_recipe(raw, tmp_path / "recipe.yaml", [f"collect.folder={tmp_path}"]).recipe
    assert recipe.collect.search is None


def test_a_dot_in_a_name_is_no_section(tmp_path: Path) -> None:
    raw = {"name": "me/x", "builder": "foils", "licence.pipeline": "pip"}
    with pytest.raises(VttdataError, match="licence_pipeline: is set to 'pip'"):
        load_foreign_recipe(raw, tmp_path / "recipe.yaml", [])


def test_keys_of_a_plugin_are_refused_until_they_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "builders").mkdir()
    shutil.copy(packaged.folder("builders") / "degraded.py", tmp_path / "builders" / "mine.py")
    text = (tmp_path / "builders" / "mine.py").read_text()
    (tmp_path / "builders" / "mine.py").write_text(
        text.replace("    input: str =", "    tool: str = ''\n    input: str =")
    )
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path))
    (tmp_path / "a.csv").write_text("video_id,caption\n")
    raw = {"name": "me/x", "builder": "mine", "tool": "/bin/sh"}
    given = [f"input={tmp_path / 'a.csv'}"]
    with pytest.raises(VttdataError, match="tool: is set to '/bin/sh', which is not packaged"):
        load_foreign_recipe(raw, tmp_path / "recipe.yaml", given)
    assert load_foreign_recipe(raw, tmp_path / "recipe.yaml", [*given, "tool=ffmpeg"]).recipe.model_dump()["tool"]
