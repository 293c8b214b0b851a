"""Near-duplicates: which sources are copies, independently of their order and number."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.near_duplicates import draw_sources
from tests.helpers.films import RATE, edit, encode, write_film
from vttdata.errors import VttdataError
from vttdata.media.fingerprint import fingerprint
from vttdata.pipeline.stages.split import NearDuplicates
from vttdata.records import HASH_SCHEME, Fingerprint, Source
from vttdata.split.near_duplicates import candidates, samples
from vttdata.split.near_duplicates.candidates import find_candidates, measured_recall
from vttdata.split.near_duplicates.matches import NearDuplicate, match_sources
from vttdata.split.near_duplicates.samples import collect_samples

Words = np.ndarray


def fingerprint_of(words: Words) -> Fingerprint:
    return Fingerprint(HASH_SCHEME, base64.b64encode(words.astype(">u8").tobytes()).decode())


def draw_words(seed: int, samples: int = 40) -> Words:
    """Draw words of a source with a cut every three seconds and an eighth of the bits changing every half second."""
    rng = np.random.default_rng(seed)
    steps = np.bitwise_and.reduce(rng.integers(0, 2**64, (3, samples, 4), np.uint64))
    steps[::6] = rng.integers(1, 2**64, (len(steps[::6]), 4), np.uint64)
    return np.bitwise_xor.accumulate(steps)


def add_noise(words: Words, share: float, seed: int = 0) -> Words:
    bits = np.random.default_rng(seed).random((len(words), 4, 64)) < share
    return words ^ np.packbits(bits, axis=-1).view(np.uint64)[..., 0]


def turn(words: Words, orientation: int) -> Words:
    """Return words that become the given ones in an orientation."""
    turned = collect_samples([("a", fingerprint_of(words))])
    # Only the combinations of transposition with a reflection are not their own inverse.
    inverse = {5: 6, 6: 5}.get(orientation, orientation)
    halves = [turned.oriented_words(np.arange(len(words)), inverse ^ swap) for swap in (0, 4)]
    return np.concatenate(halves, 1)


def find_pairs(**sources: Words) -> list[NearDuplicate]:
    return match_sources((name, fingerprint_of(words)) for name, words in sources.items()).duplicates()


def ids_of(pairs: list[NearDuplicate]) -> set[tuple[str, str]]:
    return {(pair.source_a, pair.source_b) for pair in pairs}


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fingerprint]:
    """Fingerprint two unrelated films, edited copies of the first, and black, flat and still films."""
    folder = tmp_path_factory.mktemp("films")
    original = write_film(folder / "one.mp4", 1)
    edits = {
        "codec": ("null", "-c:v", "mpeg4", "-q:v", "8"),
        "scaled": ("scale=96:96",),
        "grey": ("hue=s=0",),
        "letterboxed": ("pad=iw:ih*4/3:0:(oh-ih)/2",),
        "mirrored": ("hflip",),
        "captioned": ("drawbox=x=iw*0.1:y=ih*0.8:w=iw*0.8:h=ih*0.14:color=black:t=fill",),
        "trimmed": ("trim=start=2,setpts=PTS-STARTPTS",),
        "quarter turn": ("transpose=clock",),
        "half turn": ("hflip,vflip,scale=96:96",),
        "three quarters": ("hue=s=0,transpose=cclock,drawbox=x=iw*0.8:y=0:w=iw*0.15:h=ih*0.1:color=white:t=fill",),
        "reflection": ("vflip,pad=iw:ih*4/3:0:(oh-ih)/2",),
        "transposed": ("trim=start=1,setpts=PTS-STARTPTS,transpose=cclock_flip",),
        "anti-transposed": ("transpose=clock_flip", "-c:v", "mpeg4", "-q:v", "8"),
    }
    paths = {name: edit(original, folder / f"{name}.mp4", *how) for name, how in edits.items()}
    paths |= {"one": original, "two": write_film(folder / "two.mp4", 2)}
    still = np.random.default_rng(3).normal(110, 50, (2, 9, 16, 3)).repeat(10, 1).repeat(10, 2)
    for name, picture in (("black", still[:1] * 0), ("dark", still[:1] * 0), ("still", still[:1]), ("calm", still[1:])):
        paths[name] = encode(folder / f"{name}.mp4", picture.repeat(8 * RATE, 0))
    return {name: fingerprint(path) for name, path in paths.items()}


# Whether each copy is mirrored, and by how many degrees it is then turned clockwise.
ORIENTATIONS = {
    "mirrored": (True, 0),
    "quarter turn": (False, 90),
    "half turn": (False, 180),
    "three quarters": (False, 270),
    "reflection": (True, 180),
    "transposed": (True, 270),
    "anti-transposed": (True, 90),
}
COPIES = {"one", "codec", "scaled", "grey", "letterboxed", "captioned", "trimmed", *ORIENTATIONS}


def test_edited_copies_match_each_other_and_nothing_else_does(films: dict[str, Fingerprint]) -> None:
    pairs = ids_of(match_sources(films.items()).duplicates())
    assert pairs == {(a, b) for a in COPIES for b in COPIES if a < b}


def test_offset_of_a_trimmed_copy_is_found(films: dict[str, Fingerprint]) -> None:
    (pair,) = match_sources((name, films[name]) for name in ("one", "trimmed")).duplicates()
    assert (pair.source_a, pair.source_b) == ("one", "trimmed")
    assert pair.offset_seconds == pytest.approx(-2, abs=0.25)
    assert pair.start_seconds == pytest.approx(2, abs=0.5)
    assert pair.overlap_seconds == pytest.approx(6, abs=1)
    assert not pair.mirrored


@pytest.mark.parametrize("name", ORIENTATIONS)
def test_turn_of_a_copy_is_reported(films: dict[str, Fingerprint], name: str) -> None:
    # In the order of ids, "one" is the first source of one pair and the second of the other.
    for original in ("0", "~"):
        (pair,) = match_sources([(original, films["one"]), (name, films[name])]).duplicates()
        mirrored, rotation = ORIENTATIONS[name]
        turned_back = rotation if mirrored else -rotation % 360
        assert (pair.mirrored, pair.rotation) == (mirrored, rotation if original == "0" else turned_back)


def test_excerpt_of_a_longer_source_is_found_with_its_position() -> None:
    whole = draw_words(1, 400)
    (pair,) = find_pairs(
        a=whole, b=np.concatenate([draw_words(2, 30), add_noise(whole[100:130], 0.1), draw_words(3, 50)])
    )
    assert (pair.offset_seconds, pair.speed) == (-35, 1)
    assert pair.start_seconds == pytest.approx(50, abs=1)
    assert pair.overlap_seconds == pytest.approx(15, abs=1)
    assert pair.distance == pytest.approx(0.1, abs=0.03)


def test_copy_at_another_speed_is_found_with_its_speed() -> None:
    slow = draw_words(4, 200)
    fast = slow[np.rint(np.arange(190) * 1.05).astype(int)]
    (pair,) = find_pairs(a=slow, b=fast)
    assert pair.speed == pytest.approx(1 / 1.05, abs=0.001)
    assert pair.offset_seconds == pytest.approx(0, abs=0.5)
    assert pair.overlap_seconds > 90


def test_shared_intro_makes_copies_only_from_five_seconds_on() -> None:
    for seconds, expected in ((3, set()), (6, {("a", "b")})):
        intro = draw_words(5, 2 * seconds)
        pairs = find_pairs(a=np.concatenate([intro, draw_words(6)]), b=np.concatenate([intro, draw_words(7)]))
        assert ids_of(pairs) == expected


def test_short_sources_must_share_half() -> None:
    short = draw_words(8, 8)
    assert ids_of(find_pairs(a=short, b=np.concatenate([short[:5], draw_words(9, 3)]))) == {("a", "b")}


@pytest.mark.parametrize("black", [0, 40])
def test_black_sources_match_nothing(black: int) -> None:
    assert find_pairs(a=np.zeros((black, 4), np.uint64), b=np.zeros((black, 4), np.uint64), c=draw_words(1)) == []


def test_still_picture_matches_only_nearly_equal_ones() -> None:
    picture = draw_words(10, 1).repeat(60, 0)
    other = add_noise(picture[:1], 0.15).repeat(60, 0)
    assert ids_of(find_pairs(a=picture, b=picture, c=other)) == {("a", "b")}


@settings(max_examples=10)
@given(data=st.data())
def test_result_is_independent_of_source_order(data: st.DataObject) -> None:
    seeds = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=2, max_size=8))
    sources = [
        (f"s{number}", fingerprint_of(add_noise(draw_words(seed)[first:], 0.05, number)))
        for number, (seed, first) in enumerate(seeds)
    ]
    pairs = match_sources(sources).duplicates()
    assert match_sources(data.draw(st.permutations(sources))).duplicates() == pairs
    assert ids_of(pairs) == {
        (f"s{a}", f"s{b}") for a in range(len(seeds)) for b in range(a + 1, len(seeds)) if seeds[a][0] == seeds[b][0]
    }


@pytest.fixture(scope="module")
def crowd() -> tuple[list[tuple[str, Fingerprint]], set[tuple[str, str]]]:
    """Draw 250 sources, of which 50 are copies of others: trimmed, noisy, in all orientations."""
    sources, true = [], set()
    for number in range(100):
        words = draw_words(number)
        sources.append((f"a{number:03}", fingerprint_of(words)))
        if number < 50:
            copy = add_noise(words[number % 10 :], 0.03 + 0.002 * number, number)
            sources.append((f"b{number:03}", fingerprint_of(turn(copy, number % 8))))
            true.add((f"a{number:03}", f"b{number:03}"))
    return sources, true


@pytest.mark.parametrize("bits", [16, 20, 24])
def test_keys_of_any_length_find_the_same_copies(
    crowd: tuple[list[tuple[str, Fingerprint]], set[tuple[str, str]]], bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_BITS_OF_KEYS", (bits, bits))
    # As with more samples than fit into memory.
    monkeypatch.setattr(candidates, "_RECORDS_PER_BUCKET", 1000)
    monkeypatch.setattr(candidates, "CHUNK_SAMPLES", 300)
    monkeypatch.setattr(samples, "_MAX_BYTES_IN_MEMORY", 0)
    assert ids_of(match_sources(crowd[0]).duplicates()) == crowd[1]


@pytest.mark.parametrize("bits", [16, 20])
def test_copies_are_found_as_often_as_cards_say(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_BITS_OF_KEYS", (bits, bits))
    drawn = list(draw_sources(4000, 0.0))
    true = {(original, name) for name, _, original in drawn if original}
    found = ids_of(match_sources((name, prints) for name, prints, _ in drawn).duplicates())
    assert found <= true
    size, recall = measured_recall(100_000)
    assert size == 100_000
    # 80 copies: less by three standard errors has a chance of one in a thousand.
    assert len(found) / len(true) > recall - 3 * (recall * (1 - recall) / len(true)) ** 0.5


@pytest.mark.parametrize("chunk", [2**18, 7])
def test_another_source_changes_nothing_between_the_others(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "CHUNK_SAMPLES", chunk)
    sources = {f"s{number:02}": add_noise(draw_words(number // 2), 0.17, number) for number in range(12)}
    pairs = find_pairs(**sources)
    # It comes before the others and between them.
    for name in ("a", "s05x"):
        added = add_noise(draw_words(90, 1).repeat(30, 0), 0.02)
        assert find_pairs(**sources, **{name: added}) == pairs


def test_many_copies_of_one_video_are_all_connected() -> None:
    words = draw_words(11)
    pairs = find_pairs(**{f"s{number:03}": add_noise(words, 0.05, number) for number in range(120)})
    connected = {"s000"}
    for pair in pairs * 3:
        if {pair.source_a, pair.source_b} & connected:
            connected |= {pair.source_a, pair.source_b}
    assert len(connected) == 120


def test_widely_shared_intro_costs_few_comparisons() -> None:
    intro = draw_words(12, 6)
    sources = [(f"s{n:04}", fingerprint_of(np.concatenate([intro, draw_words(100 + n, 20)]))) for n in range(1000)]
    assert len(find_candidates(collect_samples(sources))) < 10 * 1000
    assert match_sources(sources).duplicates() == []


def test_closest_pair_of_two_sides_need_not_be_a_copy() -> None:
    intro = draw_words(13, 4)
    sources = {
        "a": draw_words(14),
        "b": np.concatenate([intro, draw_words(15)]),
        "c": np.concatenate([intro, draw_words(16)]),
    }
    matches = match_sources((name, fingerprint_of(words)) for name, words in sources.items())
    assert matches.duplicates() == []
    closest = matches.closest({"a": "train", "b": "train", "c": "test"})
    assert closest is not None
    assert (closest.source_a, closest.source_b, closest.overlap_seconds) == ("b", "c", 2.0)
    assert 0 < closest.similarity < 1
    assert matches.closest({"a": "train", "b": "train"}) is None
    assert matches.closest(dict.fromkeys("abc", "train")) is None
    assert matches.closest({}) is None


def test_sources_without_a_fingerprint_are_skipped() -> None:
    words = fingerprint_of(draw_words(17))
    sources = [Source(name, "f", "listed", "0" * 64, 1, fingerprint=words) for name in ("a", "b")]
    stage = NearDuplicates()
    for others, pairs in ([Source("c", "f", "listed", "0" * 64, 1)], [("a", "b")]), ([], []):
        everything = stage.gather(iter([*sources, *others] if others else []))
        assert [(kept.record.source_a, kept.record.source_b) for kept in stage.process(everything)] == pairs


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([("a", Fingerprint("other-9", ""))], "source 'a'.*'other-9'"),
        ([("a", Fingerprint(HASH_SCHEME, "é"))], "source 'a'.*damaged"),
        ([("a", Fingerprint(HASH_SCHEME, "AAAA"))], "source 'a'.*3 bytes"),
        ([("a", fingerprint_of(draw_words(1))), ("a", fingerprint_of(draw_words(2)))], "'a'.*two fingerprints"),
    ],
)
def test_unusable_fingerprint_is_rejected_with_its_source(sources: list[tuple[str, Fingerprint]], message: str) -> None:
    with pytest.raises(VttdataError, match=message):
        match_sources(sources)


def test_families_of_real_copies_are_found_and_nothing_else(shared: Path) -> None:
    folder = shared / "videos" / "near-duplicates"
    files = [path for path in folder.iterdir() if path.name.split("-")[0] in ("pattern", "doorknob")]
    pairs = match_sources((path.name, fingerprint(path)) for path in files).duplicates()
    patterns = {path.name for path in files if path.name.startswith("pattern")}
    assert ids_of(pairs) == {(a, b) for a in patterns for b in patterns if a < b}
    assert len(pairs) == 10
