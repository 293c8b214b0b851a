"""The command ``foil``: parses, calls, prints."""

from __future__ import annotations

import argparse
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.dataset.provenance import InputFile, Provenance
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.dataset.metadata import Metadata
    from vttdata.generate.foils.videos import Captions


def add_foil(commands: Any) -> None:
    """Add the command `foil` to the parsers of a command line."""
    parser = commands.add_parser(
        "foil",
        help="make pairs of a true caption and a false one",
        description="Swap visible things in captions for others that no caption of the video speaks of, and choose the "
        "foils so that the set cannot be solved without looking at the videos.",
        epilog="Example: vttdata foil captions.csv --out foils --seed 7",
    )
    what = "a table with the columns video_id and caption (CSV, TSV, JSON lines), or a dataset by folder or name"
    parser.add_argument("input", metavar="INPUT", help=what)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the dataset's folder")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of all choices (default: 0)")
    _add_choice(parser)
    _add_models(parser)
    name = "what the dataset is called, as its card and `load_dataset` say it (default: local/foils)"
    parser.add_argument("--name", metavar="OWNER/NAME", default="local/foils", help=name)
    licence = "of the captions, such as cc-by-4.0; needed to publish the set (default: unknown)"
    parser.add_argument("--licence", metavar="NAME", default="unknown", help=licence)
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=_foil)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--selection", choices=["balanced", "paper", "random"], default="balanced")
    for flags, metavar, kind, default, what in _CHOICES:
        parser.add_argument(
            *flags.split(), metavar=metavar, type=kind, default=default, help=f"{what} (default: {default:g})"
        )
    verdicts = "foils that people judged, a table with the columns foil_id and verdict; unsound ones are not taken"
    parser.add_argument("--verdicts", metavar="FILE", type=Path, help=verdicts)
    parser.add_argument("--judged-only", action="store_true", help="take only foils that the verdicts find sound")
    lexicon = "in the place of the packaged lexicon; or on top of it, where the file says 'extends: packaged'"
    parser.add_argument("--lexicon", metavar="FILE", type=Path, help=lexicon)
    pipeline = "a trained spaCy pipeline that finds nouns, such as en_core_web_sm (default: rules)"
    parser.add_argument("--pipeline", metavar="NAME", help=pipeline)


