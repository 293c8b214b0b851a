"""The stage that turns captions into foils; how, is the business of `vttdata.generate`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.generate.foils.documents import FoilPair
from vttdata.generate.foils.mine import mine_videos
from vttdata.generate.foils.search import FoilSettings
from vttdata.generate.foils.verdicts import read_verdicts
from vttdata.generate.foils.videos import VideoTexts
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage
from vttdata.text.lm import scorer_maker
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.spacy_finder import load_pipeline


@dataclass(frozen=True)
class Foils(Stage):
    """Pairs of a true caption and its foil.

    Fields:
        settings: how they are chosen.
        seed: of all choices.
        scorer: the language model that mines them.
        lexicon: a file in the place of the packaged lexicon, or that extends it; `lexicon_version` says what is in it.
        pipeline: a trained spaCy pipeline that finds nouns; by rule without one.
        device: where a causal model computes.
        verdicts: a file of them on foils that were judged; `verdicts_digest` says what they are.
    """

    name = "foils"
    version = 3
    output = FoilPair
    id_column = "video_id"
    all_at_once = True
    reasons = frozenset({"empty", "misaligned", "no_concept", "no_reference", "not_chosen"})

    settings: FoilSettings
    seed: int
    scorer: str
    lexicon: str | None
    lexicon_version: str
    pipeline: str | None = None
    device: str = "cpu"
    verdicts: str | None = None
    verdicts_digest: str | None = None

    def process(self, item: tuple[VideoTexts, ...]) -> Iterator[Outcome]:
        """Keep the chosen pairs; reject captions and videos that give none."""
        lexicon = load_lexicon(Path(self.lexicon) if self.lexicon is not None else None)
        corpus = mine_videos(
            item,
            lexicon,
            settings=self.settings,
            seed=self.seed,
            make_scorer=scorer_maker(self.scorer, device=self.device),
            pipeline=None if self.pipeline is None else load_pipeline(self.pipeline),
            verdicts={} if self.verdicts is None else read_verdicts(Path(self.verdicts)),
        )
        yield from map(Kept, corpus.pairs)
        yield from (Rejected(name, reason, detail) for name, reason, detail in corpus.rejected)
