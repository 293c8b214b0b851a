"""Lexicon of nouns: forms, relations, contradictions and hostile files."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.activitynet_captions import read as read_activitynet
from vttdata.errors import VttdataError
from vttdata.text.nouns.inflect import indefinite_article, regular_plural
from vttdata.text.nouns.lexicon import check_lexicon, load_lexicon

LEXICON = load_lexicon()
NAMES = sorted(LEXICON.nouns)


def test_packaged_lexicon_has_no_contradiction_and_is_large():
    assert check_lexicon() == []
    assert len(LEXICON.nouns) >= 600
    assert len({noun.supercategory for noun in LEXICON.nouns.values()}) >= 20


def test_every_class_of_activitynet_entities_is_a_noun_or_excluded(shared: Path):
    classes = read_activitynet(shared / "data" / "activitynet").classes
    assert len(classes) == 431
    assert [name for name in classes if not LEXICON.noun(name) and name not in LEXICON.excluded] == []
    assert sum(LEXICON.noun(name) is not None for name in classes) > 270


@pytest.mark.parametrize(
    ("form", "name", "plural"),
    [
        ("sofa", "couch", False),
        ("Bikes", "bicycle", True),
        ("kids", "child", True),
        ("men", "man", True),
        ("women", "woman", True),
        ("policewomen", "policeman", True),
        ("knives", "knife", True),
        ("T-Shirts", "t-shirt", True),
        ("t shirt", "t-shirt", False),
        ("ice-cream", "ice cream", False),
        ("rubik\u2019s cube", "rubik's cube", False),
        ("fish", "fish", False),
        ("scissors", "scissors", True),
        ("tennis  balls", "tennis ball", True),
        ("berries", "berry", True),
        ("potatoes", "potato", True),
    ],
)
def test_noun_is_found_by_any_of_its_forms(form: str, name: str, plural: bool):
    found = LEXICON.noun(form)
    assert found is not None
    assert (found[0].name, found[1]) == (name, plural)


@pytest.mark.parametrize("form", ["", "top", "scene", "clip", "he", "themselves", "video", "dogss", "\x00", "-"])
def test_word_that_names_no_visible_thing_is_not_found(form: str):
    assert LEXICON.noun(form) is None


def test_mass_nouns_and_pairs_have_one_number():
    water, scissors, sheep = (LEXICON.nouns[name] for name in ("water", "scissors", "sheep"))
    assert (water.countable, water.plural) == ("mass", "water")
    assert (scissors.countable, scissors.plural) == ("pair", "scissors")
    assert (sheep.countable, sheep.plural) == ("count", "sheep")


@pytest.mark.parametrize(
    ("first", "second", "related"),
    [
        ("man", "guy", True),
        ("person", "ballerina", True),
        ("dog", "puppy", True),
        ("puppy", "animal", True),
        ("cup", "mug", True),
        ("bike", "motorcycles", True),
        ("dog", "cat", False),
        ("man", "woman", False),
        ("guitar", "piano", False),
        ("river", "pool", False),
        ("shirt", "shoe", False),
    ],
)
def test_nouns_that_may_name_the_same_thing_are_related_in_both_orders(first: str, second: str, related: bool):
    assert LEXICON.related(first, second) is related
    assert LEXICON.related(second, first) is related


def test_unknown_word_is_named_in_the_error():
    with pytest.raises(VttdataError, match="'whatnot' is not in the lexicon"):
        LEXICON.related("dog", "whatnot")


@given(st.sampled_from(NAMES))
def test_rivals_share_class_and_grammar_are_unrelated_and_symmetric(name: str):
    noun = LEXICON.nouns[name]
    for rival in LEXICON.rivals(name):
        assert (rival.supercategory, rival.countable, rival.bare) == (noun.supercategory, noun.countable, noun.bare)
        assert not LEXICON.related(name, rival.name)
        assert noun in LEXICON.rivals(rival.name)


def test_subcategories_share_rivals_and_vague_nouns_have_none(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        'version: "1"\nnouns:\n  worn/top: {shirt: {}, coat: {}}\n  worn: {shoe: {}, garment: {vague: true}}\n'
    )
    lexicon = load_lexicon(path)
    assert [noun.name for noun in lexicon.rivals("shirt")] == ["coat", "shoe"]
    assert [lexicon.nouns[name].subcategory for name in ("coat", "shoe")] == ["top", ""]
    assert lexicon.rivals("garment") == ()


def test_nearly_every_noun_has_a_rival():
    alone = [name for name in NAMES if not LEXICON.rivals(name) and not LEXICON.nouns[name].vague]
    assert len(alone) <= 10
    assert {noun.name for noun in LEXICON.rivals("dog")} >= {"cat", "horse", "bird"}
    assert "puppy" not in {noun.name for noun in LEXICON.rivals("dog")}


def _file(folder: Path, nouns: str, more: str = "") -> Path:
    path = folder / "mine.yaml"
    path.write_text(f'version: "7"\nnouns:\n  tool:\n{nouns}\n{more}', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("nouns", "sentence"),
    [
        ("    axe: {}\n  weapon:\n    axe: {}", "'axe' is in two places: a singular of 'axe' (tool)"),
        ("    axe: {synonyms: [hatchet]}\n  weapon:\n    hatchet: {}", "'hatchet' is in two places"),
        ("    axe: {}\n  other:\n    axes: {}", "'axes' is in two places: a plural of 'axe' (tool) and a singular"),
        ("    axe: {synonyms: [axe]}", "'axe' is in two places"),
        ("    pick-axe: {synonyms: [pick axe]}", "'pick axe' is in two places"),
        ("    axe: {hypernyms: [gizmo]}", "the hypernym 'gizmo' of 'axe' (tool) is not the name of a noun"),
        ("    axe: {alike: [gizmo]}", "the alike noun 'gizmo'"),
        ("    axe: {hypernyms: [axe]}", "'axe' (tool) is its own hypernym"),
        ("    a: {hypernyms: [b]}\n    b: {hypernyms: [c]}\n    c: {hypernyms: [a]}", "cycle: a > b > c > a"),
        ("    b: {}\n    a: {hypernyms: [b], alike: [b]}", "'b' is both a hypernym"),
        ("    sand: {countable: mass, plural: sands}", "'sand' (tool) is mass and has a plural, 'sands'"),
        ("    Axe: {}", "'Axe' of 'Axe' (tool) has capital letters"),
        ("    golf: {bare: true}", "stands without a determiner and is not mass"),
        ("    king: {gender: male}\n    she-king: {hypernyms: [king], gender: female}", "is not male, as its hypernym"),
    ],
)
def test_contradiction_is_found_and_refused(tmp_path: Path, nouns: str, sentence: str):
    path = _file(tmp_path, nouns)
    found = check_lexicon(path)
    assert any(sentence in contradiction for contradiction in found), found
    with pytest.raises(VttdataError) as error:
        load_lexicon(path)
    assert str(error.value).startswith(f"{path}: ")


def test_long_cycle_of_hypernyms_is_found_once_and_quickly(tmp_path: Path):
    names = [f"n{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(600)]
    nouns = "\n".join(
        f"    {name}: {{hypernyms: [{after}]}}" for name, after in zip(names, names[1:] + names[:1], strict=True)
    )
    assert sum("cycle" in sentence for sentence in check_lexicon(_file(tmp_path, nouns))) == 1


def test_excluded_word_that_is_used_is_a_contradiction(tmp_path: Path):
    path = _file(tmp_path, "    axe: {}", "excluded:\n  why: [axes]")
    assert any("'axes' is excluded and also a plural" in sentence for sentence in check_lexicon(path))


def test_extension_adds_replaces_and_removes(tmp_path: Path):
    nouns = "    theremin: {hypernyms: [tool]}\n    hammer: {synonyms: [gavel]}"
    lexicon = load_lexicon(_file(tmp_path, nouns, "extends: packaged\nexcluded:\n  mine: [guitar]"))
    assert lexicon.noun("theremins") == (lexicon.nouns["theremin"], True)
    assert lexicon.noun("gavel") is not None
    assert lexicon.noun("sledgehammer") is None
    assert lexicon.noun("guitar") is None
    assert len(lexicon.nouns) == len(LEXICON.nouns)
    assert lexicon.version.startswith(f"{LEXICON.version}+7-")


def test_extension_may_define_a_word_that_the_packaged_lexicon_excludes(tmp_path: Path):
    word = next(word for word in sorted(LEXICON.excluded) if word.isalpha() and LEXICON.noun(word) is None)
    lexicon = load_lexicon(_file(tmp_path, f"    {word}: {{}}", "extends: packaged"))
    assert lexicon.noun(word) == (lexicon.nouns[word], False)
    assert word not in lexicon.excluded


@pytest.mark.parametrize(
    ("nouns", "excluded", "sentence"),
    [
        (
            "theremin: {synonyms: [pooch]}",
            "",
            "'pooch' is in two places: a singular of 'dog' (animal, packaged) and a sing",
        ),
        ("theremin: {synonyms: [pooch]}", "", "and a singular of 'theremin' (tool)"),
        ("theremin: {hypernyms: [gizmo]}", "", "the hypernym 'gizmo' of 'theremin' (tool) is not the name of a noun"),
        (
            "theremin: {}",
            "excluded: {mine: [pooch]}",
            "'pooch' is excluded and also a singular of 'dog' (animal, packaged)",
        ),
        ("animal: {hypernyms: [dog]}", "", "the hypernyms form a cycle: "),
    ],
)
def test_contradiction_with_the_packaged_lexicon_names_the_word_and_both_nouns(
    tmp_path: Path, nouns: str, excluded: str, sentence: str
):
    path = _file(tmp_path, f"    {nouns}", f"extends: packaged\n{excluded}")
    with pytest.raises(VttdataError) as error:
        load_lexicon(path)
    assert str(error.value).startswith(f"{path}: ")
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file"),
        ("- a\n- b", "the file"),
        ('version: "1"\nnouns: {tool: {axe: {plural: 7}}}', "nouns: tool: axe: plural"),
        ('version: "1"\nextends: mine.yaml\nnouns: {}', "extends"),
        ('version: "1"\nnouns: {tool: {axe: {colour: red}}}', "nouns: tool: axe: colour"),
        ('version: "1"\nnouns: {tool: {axe: {countable: some}}}', "countable"),
        ('version: "1"\nnouns: {tool: {"../x": {}}}', "nouns: tool: ../x"),
        ('version: "1"\nnouns: {tool: {"a%s\\n": {}}}', "nouns: tool"),
        ('version: "1"\nnouns: {tool: {axe: {}, axe: {}}}', "line 2: not valid YAML (the key 'axe' is duplicated)"),
        ('version: "1"\nnouns: {tool: {no: {}}}', "the key False is not a text"),
        ("version: !!timestamp 2020-01-01\nnouns: {}", "a value that is not a text"),
        ('version: "1"\nnouns: {tool: {axe: &a {}, saw: *a}}', "aliases"),
        ('version: "1"\nnouns: {tool: !!python/object/apply:os.getcwd []}', "line 2: not valid YAML"),
        ("[" * 5000, "not valid YAML"),
        ("version: \x00", "not valid YAML"),
    ],
)
def test_hostile_file_is_refused_in_one_sentence_with_its_position(tmp_path: Path, text: str, message: str):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VttdataError) as error:
        load_lexicon(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_binary_or_huge_file_is_refused(tmp_path: Path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge").write_bytes(b" " * (5 * 2**20))
    for name, message in (
        ("missing", "cannot be read"),
        ("binary", "not UTF-8"),
        ("huge", "larger than"),
        (".", "cannot be read"),
    ):
        with pytest.raises(VttdataError, match=message):
            load_lexicon(tmp_path / name)


def test_version_changes_with_the_content(tmp_path: Path):
    version = load_lexicon(_file(tmp_path, "    axe: {}")).version
    assert version == load_lexicon(_file(tmp_path, "    axe: {}")).version
    assert version != load_lexicon(_file(tmp_path, "    saw: {}")).version


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("an", "hour umbrella honest apple 8-year-old 11 18 80 SUV suv x-ray MTV unidentified owl 1800s American"),
        (
            "a",
            "uniform one-armed unicycle user European TV tv US UFO 110 xylophone hat ukulele utensil yacht eucalyptus",
        ),
    ],
)
def test_article_follows_the_sound(article: str, words: str):
    assert {word: indefinite_article(word) for word in words.split()} == dict.fromkeys(words.split(), article)


@given(st.text())
def test_any_text_can_be_looked_up_and_gets_an_article(text: str):
    assert indefinite_article(text) in ("a", "an")
    LEXICON.noun(text)


def test_regular_plural_of_a_compound_follows_its_last_part():
    expected = {
        "box": "boxes",
        "snowman": "snowmen",
        "human": "humans",
        "pony": "ponies",
        "toy": "toys",
        "piano": "pianos",
    }
    assert {noun: regular_plural(noun) for noun in expected} == expected


def test_noun_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        LEXICON.nouns["dog"].name = "cat"