def _add_models(parser: argparse.ArgumentParser) -> None:
    scorer = "ngram (default), or a causal language model of HuggingFace by name or folder"
    parser.add_argument("--scorer", metavar="ngram|MODEL", default="ngram", help=scorer)
    judge = "a language model besides, that tries to solve the set blind and chooses nothing; repeatable"
    parser.add_argument("--judge", metavar="MODEL", action="append", help=judge)
    add_device(parser)


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where models of HuggingFace compute."""
    device = "where models of HuggingFace compute: cpu (default), cuda, cuda:1"
    parser.add_argument("--device", metavar="DEVICE", default="cpu", help=device)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 2**31):
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 on")
    return int(text)


def _share(text: str, *, most: float = 1, none: bool = False) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= most or not (share or none):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no {'number' if most > 1 else 'share'} {'from' if none else 'above'} 0 up to {most}"
        )
    return share


_imbalance = functools.partial(_share, most=0.5, none=True)
_probability = functools.partial(_share, none=True)
_penalty = functools.partial(_share, most=100, none=True)
_CHOICES: tuple[tuple[str, str, Callable[[str], float], float, str], ...] = (
    ("--min-count", "N", _count, 10, "leave out concepts that are mentioned less often"),
    (
        "--pair-share",
        "SHARE",
        _share,
        0.03,
        "when balanced, the highest share of the set that swaps one word for one other",
    ),
    ("--candidates", "N", _count, 1000, "how many possible foils of a video are scored, unless the selection is paper"),
    (
        "--imbalance",
        "SHARE",
        _imbalance,
        0.02,
        "when balanced, how far from one half a word's share of true uses may be",
    ),
    # The second name of each keeps commands and `provenance.json` files that state it repeatable.
    (
        "--max-unsound-probability --doubt",
        "SHARE",
        _probability,
        0.8,
        "when balanced, the highest estimated probability of being unsound with which a foil is taken, from 0 to 1",
    ),
    (
        "--unsound-penalty --caution",
        "NUMBER",
        _penalty,
        0.0,
        "when balanced, how many sound foils to give up to avoid an unsound one",
    ),
)


def _foil(options: argparse.Namespace) -> int:
    from vttdata.dataset.foils.write import FoilSet, write_foils
    from vttdata.dataset.provenance import write_provenance
    from vttdata.generate import mine_foils
    from vttdata.generate.foils.blind.shortcuts import TextPair, attacks_text, audit_shortcuts
    from vttdata.generate.foils.requirements import check_foil_libraries
    from vttdata.generate.foils.search import FoilSettings
    from vttdata.generate.foils.verdicts import read_verdicts
    from vttdata.generate.foils.videos import assign_training_folds, group_texts_by_video
    from vttdata.text.lm import load_judges
    from vttdata.text.nouns.lexicon import load_lexicon

    check_foil_libraries()
    about = _about(options)
    judges = load_judges(options.judge or (), device=options.device)
    lexicon = load_lexicon(options.lexicon)
    settings = FoilSettings(**{name: getattr(options, name) for name in ALWAYS})
    captions, splits = read_captions(options.input)
    corpus = mine_foils(
        captions,
        settings=settings,
        seed=options.seed,
        scorer=options.scorer,
        lexicon=lexicon,
        splits=splits,
        device=options.device,
        pipeline=options.pipeline,
        verdicts={} if options.verdicts is None else read_verdicts(options.verdicts),
        watch=None if options.quiet else _watched,
    )
    videos = group_texts_by_video(captions, splits)
    folds = assign_training_folds(videos)
    shown = [TextPair(own.caption, own.foil, own.video_id, folds.fold_of[own.video_id]) for own in corpus.pairs]
    if not shown:
        raise VttdataError("No foil is left: no swap keeps a caption right, or none can be balanced by another one.")
    attacks = audit_shortcuts(shown, texts=folds.attacker_texts(), models=judges)
    reasons = Counter(f"rejected: {reason}" for _, reason, _ in corpus.rejected)
    numbers = {"captions": sum(len(own.texts) for own in videos), "pairs": len(corpus.pairs), **reasons}
    counts = [(name, f"{number:,}") for name, number in numbers.items()]
    made = (corpus.pairs, options.selection, options.seed, lexicon.version, corpus.scorer)
    foils = FoilSet(*made, attacks={"foils": attacks}, counts=counts)
    origin = origin_of(options)
    write_foils(options.out, foils, about, lambda folder: write_provenance(folder, origin))
    print("\n".join(f"{name}: {number}" for name, number in counts))
    print(f"\n{attacks_text(attacks)}\n\nThe foils are in {options.out}")
    return 0


def _about(options: argparse.Namespace) -> Metadata:
    from vttdata.dataset.metadata import Metadata

    try:
        return Metadata(options.name, licence=options.licence, seed=options.seed)
    except ValueError as error:
        raise VttdataError(f"{str(error).rstrip('.')}.") from error


def _watched(videos: Sequence[Any], step: str) -> Iterator[Any]:
    from vttdata.pipeline.progress import Progress

    with Progress(step, len(videos)) as progress:
        for video in videos:
            yield video
            progress.advance()


TABLES = {".csv", ".tsv", ".jsonl", ".ndjson"}

_WEIGHTS = (".safetensors", ".json")

ALWAYS = (
    "selection",
    "min_count",
    "pair_share",
    "imbalance",
    "max_unsound_probability",
    "unsound_penalty",
    "judged_only",
    "candidates",
)
"""Options that are settings of the choice, and noted whatever they are."""

_PLAIN = {"name": "local/foils", "licence": "unknown", "device": "cpu"}
"""Options that are noted only where another value than this, their default, was given."""


def read_captions(reference: str) -> tuple[Captions, dict[str, str | None]]:
    """The captions of a table or of a dataset, for `vttdata.generate.mine_foils`, and the split of each video.

    Raises:
        VttdataError: when there are none, or they cannot be read.
    """
    path = Path(reference)
    captions, splits = _of_table(path) if path.suffix.lower() in TABLES else _of_dataset(reference)
    if not captions:
        raise VttdataError(f"{reference}: holds no captions.")
    return captions, splits


def _of_table(path: Path) -> tuple[Captions, dict[str, str | None]]:
    from vttdata.text.captions import CaptionSettings, read_caption_table

    texts: dict[str, list[str]] = {}
    for raw in read_caption_table(path, CaptionSettings()):
        texts.setdefault(raw.video_id or raw.source or "", []).append(raw.caption)
    return texts, {}


def _of_dataset(reference: str) -> tuple[Captions, dict[str, str | None]]:
    from vttdata.dataset.front_matter import read_layout
    from vttdata.load.dataset import find_dataset
    from vttdata.records import Caption

    captions: list[Caption] = []
    splits: dict[str, str | None] = {}
    for split, files in read_layout(find_dataset(reference)).files.get("captions", {}).items():
        for row in rows_of(files, ("video_id", "sen_id", "caption")):
            captions.append(Caption(row["video_id"], row["sen_id"], row["caption"]))
            splits[row["video_id"]] = split
    return captions, splits


def rows_of(files: list[Path], columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The rows of Parquet files, with these columns only."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in files:
        try:
            yield from pq.read_table(file, columns=list(columns)).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise VttdataError(f"{file}: damaged or unreadable ({str(error).splitlines()[0]}).") from error


def origin_of(options: argparse.Namespace) -> Provenance:
    """What the dataset was made from and how; of files and models only what is in them matters, not where they lie."""
    from vttdata.dataset.provenance import Provenance, library_versions
    from vttdata.load.dataset import caption_input_files
    from vttdata.text.lm import is_trained

    models = {"scorer": [options.scorer], "judge": options.judge or []}
    inputs = caption_input_files(options.input)
    files = {key: [getattr(options, key)] for key in ("lexicon", "verdicts", "pipeline") if getattr(options, key)}
    for key, given in (*models.items(), *files.items()):
        inputs += [own for place in given if not is_trained(str(place)) for own in _content(key, Path(place))]
    chosen: dict[str, Any] = {key: getattr(options, key) for key in ALWAYS}
    chosen |= {key: getattr(options, key) for key, plain in _PLAIN.items() if getattr(options, key) != plain}
    chosen |= {key: _bare(getattr(options, key)) for key in ("scorer", "pipeline") if getattr(options, key)}
    chosen |= {"judge": [_bare(judge) for judge in options.judge]} if options.judge else {}
    tools = ["datasets", "numpy", "pyarrow", "scikit-learn", "scipy", "spacy"]
    causal = any(not is_trained(own) and not own.endswith(".npz") for both in models.values() for own in both)
    tools += ["torch", "transformers"] if causal else []
    tools += [options.pipeline] if options.pipeline else []
    return Provenance("foil", options.seed, inputs, options=chosen, tools=library_versions(tools))


def _content(key: str, place: Path) -> Iterator[InputFile]:
    """The files of a lexicon or a model that lies here; none of one that has its name from the Hub."""
    from vttdata.dataset.provenance import input_file

    if place.is_file():
        yield input_file(key, place)
    elif place.is_dir():
        for file in sorted(place.iterdir()):
            if file.suffix in _WEIGHTS:
                yield input_file(key, file)


def _bare(model: str) -> str:
    """A model without the folders in which it lies here."""
    return Path(model).resolve().name if Path(model).exists() else model
