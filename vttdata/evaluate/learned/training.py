"""Training of a learned metric on people's scores, with seeds, and resumed where it was interrupted.

The encoder is any one of HuggingFace, or a small one trained from scratch: first on pairs of captions of one video,
which should be nearer than captions of other videos, then on people's scores. Of another encoder's embeddings a
regression alone is fitted, in closed form, unless it is fine-tuned. A cross-encoder is fine-tuned as a whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.learned.pair_model import CROSS_ENCODER, HEAD, PairModel, best_similarity, pair_features
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Floats
from vttdata.statistics.bootstrap import draw_sources, effective_number
from vttdata.statistics.correlation import correlation_difference_p, pearson_in_draws
from vttdata.text.lm.pretrained import embed_batch, load_pretrained, name_of_model, predict_batch, split_revision

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


# Penalties of the frozen regression's squared weights, beside the mean squared error; chosen by folds of videos.
_RIDGE = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_FOLDS = 5
# Of the encoder that is trained from scratch.
_VOCABULARY, _WIDTH, _LAYERS, _HEADS = 8000, 128, 2, 4
_TEMPERATURE = 0.05
_CHECKPOINT = ".vttdata-training"


_CARD_HEAD = """---
library_name: transformers
tags: [captioning-metric]
---
# Learned captioning metric

Predicts people's scores of a caption from the caption and its references; it does not see the video. Written by
`vttdata metric train`, used by `vttdata evaluate ... --metric learned --model learned=FOLDER`.
"""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training.

    Fields:
        encoder: name or folder of an encoder, with ``@REVISION`` where needed; None for a small one from scratch.
        fine_tune: train the encoder, too; one from scratch and a cross-encoder always are.
        cross_encoder: read both texts in one sequence, with a perceptron on its [CLS].
        epochs: passes over the judged captions.
        pair_epochs: passes over pairs of captions before.
        batch: captions a step.
        rate: learning rate.
        seed: of weights, order and dropout.
    """

    encoder: str | None = None
    fine_tune: bool = False
    cross_encoder: bool = False
    epochs: int = 3
    pair_epochs: int = 0
    batch: int = 32
    rate: float = 5e-5
    seed: int = 0

    @property
    def frozen(self) -> bool:
        """Whether a regression on the encoder's embeddings is all that is fitted."""
        return self.encoder is not None and not (self.fine_tune or self.cross_encoder)


@dataclass(frozen=True, eq=False)
class JudgedCaptions:
    """Judged captions of one set: texts, people's scores standardised by annotator where known, numbers of videos."""

    name: str
    candidates: Sequence[str]
    references: Sequence[Sequence[str]]
    human: Floats
    sources: Sequence[int]

    @classmethod
    def of(cls, table: JudgmentTable) -> JudgedCaptions:
        """Return the judged captions of a table.

        Raises:
            VttdataError: if none of them has a text and references, or people gave all the same score.
        """
        human = table.z if "z" in table.human_scores else table.raw
        rows = [
            row
            for row, value in enumerate(human)
            if not np.isnan(value) and table.candidates[row] is not None and table.references[row]
        ]
        if not rows or np.ptp(human[rows]) == 0:
            raise VttdataError(f"{table.name}: no captions with a text, references and different scores by people.")
        return cls(
            table.name,
            [table.candidates[row] or "" for row in rows],
            [table.references[row] for row in rows],
            human[rows],
            table.sources[rows].tolist(),
        )


@dataclass(frozen=True)
class HeldOut:
    """Agreement with people on a set that was not trained on: Pearson's r of the metric and of the plain similarity.

    `p` is that of the metric being better, `p_worse` of its being worse, over draws of videos; see
    `correlation_difference_p`.
    """

    name: str
    captions: int
    r: float
    similarity: float
    p: float
    p_worse: float


