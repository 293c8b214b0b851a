"""Makes HITs for Direct Assessment (Graham, Awad and Smeaton, PLOS ONE 2018): captions with hidden controls.

It decides what is shown to whom in which order; writing it for a crowd platform or as pages is
`vttdata.assess.hits.write`' business. Nothing that is drawn depends on the order of the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from vttdata.assess.hits.controls import Controls
from vttdata.assess.hits.layout import laid_out
from vttdata.assess.hits.plan import NOTES, HitPlan, HitSettings
from vttdata.assess.hits.selection import Selection
from vttdata.errors import VttdataError
from vttdata.records import Caption
from vttdata.text.captions import clean_text

GENERATOR = "hits-1"
"""The name of what makes HITs; another one makes others for the same seed."""

_LONGEST_NAME = 200


def make_hits(
    systems: Mapping[str, Mapping[str, str]],
    human: Iterable[Caption],
    source_of: Mapping[str, str] | None = None,
    settings: HitSettings | None = None,
    *,
    seed: int = 0,
) -> HitPlan:
    """Put captions of systems into HITs, with controls that nobody can tell from the rest.

    As in the paper, degraded captions are made from human ones, never from those of systems: one human caption of a
    video is the hidden high-quality system, its degraded form the low-quality one, and both stand in the same HIT. The
    donor's words come from another source. Repeats are drawn evenly from all systems.

    What holds of every plan:

    - each system's caption stands in at least `assessments` HITs, never twice in one but as its repeat;
    - systems have the same share of every HIT, to one item, where they have captions of the same videos; otherwise
      each has the share that it has in all captions. Videos are spread as evenly as texts allow;
    - no two items of a HIT but repeats show the same text about the same video: equal captions of two systems, or of a
      system and a person, come into different HITs. The same text about two videos is avoided where no further HIT
      is needed for that, and otherwise told as ``same_text``. Case does not count;
    - a control lies `HitSettings.distance` places from its original, as often before as after it;
    - the last HITs are filled with captions that are assessed once more, evenly from all systems;
    - ids are drawn from the content of the campaign, so that results of another one are found out.

    Args:
        systems: name -> `video_id` -> its caption. Videos may be missing. White space is folded, control characters go.
        human: human captions, of the same videos and of others, which only lend words.
        source_of: `video_id` -> the source that it is a part of; a video that is not there is its own source.
        settings: the composition and its guarantees.
        seed: of all draws.

    Raises:
        VttdataError: when there are fewer captions or videos than one HIT needs, no HIT can be made without showing a
            text twice, or a name is empty, too long, or not a line of printable characters.
    """
    settings = settings or HitSettings()
    notes: dict[str, list[str]] = {}
    own = _checked(systems, settings, notes)
    people = _people(human)
    controls = Controls(people, source_of or {}, sorted({video for texts in own.values() for video in texts}), seed)
    _tell(notes, own, controls)
    chosen = list(Selection(own, controls.people, settings, seed).hits(notes))
    campaign = _campaign(own, people, source_of or {}, settings, seed)
    hits = tuple(laid_out(chosen, campaign, settings, seed))
    told = {kind: tuple(sorted(notes[kind])) for kind in NOTES if notes.get(kind)}
    return HitPlan(hits, settings, seed, told)


def _checked(
    systems: Mapping[str, Mapping[str, str]], settings: HitSettings, notes: dict[str, list[str]]
) -> dict[str, dict[str, str]]:
    """Systems and videos sorted, captions cleaned, empty ones left out."""
    own: dict[str, dict[str, str]] = {}
    for system in sorted(systems):
        _check_name("system", system)
        if system == settings.human_name:
            raise VttdataError(f"A system is called {system!a}, which is the name of the human captions.")
        own[system] = {}
        for video in sorted(systems[system]):
            _check_name("video", video)
            text = clean_text(systems[system][video])
            if any(sign.isprintable() and not sign.isspace() for sign in text):
                own[system][video] = text
            else:
                notes.setdefault("empty_caption", []).append(f"{system}/{video}")
        if not own[system]:
            raise VttdataError(f"The system {system!a} has no captions.")
    if not own:
        raise VttdataError("There are no systems to make HITs for.")
    return own


def _check_name(what: str, name: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        told = "must be one line of printable characters"
        raise VttdataError(f"The {what} id {name[:80]!a} {told}, at most {_LONGEST_NAME}.")


def _people(human: Iterable[Caption]) -> list[Caption]:
    """Human captions in an order that is not that of the input, each once."""
    rows = {(own.video_id, own.sen_id, own.caption): own for own in human if own.author == "human"}
    return [rows[key] for key in sorted(rows) if clean_text(key[2])]


def _tell(notes: dict[str, list[str]], systems: Mapping[str, Mapping[str, str]], controls: Controls) -> None:
    for system, texts in systems.items():
        notes.setdefault("missing_caption", []).extend(f"{system}/{v}" for v in controls.videos if v not in texts)
    for kind, videos in controls.without.items():
        notes.setdefault(kind, []).extend(videos)


def _campaign(
    systems: Mapping[str, Mapping[str, str]],
    people: Sequence[Caption],
    source_of: Mapping[str, str],
    settings: HitSettings,
    seed: int,
) -> str:
    """A digest of everything that HITs are made of."""
    found = blake2b(ascii((GENERATOR, seed, settings)).encode(), digest_size=16)
    for system, texts in systems.items():
        found.update(ascii((system, list(texts.items()))).encode())
    for caption in people:
        row = (caption.video_id, caption.sen_id, caption.caption, source_of.get(caption.video_id, caption.video_id))
        found.update(ascii(row).encode())
    return found.hexdigest()
