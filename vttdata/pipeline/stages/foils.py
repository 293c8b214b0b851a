"""Stage that turns captions into foils. How they are mined and chosen is decided in `vttdata.generate.foils`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.human_verdicts import read_verdicts
from vttdata.generate.foils.mine import LanguageTools, Progress, mine_videos
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.video_texts import VideoTexts
from vttdata.pipeline.stage import Kept, Outcome, Rejected, WholeStage


@dataclass(frozen=True)
class Foils(WholeStage[VideoTexts, FoilPair]):
    """Pairs of a true caption and its foil.

    Fields:
        scorer: language model that mines them.
        lexicon: file in place of the packaged lexicon, or that extends it; `lexicon_version` identifies its content.
        pipeline: trained spaCy pipeline that finds nouns; rules find them without one.
        device: where a causal model computes.
        verdicts: table of verdicts on foils; `verdicts_digest` identifies its content.
        watch: is given each lot of videos and what is done to them, and yields them one by one, to show progress.
    """

    name = "foils"
    version = 8
    output = FoilPair
    id_column = "video_id"
    reasons = frozenset({"empty", "misaligned", "no_concept", "no_reference", "no_swap", "not_chosen"}) | {
        f"foil_{why}"
        for why in (
            "contradicted",
            "heard",
            "implausible",
            "implied",
            "mentioned",
            "negated",
            "pronoun",
            "refused",
            "too_few",
        )
    }

    settings: FoilSettings
    seed: int
    scorer: str
    lexicon: str | None
    lexicon_version: str
    pipeline: str | None = None
    device: str = "cpu"
    verdicts: str | None = None
    verdicts_digest: str | None = None
    watch: Progress | None = field(default=None, metadata={"runtime": True})

    def process(self, item: tuple[VideoTexts, ...]) -> Iterator[Outcome[FoilPair]]:
        """Keep the chosen pairs; reject captions and videos that give none."""
        tools = LanguageTools.load(lexicon=self.lexicon, scorer=self.scorer, device=self.device, pipeline=self.pipeline)
        corpus = mine_videos(
            item,
            tools,
            settings=self.settings,
            seed=self.seed,
            verdicts={} if self.verdicts is None else read_verdicts(Path(self.verdicts)),
            watch=self.watch,
        )
        yield from map(Kept, corpus.pairs)
        yield from (Rejected(name, reason, detail) for name, reason, detail in corpus.rejected)
