"""Make HITs for Direct Assessment (Graham, Awad and Smeaton, PLOS ONE 2018): captions with hidden controls.

This decides which captions a HIT shows in which order; `vttdata.people.hits.write` writes the files. No draw depends on
the order of the input.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from vttdata.errors import VttdataError
from vttdata.people.hits.caption_selection import Selection, TooFewCaptionsError, choose_controls
from vttdata.people.hits.hit_records import NOTES, HitPlan, HitSettings
from vttdata.people.hits.layout import lay_out_hits
from vttdata.records import Caption
from vttdata.text.captions import clean_text

GENERATOR = "hits-2"
"""Name of this way of making HITs, which changes whenever the same input would give other HITs."""

_MAX_NAME = 200


# Fewest pairs of a degraded and an original caption of a smaller HIT. With 5, a paired t-test at .05 takes .054 of
# random workers for reliable, and .995 of diligent, .88 of biased and .62 of noisy ones; with 4, .97, .76 and .50
# (behaviours of `vttdata.people.scoring.simulation`).
_FEWEST_PAIRS = 5


def make_hits(
    systems: Mapping[str, Mapping[str, str]],
    human: Iterable[Caption],
    source_of: Mapping[str, str] | None = None,
    settings: HitSettings | None = None,
    *,
    seed: int = 0,
) -> HitPlan:
    """Put captions of systems into HITs, with controls that cannot be told from the rest.

    As in the paper, degraded captions are made from human ones, never from those of systems: one human caption of a
    video is the hidden high-quality system, its degraded form the low-quality one, and both are in the same HIT. The
    donor's words come from another source. Repeats are drawn evenly from all systems.

    Guarantees:

    - each system's caption is in at least `assessments` HITs, and in a HIT twice only as a repeat;
    - systems have the same share of every HIT, to one item, if they have captions of the same videos; otherwise each
      has the share that it has of all captions. Videos are spread as evenly as texts allow, but for as many as have a
      degraded caption, which are shown with the captions of two systems, as far apart as a control and its original;
    - except repeats, no two items of a HIT show the same text about the same video: equal captions of two systems, or
      of a system and a person, get into different HITs. The same text about two videos is avoided unless that takes
      another HIT, and otherwise noted as ``same_text``. Case is ignored;
    - a control is at least `HitSettings.distance` positions from its original, as often before as after it;
    - the last HITs are filled with captions that are assessed once more, evenly from all systems;
    - ids are derived from the content of the campaign, so that results of another campaign are detected.

    Args:
        systems: name -> `video_id` -> its caption. Videos may be missing. White space is folded, control characters
            are removed.
        human: human captions, of the same videos and of others, which only lend words.
        source_of: `video_id` -> source that it is a part of; a video without an entry is its own source.
        settings: composition of HITs.
        seed: seed of all draws.

    Raises:
        VttdataError: if there are fewer captions or videos than one HIT needs, no HIT can be made without showing a
            text twice, or a name is empty, too long, or not a line of printable characters.
    """
    settings = settings or HitSettings()
    source_of = source_of or {}
    captions, notes = _clean_systems(systems, settings)
    people = _distinct(human)
    videos = sorted({video for texts in captions.values() for video in texts})
    controls, control_notes = choose_controls(people, source_of, videos, seed)
    notes["missing_caption"] = [f"{name}/{v}" for name, texts in captions.items() for v in videos if v not in texts]
    notes |= control_notes
    contents = list(Selection(captions, controls, settings, seed).hits(notes))
    # Ids depend on everything that HITs are made of.
    campaign = blake2b(ascii((GENERATOR, seed, settings)).encode(), digest_size=16)
    for system, texts in captions.items():
        campaign.update(ascii((system, list(texts.items()))).encode())
    for row in people:
        source = source_of.get(row.video_id, row.video_id)
        campaign.update(ascii((row.video_id, row.sen_id, row.caption, source)).encode())
    hits = tuple(lay_out_hits(contents, campaign.hexdigest(), settings, seed))
    return HitPlan(hits, settings, seed, {kind: tuple(sorted(notes[kind])) for kind in NOTES if notes.get(kind)})


def make_smaller_hits(
    systems: Mapping[str, Mapping[str, str]],
    human: Iterable[Caption],
    source_of: Mapping[str, str],
    settings: HitSettings,
    *,
    seed: int = 0,
) -> HitPlan:
    """Make the largest HITs that are smaller than those of some settings; arguments and errors as for `make_hits`."""
    human = list(human)
    videos = sorted({video for texts in systems.values() for video in texts})
    pairs = min(settings.degraded, len(choose_controls(_distinct(human), source_of, videos, seed)[0]))
    if pairs < _FEWEST_PAIRS:
        raise VttdataError(
            f"{pairs} videos have a human caption that can be degraded, and at least {_FEWEST_PAIRS} are needed to "
            "tell workers who look from those who click at random; more videos and human captions are needed."
        )
    captions = sum(map(len, systems.values()))
    for system in range(min(settings.system, captions), 0, -1):
        repeat = max(system * settings.repeat // settings.system, 1)
        smaller = dataclasses.replace(
            settings, system=system, human=pairs, degraded=pairs, repeat=repeat, min_pairs=pairs
        )
        with contextlib.suppress(TooFewCaptionsError):
            return make_hits(systems, human, source_of, smaller, seed=seed)
    raise VttdataError("No HIT can be made without showing a text twice about a video.")


def _distinct(human: Iterable[Caption]) -> list[Caption]:
    """Return human captions in an order of their own, without those of other authors and repeated rows."""
    rows = {(row.video_id, row.sen_id, row.caption): row for row in human if row.author == "human"}
    return [rows[key] for key in sorted(rows) if clean_text(key[2])]


def _clean_systems(
    systems: Mapping[str, Mapping[str, str]], settings: HitSettings
) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Sort systems and videos, clean their captions, and leave out empty captions with a note."""
    cleaned: dict[str, dict[str, str]] = {}
    empty = []
    for system in sorted(systems):
        _check_name("system", system)
        if system == settings.human_name:
            raise VttdataError(f"A system is called {system!a}, which is the name of the human captions.")
        cleaned[system] = {}
        for video in sorted(systems[system]):
            _check_name("video", video)
            text = clean_text(systems[system][video])
            # A caption of invisible characters, such as zero-width spaces, is empty for an assessor.
            if any(character.isprintable() and not character.isspace() for character in text):
                cleaned[system][video] = text
            else:
                empty.append(f"{system}/{video}")
        if not cleaned[system]:
            raise VttdataError(f"The system {system!a} has no captions.")
    if not cleaned:
        raise VttdataError("There are no systems to make HITs for.")
    return cleaned, {"empty_caption": empty}


def _check_name(noun: str, name: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > _MAX_NAME:
        raise VttdataError(
            f"The {noun} id {name[:80]!a} must be one line of printable characters, at most {_MAX_NAME}."
        )
