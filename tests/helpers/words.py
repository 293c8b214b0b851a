"""A lexicon of a few nouns, and captions with their mentions, for the tests of foils."""

from __future__ import annotations

import re

from vttdata.generate.foils.documents import Document, VideoDocuments
from vttdata.generate.foils.swaps import summarize_mentions
from vttdata.text.nouns.lexicon import Lexicon, Noun
from vttdata.text.nouns.mentions import Mention

NOUNS = [
    Noun("animal", "animal", plural="animals"),
    Noun("dog", "animal", ("hound",), ("animal",), "dogs", synonym_plurals=("hounds",)),
    Noun("cat", "animal", (), ("animal",), "cats"),
    Noun("ox", "animal", (), ("animal",), "oxen"),
    Noun("person", "person", (), (), "people", vague=True),
    Noun("child", "person", (), ("person",), "children"),
    Noun("man", "person", ("guy",), ("person",), "men", gender="male", synonym_plurals=("guys",)),
    Noun("boy", "person", (), ("child",), "boys", gender="male"),
    Noun("woman", "person", (), ("person",), "women", gender="female"),
    Noun("baby", "person", (), ("child",), "babies"),
    Noun("ball", "thing", plural="balls"),
    Noun("stick", "thing", plural="sticks"),
    Noun("umbrella", "thing", plural="umbrellas"),
    Noun("water", "stuff", plural="water", countable="mass"),
    Noun("sand", "stuff", plural="sand", countable="mass"),
    Noun("table", "furniture", plural="tables"),
    Noun("chair", "furniture", plural="chairs"),
]
LEXICON = Lexicon("test-1", NOUNS)
RIVALS = {noun.name: LEXICON.rivals(noun.name) for noun in NOUNS}


def mentions(text: str) -> tuple[Mention, ...]:
    found = ((match, LEXICON.noun(match[0])) for match in re.finditer(r"[A-Za-z]+", text))
    return tuple(
        Mention(match.start(), match.end(), noun[0].name, noun[1]) for match, noun in found if noun is not None
    )


def video(video_id: str, *texts: str, names: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> VideoDocuments:
    """Return a video with one paragraph, further texts `others` and annotated `names`."""
    found = tuple(mentions(text) for text in texts)
    document = Document(tuple(f"{video_id}_{index}" for index in range(len(texts))), texts, found)
    captions = [*zip(texts, found, strict=True), *((text, mentions(text)) for text in others)]
    return VideoDocuments(video_id, (document,), summarize_mentions(captions, LEXICON, names))