def train_metric(
    train: Sequence[JudgedCaptions],
    test: Sequence[JudgedCaptions],
    out: Path,
    settings: TrainingSettings,
    *,
    pairs: Mapping[str, Sequence[str]] | None = None,
    device: str = "cpu",
) -> list[HeldOut]:
    """Train a metric and write it into a folder; continue there if an earlier training with the same data was cut off.

    Args:
        train: judged captions.
        test: judged captions of other videos, on which the metric is compared with the plain similarity of the encoder
            before it saw people's scores.
        out: folder that does not exist, is empty, or holds the beginning of this training.
        settings: see `TrainingSettings`.
        pairs: captions by video, of which an encoder learns from pairs.
        device: where to compute.

    Returns:
        Comparisons on `test`.

    Raises:
        VttdataError: if a library, model or device is missing, the folder holds something else, or there is nothing to
            learn from.
    """
    if not train:
        raise VttdataError("There are no judged captions to learn from.")
    if settings.cross_encoder and (settings.encoder is None or settings.pair_epochs):
        raise VttdataError("A cross-encoder is fine-tuned as a whole: name an --encoder, and leave out --pair-epochs.")
    if settings.frozen and settings.pair_epochs:
        raise VttdataError("An encoder learns from pairs of captions when it is fine-tuned: add --fine-tune.")
    if settings.pair_epochs and not pairs:
        raise VttdataError("To learn from pairs of captions, name captions with --pairs.")
    groups = [list(dict.fromkeys(texts)) for texts in (pairs or {}).values()]
    groups = [texts for texts in groups if len(texts) > 1]
    digest = hashlib.sha256(
        json.dumps(
            [
                asdict(settings),
                [
                    [judged.candidates, list(map(list, judged.references)), judged.human.tolist()]
                    for judged in (*train, *test)
                ],
                groups,
            ]
        ).encode()
    ).hexdigest()
    checkpoint = _Checkpoint(out / _CHECKPOINT, digest)
    checkpoint.check(out)
    model = _first_model(settings, train, groups, device)
    if settings.frozen:
        vectors = model.embed([text for judged in (*train, *test) for text in _texts(judged)])
        before = [best_similarity(vectors, judged.candidates, judged.references) for judged in test]
        model.head = _fit_ridge(vectors, train)
        scores = [model.score(judged.candidates, judged.references, vectors) for judged in test]
    else:
        before = _Trainer(model, train, groups, settings, checkpoint).run(test)
        scores = [model.score(judged.candidates, judged.references) for judged in test]
    results = list(map(_compare, test, scores, before))
    facts = {
        **asdict(settings),
        "frozen": settings.frozen,
        "encoder": name_of_model(*split_revision(settings.encoder)) if settings.encoder else None,
    }
    model.save(
        out,
        {"settings": facts, "data": digest[:16], "held_out": [asdict(r) for r in results]},
        _card(facts, train, results),
    )
    shutil.rmtree(out / _CHECKPOINT, ignore_errors=True)
    return results


def _texts(judged: JudgedCaptions) -> list[str]:
    return [*judged.candidates, *(text for group in judged.references for text in group)]


def _first_model(
    settings: TrainingSettings, train: Sequence[JudgedCaptions], groups: Sequence[Sequence[str]], device: str
) -> PairModel:
    """Return the encoder before training, with a regression that is the plain similarity, or a drawn head on [CLS]."""
    if settings.encoder is not None:
        name, revision = split_revision(settings.encoder)
        if settings.cross_encoder:
            encoder, tokenizer = load_pretrained(
                name,
                "text encoder",
                auto_class=CROSS_ENCODER,
                revision=revision,
                device=device,
                head_seed=settings.seed,
            )
            human = np.concatenate([judged.human for judged in train])
            return PairModel(encoder, tokenizer, np.array([human.std(), human.mean()]))
        encoder, tokenizer = load_pretrained(name, "text encoder", revision=revision, device=device)
    else:
        texts = [*(text for judged in train for text in _texts(judged)), *(text for group in groups for text in group)]
        encoder, tokenizer = _build_encoder(texts, settings.seed, device)
    head = np.zeros(encoder.config.hidden_size + 3)
    head[0] = 1.0
    return PairModel(encoder, tokenizer, head)


