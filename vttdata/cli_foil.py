"""The command ``foil``: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError

TABLES = {".csv", ".tsv", ".jsonl", ".ndjson"}


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
    parser.add_argument("--selection", choices=["balanced", "paper", "random"], default="balanced")
    judge = "a language model besides, that tries to solve the set blind and chooses nothing; repeatable"
    parser.add_argument("--judge", metavar="MODEL", action="append", help=judge)
    scorer = "ngram (default), or a causal language model of HuggingFace by name or folder"
    parser.add_argument("--scorer", metavar="ngram|MODEL", default="ngram", help=scorer)
    count = "leave out concepts that are mentioned less often (default: 10)"
    parser.add_argument("--min-count", metavar="N", type=int, default=10, help=count)
    parser.add_argument("--lexicon", metavar="FILE", type=Path, help="in the place of the packaged lexicon")
    parser.set_defaults(run=_foil)


def _foil(options: argparse.Namespace) -> int:
    from vttdata.assess.needs import check_foil_libraries
    from vttdata.assess.shortcuts import TextPair, audit_shortcuts
    from vttdata.generate.corpus import lessons_for, mine_corpus
    from vttdata.generate.foils import FoilSettings
    from vttdata.publish.about import About
    from vttdata.publish.foils import FoilSet, write_foils
    from vttdata.publish.provenance import write_provenance
    from vttdata.report.shortcuts import attacks_text
    from vttdata.text.lexicon import load_lexicon
    from vttdata.text.lm import load_judges

    check_foil_libraries()
    judges = load_judges(options.judge or ())
    lexicon = load_lexicon(options.lexicon)
    told = list(_told(options.input))
    settings = FoilSettings(selection=options.selection, min_count=options.min_count)
    corpus = mine_corpus(told, lexicon, settings=settings, seed=options.seed, scorer=options.scorer)
    lessons = lessons_for(told)
    shown = [TextPair(own.caption, own.foil, own.video_id, lessons.part_of[own.video_id]) for own in corpus.pairs]
    attacks = audit_shortcuts(shown, texts=lessons.held_out(), models=judges)
    reasons = defaultdict(int, {"captions": sum(len(own.texts) for own in told), "pairs": len(corpus.pairs)})
    for _, reason, _ in corpus.rejected:
        reasons[f"rejected: {reason}"] += 1
    counts = [(name, f"{number:,}") for name, number in reasons.items()]
    made = (corpus.pairs, options.selection, options.seed, lexicon.version, corpus.scorer)
    foils = FoilSet(*made, attacks={"foils": attacks}, counts=counts)
    origin = _origin(options)
    write_foils(
        options.out, foils, About("local/foils", seed=options.seed), lambda folder: write_provenance(folder, origin)
    )
    print("\n".join(f"{name}: {number}" for name, number in counts))
    print(f"\n{attacks_text(attacks)}\n\nThe foils are in {options.out}")
    return 0


def _origin(options: argparse.Namespace) -> Any:
    """What the dataset was made from and how; of a lexicon only what is in it matters, not where it lies."""
    from vttdata.publish.provenance import Provenance, input_file, inputs_of_table, library_versions

    inputs = inputs_of_table(options.input)
    inputs += [input_file("lexicon", options.lexicon)] if options.lexicon else []
    chosen = {"selection": options.selection, "scorer": options.scorer, "min_count": options.min_count}
    chosen |= {"judge": options.judge} if options.judge else {}
    tools = library_versions(("datasets", "numpy", "pyarrow", "scikit-learn", "scipy"))
    return Provenance("foil", options.seed, inputs, options=chosen, tools=tools)


def _told(reference: str) -> Iterator[Any]:
    """The videos of a table or of a dataset, each with its captions."""
    from vttdata.generate.corpus import Told

    split: dict[str, str | None] = {}
    own: dict[str, dict[str, str]] = defaultdict(dict)
    for video_id, caption, part in _captions(reference):
        split[video_id] = part
        own[video_id].setdefault(caption.strip(), f"{video_id}_{len(own[video_id])}")
    if not own:
        raise VttdataError(f"{reference}: holds no captions.")
    for video_id in sorted(own):
        texts = own[video_id]
        yield Told(video_id, tuple(texts.values()), tuple(texts), split=split[video_id])


def _captions(reference: str) -> Iterator[tuple[str, str, str | None]]:
    path = Path(reference)
    if path.suffix.lower() in TABLES:
        from vttdata.text.captions import CaptionSettings, read_captions

        for raw in read_captions(path, CaptionSettings()):
            yield raw.video_id or raw.source or "", raw.caption, None
        return
    from vttdata.loading import find_dataset
    from vttdata.publish.front_matter import read_layout

    for split, files in read_layout(find_dataset(reference)).files.get("captions", {}).items():
        for row in rows_of(files, ("video_id", "caption")):
            yield row["video_id"], row["caption"], split


def rows_of(files: list[Path], columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The rows of Parquet files, with these columns only."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in files:
        try:
            yield from pq.read_table(file, columns=list(columns)).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise VttdataError(f"{file}: damaged or unreadable ({str(error).splitlines()[0]}).") from error
