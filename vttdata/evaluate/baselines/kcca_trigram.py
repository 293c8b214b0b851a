"""The same as `kcca` with the trigram kernel: shared words, pairs and triples in order (Tri of Hodosh et al.)."""

from __future__ import annotations

from functools import partial

from vttdata.evaluate.baseline import Baseline
from vttdata.evaluate.baselines.kcca import correlate_words
from vttdata.generate.prefilter import STOP_WORDS
from vttdata.text.caption_kernels import trigram_vectors

BASELINE = Baseline("retrieval", lambda setting: correlate_words(setting, partial(trigram_vectors, ignored=STOP_WORDS)))