def _build_encoder(texts: Sequence[str], seed: int, device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a small transformer with drawn weights and a tokenizer trained on texts."""
    try:
        import torch
        from tokenizers import BertWordPieceTokenizer
        from transformers import BertConfig, BertModel, BertTokenizerFast
    except ImportError as error:
        raise VttdataError("To train a metric: pip install 'vttdata[lm]'.") from error
    pieces = BertWordPieceTokenizer(lowercase=True)
    pieces.train_from_iterator(sorted(set(texts)), vocab_size=_VOCABULARY, min_frequency=2, show_progress=False)
    tokenizer = BertTokenizerFast(tokenizer_object=pieces._tokenizer, model_max_length=128)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=_WIDTH,
        num_hidden_layers=_LAYERS,
        num_attention_heads=_HEADS,
        intermediate_size=4 * _WIDTH,
        max_position_embeddings=128,
    )
    try:
        return BertModel(config).to(device).eval(), tokenizer
    except (RuntimeError, AssertionError) as error:
        raise VttdataError(f"Nothing can be trained on {device}: {str(error).splitlines()[0]}") from error


def _fit_ridge(vectors: dict[str, Floats], train: Sequence[JudgedCaptions]) -> Floats:
    """Return the regression on frozen embeddings whose penalty predicts other videos best."""
    features, folds = [], []
    for number, judged in enumerate(train):
        features.append(pair_features(vectors, judged.candidates, judged.references))
        folds += [hash((number, source)) % _FOLDS for source in judged.sources]
    rows, human, fold = np.concatenate(features), np.concatenate([judged.human for judged in train]), np.array(folds)
    numbers = np.unique(fold)

    def squared_error(penalty: float) -> float:
        total = 0.0
        for inside in (fold == number for number in (numbers if len(numbers) > 1 else ())):
            head = _ridge(rows[~inside], human[~inside], penalty)
            total += float(np.sum((human[inside] - (rows[inside] @ head[:-1] + head[-1])) ** 2))
        return total

    return _ridge(rows, human, min(_RIDGE, key=squared_error))


def _ridge(rows: Floats, human: Floats, penalty: float) -> Floats:
    mean = rows.mean(axis=0)
    centred = rows - mean
    gram = centred.T @ centred / len(rows)
    gram[np.diag_indices_from(gram)] += penalty
    weights = np.linalg.solve(gram, centred.T @ (human - human.mean()) / len(rows))
    return np.append(weights, human.mean() - mean @ weights)


class _Checkpoint:
    """State of a training after its last finished epoch: weights and moments as safetensors, replaced in one step."""

    def __init__(self, folder: Path, digest: str) -> None:
        self.folder, self.digest = folder, digest

    def check(self, out: Path) -> None:
        """Raise VttdataError if a folder holds anything but the beginning of this training."""
        state = self._state()
        if (
            state is None
            and out.exists()
            and (not out.is_dir() or any(path.name != _CHECKPOINT for path in out.iterdir()))
        ):
            what = "a learned metric" if (out / HEAD).is_file() else "something else"
            raise VttdataError(f"'{out}' already holds {what}; name another folder with --out.")
        if state is not None and state["digest"] != self.digest:
            raise VttdataError(
                f"'{out}' holds the beginning of another training; continue that one, or name another folder."
            )

    def _state(self) -> dict[str, torch.Tensor] | None:
        try:
            state = json.loads((self.folder / "state.json").read_bytes())
        except (OSError, ValueError):
            return None
        return state if isinstance(state, dict) and isinstance(state.get("epochs"), int) else None

    def read(self) -> tuple[int, JsonObject]:
        """Return how many epochs are finished, and the tensors."""
        from safetensors.torch import load_file

        state = self._state()
        return (state["epochs"], load_file(self.folder / state["file"])) if state else (0, {})

    def write(self, epochs: int, tensors: dict[str, torch.Tensor]) -> None:
        """Keep the state after some epochs."""
        from safetensors.torch import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        file = f"epoch-{epochs}.safetensors"
        save_file(
            {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}, self.folder / file
        )
        partial = self.folder / "state.part"
        text = json.dumps({"digest": self.digest, "epochs": epochs, "file": file})
        partial.write_text(text, encoding="utf-8", newline="\n")
        os.replace(partial, self.folder / "state.json")
        for path in self.folder.glob("epoch-*.safetensors"):
            if path.name != file:
                path.unlink()


class _Trainer:
    """Training of an encoder and its regression, epoch by epoch."""

    def __init__(
        self,
        model: PairModel,
        train: Sequence[JudgedCaptions],
        groups: Sequence[Sequence[str]],
        settings: TrainingSettings,
        checkpoint: _Checkpoint,
    ) -> None:
        import torch

        self.model, self.groups, self.settings, self.checkpoint = model, groups, settings, checkpoint
        self.judged = [
            (candidate, reference, value)
            for judged in train
            for candidate, group, value in zip(judged.candidates, judged.references, judged.human, strict=True)
            for reference in group
        ]
        self.head = torch.tensor(model.head, dtype=torch.float32, device=model.encoder.device, requires_grad=True)
        parameters = [*model.encoder.parameters(), self.head]
        self.optimizer = torch.optim.AdamW(parameters, lr=settings.rate, foreach=False)

    def run(self, test: Sequence[JudgedCaptions]) -> list[Floats]:
        """Train to the end, and return the plain similarities of `test` before people's scores were seen."""
        finished, tensors = self.checkpoint.read()
        if finished:
            self._restore(tensors)
        before = [
            tensors[f"similarity.{number}"].numpy() for number in range(len(test)) if f"similarity.{number}" in tensors
        ]
        for epoch in range(finished, self.settings.pair_epochs + self.settings.epochs):
            if epoch == self.settings.pair_epochs:
                before = self._similarities(test)
            self._run_epoch(epoch)
            self.checkpoint.write(epoch + 1, self._tensors(before))
        self.model.encoder.eval()
        self.model.head = self.head.detach().double().cpu().numpy()
        return before or self._similarities(test)

    def _similarities(self, test: Sequence[JudgedCaptions]) -> list[Floats]:
        self.model.encoder.eval()
        return [
            best_similarity(self.model.embed(_texts(judged)), judged.candidates, judged.references) for judged in test
        ]

    def _run_epoch(self, epoch: int) -> None:
        import torch

        # Order and dropout follow from the seed and the epoch, so that a resumed training is the same.
        torch.manual_seed(self.settings.seed * 1_000_003 + epoch)
        rng = np.random.default_rng([self.settings.seed, epoch])
        self.model.encoder.train()
        losses = self._pair_losses(rng) if epoch < self.settings.pair_epochs else self._score_losses(rng)
        for loss in losses:
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.encoder.parameters(), 1.0)
            self.optimizer.step()

    def _embed(self, texts: Sequence[str]) -> torch.Tensor:
        import torch

        return torch.nn.functional.normalize(embed_batch(self.model.encoder, self.model.tokenizer, texts), dim=1)

    def _pair_losses(self, rng: np.random.Generator) -> Iterator[torch.Tensor]:
        """Yield the loss of each batch: which of the batch's captions is of the same video (InfoNCE)."""
        import torch

        order = rng.permutation(len(self.groups))
        for start in range(0, len(order), self.settings.batch):
            chosen = [
                rng.choice(len(self.groups[i]), 2, replace=False) for i in order[start : start + self.settings.batch]
            ]
            rows = [self.groups[i] for i in order[start : start + self.settings.batch]]
            if len(rows) < 2:
                continue
            first, second = (
                self._embed([row[pick[side]] for row, pick in zip(rows, chosen, strict=True)]) for side in (0, 1)
            )
            target = torch.arange(len(rows), device=first.device)
            yield torch.nn.functional.cross_entropy(first @ second.T / _TEMPERATURE, target)

    def _score_losses(self, rng: np.random.Generator) -> Iterator[torch.Tensor]:
        """Yield the squared error of each batch of judged captions with one of their references each."""
        import torch

        order = rng.permutation(len(self.judged))
        for start in range(0, len(order), self.settings.batch):
            rows = [self.judged[i] for i in order[start : start + self.settings.batch]]
            texts = [[row[side] for row in rows] for side in (0, 1)]
            if self.model.is_cross:
                features = predict_batch(self.model.encoder, self.model.tokenizer, *texts)[:, None]
            else:
                u, v = map(self._embed, texts)
                cosine = (u * v).sum(dim=1, keepdim=True)
                features = torch.cat([cosine, cosine, u * v * u.shape[1] ** 0.5], dim=1)
            human = torch.tensor([row[2] for row in rows], dtype=torch.float32, device=self.head.device)
            yield torch.nn.functional.mse_loss(features @ self.head[:-1] + self.head[-1], human)

    def _tensors(self, before: Sequence[Floats]) -> dict[str, torch.Tensor]:
        import torch

        tensors = {f"encoder.{name}": tensor for name, tensor in self.model.encoder.state_dict().items()}
        tensors["head"] = self.head
        for number, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": torch.as_tensor(value) for name, value in state.items()}
        return tensors | {f"similarity.{number}": torch.from_numpy(values) for number, values in enumerate(before)}

    def _restore(self, tensors: dict[str, torch.Tensor]) -> None:
        import torch

        part = "encoder."
        self.model.encoder.load_state_dict({n.removeprefix(part): t for n, t in tensors.items() if n.startswith(part)})
        with torch.no_grad():
            self.head.copy_(tensors["head"])
        states: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(".")
            if kind == "optimizer":
                number, _, field = rest.partition(".")
                states.setdefault(int(number), {})[field] = tensor
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": states})


