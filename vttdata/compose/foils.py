"""Sets of foils as datasets: mined from texts of videos, tried by blind attackers, and written with their provenance.

Shared by the builder, which takes official files, and the command ``vttdata foil``, which takes any captions. How foils
are mined and chosen is decided in `vttdata.generate.foils`. Pairs of texts and multiple-choice questions of others are
read for the same attackers.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pydantic

from vttdata.compose.input_captions import check_input_columns, is_table, read_captions_by_split
from vttdata.compose.keep_corrections import keep_corrections
from vttdata.compose.package import metadata_of_build, provenance_of_build
from vttdata.dataset.foils.write import FoilSet, Paragraph, paragraph_pairs, write_foils
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.provenance import InputFile, input_file, write_provenance
from vttdata.errors import VttdataError
from vttdata.files.reading import file_sha256
from vttdata.files.tables import Columns, read_table
from vttdata.generate.blind.choices import TextPair
from vttdata.generate.blind.questions import MultipleChoice, QuestionAttack, audit_questions, can_be_attacked
from vttdata.generate.blind.shortcuts import audit_shortcuts
from vttdata.generate.foils import check_foil_libraries
from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.human_verdicts import read_verdicts
from vttdata.generate.foils.questions import FoilQuestion, arrange_questions
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.video_texts import VideoTexts, assign_training_folds, group_texts_by_video
from vttdata.ids import digest
from vttdata.load.lookup import find_dataset
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.engine import Table
from vttdata.pipeline.stage import Rejected
from vttdata.pipeline.stages.annotations import CAPTIONS
from vttdata.pipeline.stages.foils import Foils
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe, Paths
from vttdata.records import Caption
from vttdata.text.captions import INPUT_COLUMNS, read_caption_table
from vttdata.text.language import estimate_share_of_others
from vttdata.text.lm import is_trained, load_judges
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.questions import fold_text, group_derived_videos, read_question_table

# Reasons for which captions are left out, and not videos or possible foils.
_CAPTION_REASONS = frozenset({"empty", "misaligned"})
# What helps where much is left out for a reason, and how much is much.
_COMMON_SHARE = 0.25
_MORE_THINGS = "give captions that name more things, so that more can be swapped in"
# Reason -> settings that change it, and what helps besides.
_REMEDIES: Mapping[str, tuple[Sequence[str], str]] = {
    "empty": ((), "give captions of two words and more"),
    "misaligned": ((), "mend the annotations of concepts"),
    "no_concept": ((), "add the things that these captions name to the lexicon"),
    "no_reference": ((), "give a second paragraph of each video"),
    "no_swap": (("min_count",), _MORE_THINGS),
    "not_chosen": (("imbalance", "pair_share", "group_share"), "give more videos"),
    "foil_contradicted": ((), "mend captions that contradict each other"),
    "foil_heard": ((), "give captions of what is seen"),
    "foil_implausible": (("max_unsound_probability",), _MORE_THINGS),
    "foil_implied": (("min_count",), _MORE_THINGS),
    "foil_mentioned": (("min_count",), _MORE_THINGS),
    "foil_negated": ((), "give more captions"),
    "foil_pronoun": ((), "give more captions"),
    "foil_refused": ((), "give verdicts on other foils, or set judged_only to false"),
    "foil_too_few": (("options", "min_count", "max_unsound_probability"), _MORE_THINGS),
}
# Setting -> what to do with it, and from where on that has no effect.
_CHANGES = {
    "min_count": ("lower", 1),
    "options": ("lower", 2),
    "imbalance": ("raise", 0.5),
    "pair_share": ("raise", 1),
    "group_share": ("raise", 1),
    "max_unsound_probability": ("raise", 1),
}
# Files of a model of HuggingFace that decide what it computes: weights, configuration and tokenizer.
_MODEL_SUFFIXES = frozenset({".safetensors", ".json"})


class FoilRecipe(BaseRecipe):
    """Keys of every recipe for foils, whatever their captions come from.

    Fields:
        foils: how foils are mined and chosen.
        scorer: ``ngram``, or a causal model of HuggingFace by name or path.
        judges: further language models that try to solve the set blind and choose nothing, such as ``[gpt2]``.
        device: where such models compute: ``cpu``, ``cuda``, ``cuda:1``.
        lexicon: a file in place of the packaged lexicon, or one that extends it.
        verdicts: on foils that people judged: a table (see `vttdata.generate.foils.human_verdicts`).
        verdicts_of: the name of a packaged recipe, for the verdicts that come with it where no others are given.
        pipeline: a trained spaCy pipeline that finds nouns, such as ``en_core_web_sm``; by rule without one.
    """

    paths: ClassVar[Paths] = {"lexicon": "file", "verdicts": "file"}

    # The lexicon of things and the rules of swapping are English.
    language: str = "en"
    foils: FoilSettings = FoilSettings()
    scorer: str = "ngram"
    judges: tuple[str, ...] = ()
    device: str = "cpu"
    lexicon: str | None = None
    verdicts: str | None = None
    verdicts_of: str | None = None
    pipeline: str | None = None

    @pydantic.field_validator("scorer", "judges", "pipeline")
    @classmethod
    def _expand_home(cls, models: Any) -> Any:
        if isinstance(models, str):
            return os.path.expanduser(models)
        return models and tuple(map(os.path.expanduser, models))

    @classmethod
    def check_libraries(cls) -> None:
        """Check that the libraries for foils are installed."""
        check_foil_libraries()

    @pydantic.field_validator("verdicts")
    @classmethod
    def _are_used(cls, verdicts: str | None, recipe: pydantic.ValidationInfo) -> str | None:
        settings = recipe.data.get("foils")
        if verdicts is not None and settings is not None and not settings.balanced:
            raise ValueError(
                f"only the selection 'balanced' reads verdicts, and foils.selection is {settings.selection}"
            )
        return verdicts


class FoilTexts(NamedTuple):
    """Texts of videos that get foils, among them those of videos that only train language models.

    Fields:
        paragraphs: those of the videos whose captions are read together; empty where captions stand alone.
        files: name of each official file -> its SHA-256.
        reference: rows of (figure, number) of a published set, for the card to compare.
        made_of: the dataset whose captions they are; see `vttdata.dataset.facts.DatasetFacts`.
    """

    videos: Sequence[VideoTexts]
    paragraphs: Sequence[Paragraph] = ()
    files: Mapping[str, str] = {}
    reference: Sequence[tuple[str, str]] = ()
    made_of: Mapping[str, str] = {}


def read_foil_texts(reference: str, columns: Mapping[str, str], run: Build) -> FoilTexts:
    """Read the captions of an input as texts of its videos.

    Args:
        reference: a table with the columns `video_id` and `caption`, or a dataset by folder or name. A caption's id is
            ``VIDEO_SEN``, with the `sen_id` of a dataset and with the place among the different texts of a table.
        columns: name of a column -> its name in the table.
        run: the build; its stage `sentences` holds the captions.

    Raises:
        VttdataError: when there are no captions, or they cannot be read.
    """
    check_input_columns(reference, columns)
    captions: list[Caption] = []
    splits: dict[str, str | None] = {}
    made_of = {}
    if is_table(reference):
        captions = list(_captions_of_table(Path(reference), columns))
    else:
        folder = find_dataset(reference)
        manifest = read_dataset_manifest(folder)
        made_of = {
            "dataset": manifest["name"],
            "version": manifest["version"],
            "sha256": file_sha256(folder / MANIFEST),
        }
        for split_captions in read_captions_by_split(folder):
            captions += split_captions.captions
            splits |= {caption.video_id: split_captions.split for caption in split_captions.captions}
    if not captions:
        raise VttdataError(f"{reference}: holds no captions.")
    return FoilTexts(group_texts_by_video(run.stage(CAPTIONS, captions), splits), made_of=made_of)


def _captions_of_table(path: Path, columns: Mapping[str, str]) -> Iterator[Caption]:
    """Yield each different text of a video once, numbered in the order of the rows."""
    texts: dict[str, dict[str, None]] = {}
    for raw in read_caption_table(path, columns, INPUT_COLUMNS):
        if any("\ud800" <= character <= "\udfff" for character in raw.caption):
            raise VttdataError(f"{path}:{raw.line}: the caption contains an unpaired surrogate.")
        texts.setdefault(raw.video_id or "", {}).setdefault(raw.caption.strip())
    for video_id, different in texts.items():
        for number, text in enumerate(different):
            yield Caption(video_id, number, text)


def build_foils(recipe: FoilRecipe, texts: FoilTexts, run: Build) -> FoilSet:
    """Mine foils, let blind attackers try them, and write them as the dataset of a build; return the set.

    The dataset is replaced in one step at the end.

    Raises:
        VttdataError: when no foil is left, or a file, a model or a library is missing.
    """
    judges = load_judges(recipe.judges, device=recipe.device)
    lexicon = load_lexicon(Path(recipe.lexicon) if recipe.lexicon is not None else None)
    table = recipe.verdicts
    if table is None and recipe.verdicts_of is not None:
        table = str(packaged.verdicts(recipe.verdicts_of))
    verdicts = {} if table is None else read_verdicts(Path(table))
    stage = Foils(
        recipe.foils,
        recipe.seed,
        recipe.scorer,
        recipe.lexicon,
        lexicon.version,
        recipe.pipeline,
        recipe.device,
        table,
        digest(verdicts) if verdicts else None,
        run.watch,
    )
    mined = run.stage(stage, texts.videos, may_be_empty=True)
    pairs = list(mined)
    if not pairs and recipe.foils.judged_only:
        raise VttdataError(
            "No foil is left: the verdicts are on foils of other captions, or refuse them all. For foils that nobody "
            "judged set judged_only to false (--set foils.judged_only=false), or give verdicts on these."
        )
    if not pairs:
        raise VttdataError(_explain_nothing(texts, count_losses(mined), recipe.foils))

    questions: list[FoilQuestion] = []
    question_attacks: list[QuestionAttack] = []
    if recipe.foils.makes_questions:
        # Several foils of one caption make no paragraph.
        texts = texts._replace(paragraphs=())
        questions = arrange_questions(pairs, recipe.seed)
    folds = assign_training_folds(texts.videos)
    attacker_texts = folds.attacker_texts()
    shown = [TextPair(pair.caption, pair.foil, pair.video_id, folds.fold_of[pair.video_id]) for pair in pairs]
    with run.engine.progress(run.step("blind attacks")):
        attacks = {"foils": audit_shortcuts(shown, texts=attacker_texts, models=judges, watch=run.watch)}
        scorer = Path(recipe.scorer).name if Path(recipe.scorer).exists() else recipe.scorer
        made = FoilSet(pairs, recipe.foils.selection, recipe.seed, lexicon.version, scorer, texts.paragraphs, attacks)
        asked = [question.choice for question in questions]
        if can_be_attacked(asked):
            question_attacks = audit_questions(asked)
        if texts.paragraphs:
            attacks["paragraphs"] = audit_shortcuts(
                paragraph_pairs(made), texts=attacker_texts, models=judges, watch=run.watch
            )
    judged = _count_judged(recipe, pairs, verdicts)
    counts = [*_counts(texts, mined, made, judged), *_describe_groups(pairs)]
    made = dataclasses.replace(made, counts=counts, made_of=texts.made_of)
    if questions:
        counts = [("questions", f"{len(questions):,}"), *made.counts]
        made = dataclasses.replace(made, counts=counts, questions=questions, question_attacks=question_attacks)

    libraries = ["scipy", "spacy", *([recipe.pipeline] if recipe.pipeline else [])]
    models = {"scorer": recipe.scorer, **{f"judges.{index}": judge for index, judge in enumerate(recipe.judges)}}
    if any(not is_trained(model) and not model.endswith(".npz") for model in models.values()):
        libraries += ["torch", "transformers"]
    models |= {"pipeline": recipe.pipeline} if recipe.pipeline else {}
    files = [file for key, model in models.items() if not is_trained(model) for file in model_files(key, Path(model))]
    origin = provenance_of_build(run, texts.files, libraries, files)
    metadata = metadata_of_build(run, texts.files)
    keep = functools.partial(keep_corrections, run)
    write_foils(run.dataset, made, metadata, lambda folder: write_provenance(folder, origin), keep)
    return made


class Losses(NamedTuple):
    """How many captions, videos and possible foils were left out, each by reason, the commonest first."""

    captions: Mapping[str, int]
    videos: Mapping[str, int]
    foils: Mapping[str, int]


def count_losses(mined: Table[FoilPair]) -> Losses:
    """Count what gave no pair; possible foils that were found and not chosen are of no reason."""
    captions, videos, foils = Counter[str](), Counter[str](), Counter[str]()
    for result in mined.results():
        for outcome in result.outcomes:
            if isinstance(outcome, Rejected) and outcome.reason.startswith("foil_"):
                foils[outcome.reason] += int(outcome.detail.partition(" ")[0])
            elif isinstance(outcome, Rejected):
                (captions if outcome.reason in _CAPTION_REASONS else videos)[outcome.reason] += 1
    return Losses(*(dict(counts.most_common()) for counts in (captions, videos, foils)))


def _remedy(reason: str, settings: FoilSettings) -> str:
    """Return what to change so that less is left out for a reason; no setting that is at its end already."""
    names, besides = _REMEDIES[reason]
    values = {name: getattr(settings, name) for name in names}
    changes = [
        f"{verb} {name} ({values[name]:g})"
        for name, (verb, end) in _CHANGES.items()
        if name in values and (values[name] > end if verb == "lower" else values[name] < end)
    ]
    return " or ".join([*changes, besides])


def _explain_nothing(texts: FoilTexts, losses: Losses, settings: FoilSettings) -> str:
    """Return a sentence that says why no foil is left, and what to change where a quarter or more is left out."""
    captions, videos = sum(len(video.texts) for video in texts.videos), len(texts.videos)
    units = (
        ("possible foils left out", sum(losses.foils.values()), losses.foils),
        ("videos", videos, losses.videos),
        ("captions", captions, losses.captions),
    )
    parts = [f"No foil is left of {captions:,} captions of {videos:,} videos"]
    for unit, total, counts in units:
        parts += [
            f"{number:,} of {total:,} {unit} are {reason}: {_remedy(reason, settings)}"
            for reason, number in counts.items()
            if number >= _COMMON_SHARE * total
        ]
    return "; ".join(parts) + "."


def _count_judged(recipe: FoilRecipe, pairs: Sequence[FoilPair], verdicts: Mapping[str, float]) -> tuple[str, int]:
    """Return the name and number of the pairs that were judged before they were taken."""
    name = "foils judged before they were taken"
    if recipe.verdicts is None and recipe.verdicts_of is not None:
        name += f", by the verdicts on test videos that come with {recipe.verdicts_of}"
    return name, sum(pair.foil_id in verdicts for pair in pairs) if recipe.foils.balanced else 0


def _describe_groups(pairs: Sequence[FoilPair]) -> list[tuple[str, str]]:
    """Return the commonest supercategories with their shares, and the entropy of all."""
    counts = Counter(pair.swap.supercategory for pair in pairs)
    shares = [number / len(pairs) for number in counts.values()]
    listed = ", ".join(f"{name} {number / len(pairs):.1%}" for name, number in counts.most_common(5))
    entropy = math.fsum(-share * math.log2(share) for share in shares)
    return [
        ("commonest supercategories", listed),
        ("entropy of supercategories", f"{entropy:.2f} bits; {math.log2(len(counts)):.2f} if all were as common"),
    ]


def _counts(texts: FoilTexts, mined: Table[FoilPair], made: FoilSet, judged: tuple[str, int]) -> list[tuple[str, str]]:
    """Return the rows of (figure, number) that the card shows."""
    if not texts.files:
        losses = count_losses(mined)._asdict()
        named = {"captions": "captions left out", "videos": "videos without a pair", "foils": "possible foils left out"}
        reasons = {
            f"{named[unit]}: {reason}": number for unit, counts in losses.items() for reason, number in counts.items()
        }
        captions = [text for video in texts.videos for text in video.texts]
        numbers = {"captions": len(captions), "videos": len(texts.videos), "pairs": len(made.pairs), **reasons}
        others = estimate_share_of_others(captions, "en")
        shares = [("captions in other languages, estimated", f"{others:.1%}")] if others else []
        return [*((name, f"{number:,}") for name, number in numbers.items()), *shares]
    swaps = Counter((pair.swap.concept, pair.swap.foil_concept) for pair in made.pairs)
    videos = f"{len({pair.video_id for pair in made.pairs}):,}"
    return [
        ("pairs of captions", f"{len(made.pairs):,}"),
        ("pairs of paragraphs" if texts.paragraphs else "videos", videos),
        *([(judged[0], f"{judged[1]:,} of {len(made.pairs):,}")] if judged[1] else []),
        ("pairs of concepts that are swapped", f"{len(swaps):,}"),
        ("concepts that are swapped", f"{len({concept for concept, _ in swaps}):,}"),
        *((f"{name} (the paper)", number) for name, number in texts.reference),
    ]


def model_files(key: str, path: Path) -> Iterable[InputFile]:
    """Return the files of a model that lies on this machine; none of one that is known by its name on the Hub."""
    if path.is_file():
        return [input_file(key, path)]
    if path.is_dir():
        return [input_file(key, file) for file in sorted(path.iterdir()) if file.suffix in _MODEL_SUFFIXES]
    return []


def read_text_pairs(reference: str, columns: Mapping[str, str] | None = None) -> dict[str, list[TextPair]]:
    """Return the pairs of a table (columns true, foil and perhaps video_id, or as `columns` says) or of a dataset.

    They are under ``foils``, and those of a dataset's paragraphs under ``paragraphs``.

    Raises:
        VttdataError: when there is no such table or dataset, or a pair lacks a text.
    """
    if not is_table(reference):
        texts = {"foils": ("caption", "foil"), "paragraphs": ("captions", "foils")}
        dataset = find_dataset(reference)
        pairs: dict[str, list[TextPair]] = {}
        for config, sides in texts.items():
            for path in sorted((dataset / config).glob("*.parquet")):
                with open_parquet(path, *sides, "video_id") as table:
                    for row in table.read(columns=[*sides, "video_id"]).to_pylist():
                        true, foil = (
                            row[side] if isinstance(row[side], str) else " ".join(row[side]) for side in sides
                        )
                        pairs.setdefault(config, []).append(TextPair(true, foil, row["video_id"]))
        return pairs
    listed = []
    known = Columns(("true", "foil", "video_id"), (("true",), ("foil",)), mapping=columns or {}, keep_spaces=True)
    for line, row in read_table(Path(reference), known):
        for name in ("true", "foil"):
            if row.get(name) is None:
                raise VttdataError(f"{reference}:{line}: the {name} text is missing; a row has true and foil.")
            if not isinstance(row[name], str):
                raise VttdataError(f"{reference}:{line}: the column '{name}' should hold a text.")
        listed.append(TextPair(row["true"], row["foil"], str(row.get("video_id") or line).strip()))
    return {"foils": listed}


def read_dataset_questions(folder: Path) -> dict[str, list[MultipleChoice]]:
    """Return the questions of a dataset by kind, those of a source under one id; nothing if it has none."""
    columns = ("kind", "question", "options", "answer", "source_id", "group")
    questions: dict[str, list[MultipleChoice]] = {}
    for paths in read_layout(folder, needs=None).files.get("questions", {}).values():
        for row in read_parquet_rows(paths, columns):
            choice = MultipleChoice(
                row["question"], tuple(row["options"]), row["answer"], row["source_id"], row["group"]
            )
            questions.setdefault(row["kind"], []).append(choice)
    return questions


def find_repeated_questions(folder: Path) -> Counter[str]:
    """Return by kind how many questions have the text and options, in whatever order, of one in another split."""
    splits: dict[tuple[str, ...], set[str]] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for split, paths in read_layout(folder, needs=None).files.get("questions", {}).items():
        for row in read_parquet_rows(paths, ("kind", "question", "options")):
            key = (row["kind"], fold_text(row["question"]), *sorted(map(fold_text, row["options"])))
            splits.setdefault(key, set()).add(split)
            counts[key] += 1
    repeated: Counter[str] = Counter()
    for key, found in splits.items():
        repeated[key[0]] += counts[key] if len(found) > 1 else 0
    return repeated


def read_questions(path: Path, columns: Mapping[str, str] | None = None) -> list[MultipleChoice] | None:
    """Return the questions of a table, see `read_question_table`; None if it is none of questions.

    Those of a row without a video are about a video of their own; videos of one take are one (`group_derived_videos`).
    """
    questions = read_question_table(path, columns)
    if questions is None:
        return None
    videos = [row.video_id or row.location for row in questions]
    takes = group_derived_videos(videos)
    sources = [str(row.cells.get("source_id") or takes[video]) for row, video in zip(questions, videos, strict=True)]
    groups = [None if row.cells.get("group") is None else str(row.cells["group"]) for row in questions]
    return [
        MultipleChoice(row.question, tuple(row.choices.options), row.answer, source, group)
        for row, source, group in zip(questions, sources, groups, strict=True)
    ]