def _compare(judged: JudgedCaptions, scores: Floats, plain: Floats) -> HeldOut:
    sources = np.unique(judged.sources, return_inverse=True)[1]
    number = int(sources.max()) + 1
    weights = np.concatenate([np.ones((1, number)), *draw_sources(number)])
    metric, similarity = (pearson_in_draws(values, judged.human, sources, weights) for values in (scores, plain))
    effective = effective_number(np.bincount(sources))
    return HeldOut(
        judged.name,
        len(scores),
        float(metric[0]),
        float(similarity[0]),
        correlation_difference_p(metric, similarity, effective),
        correlation_difference_p(similarity, metric, effective),
    )


def verdict(results: Sequence[HeldOut]) -> str:
    """Return in one sentence whether the metric beats the plain similarity on the sets that were held out."""
    if not results:
        return "Nothing was held out, so nothing is known about its agreement with people on other data."
    better, worse = sum(r.p < 0.05 for r in results), sum(r.p_worse < 0.05 for r in results)
    mean = sum(r.r - r.similarity for r in results) / len(results)
    return (
        f"On {len(results)} held-out sets its r is on average {abs(mean):.3f} {'higher' if mean > 0 else 'lower'} than "
        f"that of the plain similarity; it is significantly better on {better} and worse on {worse} (over draws "
        "of videos, p < .05)."
    )


def _card(settings: JsonObject, train: Sequence[JudgedCaptions], results: Sequence[HeldOut]) -> str:
    rows = [f"| {r.name} | {r.captions:,} | {r.r:.3f} | {r.similarity:.3f} | {r.p:.3g} |" for r in results]
    table = [
        "| held out | captions | r with people | r of the plain similarity | p |",
        "|---|--:|--:|--:|--:|",
        *rows,
    ]
    facts = [
        f"- Encoder: {settings['encoder'] or 'trained from scratch'}{', frozen' if settings['frozen'] else ''}"
        + (", a cross-encoder" if settings["cross_encoder"] else ""),
        f"- Trained on: {', '.join(f'{judged.name} ({len(judged.candidates):,} captions)' for judged in train)}",
        f"- Settings: `{json.dumps(dict(settings))}`",
    ]
    return "\n".join([_CARD_HEAD, *facts, "", verdict(results), *(["", *table] if results else []), ""])
