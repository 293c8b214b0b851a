"""Models of the CLIP family in `transformers`: texts and pictures in, unit vectors out.

Token vectors are the text projection of the last hidden states, of which the end token's is the text's own embedding.
Pictures are resized by `vttdata.media.pictures`, so that vectors do not depend on versions of Pillow or torchvision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.evaluate.embeddings.matching import Tokens, Vectors, unit_vectors
from vttdata.json_types import JsonObject
from vttdata.media.pictures import Filter, resize
from vttdata.text.lm.pretrained import load_pretrained

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


# A batch that does not fit into the memory of a GPU is halved.
_TEXTS_PER_BATCH = 256
_PICTURES_PER_BATCH = 64
_NEEDED = ("text_model", "text_projection", "vision_model", "visual_projection")
_FILTERS: dict[int, Filter] = {2: "bilinear", 3: "bicubic"}


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """How a picture becomes the input of a vision model.

    Fields:
        resized: pixels of the shorter side, or height and width, or None for no resizing.
        crop: height and width that are cut out of the middle, or None.
        scale: factor of grey levels.
        mean: subtracted from each channel.
        deviation: that each channel is divided by.
        method: of resizing.
    """

    resized: int | tuple[int, int] | None
    crop: tuple[int, int] | None
    scale: float
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    method: Filter

    @classmethod
    def from_config(cls, config: JsonObject) -> Preprocessing:
        """Read the settings of an image processor of `transformers`.

        Raises:
            VttdataError: if one of them is of a kind that is unknown here.
        """
        size, crop = config.get("size"), config.get("crop_size")
        resized = size["shortest_edge"] if isinstance(size, dict) and "shortest_edge" in size else size
        method = _FILTERS.get(int(config.get("resample", 3)))
        if method is None:
            raise VttdataError(f"its pictures are resized by filter {config['resample']}, not bicubic or bilinear")
        try:
            return cls(
                (resized if isinstance(resized, int) else _sides(resized)) if config.get("do_resize", True) else None,
                _sides(crop) if config.get("do_center_crop", False) else None,
                float(config["rescale_factor"]) if config.get("do_rescale", True) else 1.0,
                tuple(config["image_mean"]) if config.get("do_normalize", True) else (0.0,),
                tuple(config["image_std"]) if config.get("do_normalize", True) else (1.0,),
                method,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise VttdataError(f"its preprocessor_config.json is incomplete ({error})") from error

    def apply(self, picture: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the input for a picture, RGB (height, width, 3), as (3, height, width)."""
        pixels = picture.astype(np.float32)
        if self.resized is not None:
            sides = self.resized
            if isinstance(sides, int):
                short = min(picture.shape[:2])
                height, width = (max(sides * side // short, 1) for side in picture.shape[:2])
            else:
                height, width = sides
            pixels = resize(picture, height, width, self.method)
        if self.crop is not None:
            pixels = _crop(pixels, *self.crop)
        mean, deviation = (np.array(values, dtype=np.float32) for values in (self.mean, self.deviation))
        scaled = (pixels * np.float32(self.scale) - mean) / deviation
        return np.ascontiguousarray(scaled.transpose(2, 0, 1), dtype=np.float32)


class ClipModel:
    """Model of the CLIP family; made by `load`.

    It is a ``transformers`` model with projections of texts and pictures into one space, with its tokenizer.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, preprocessing: Preprocessing
    ) -> None:
        self._model, self._tokenizer, self._preprocessing = model, tokenizer, preprocessing

    @classmethod
    def load(cls, model: str, *, revision: str | None = None, device: str = "cpu") -> ClipModel:
        """Load a model by its name on the Hub or from a folder.

        Raises:
            VttdataError: when a library is missing, the model is not available, or is not of the CLIP family.
        """
        loaded, tokenizer = load_pretrained(model, "CLIP model", revision=revision, device=device)
        if not all(hasattr(loaded, part) for part in _NEEDED):
            raise VttdataError(
                f"The model '{model}' is a {type(loaded).__name__} and no CLIP: it has no projections of texts and "
                "pictures into one space."
            )
        from transformers.image_processing_base import ImageProcessingMixin

        from vttdata.hub_client import hub_requests

        try:
            with hub_requests(model):
                config, _ = ImageProcessingMixin.get_image_processor_dict(model, revision=revision)
            preprocessing = Preprocessing.from_config(config)
        except (OSError, ValueError, VttdataError) as error:
            reason = str(error).strip().split("\n")[0]
            raise VttdataError(f"The CLIP model '{model}' does not say how pictures are prepared: {reason}.") from error
        return cls(loaded, tokenizer, preprocessing)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts, start and end token included; long texts are cut to what the model reads."""
        if not texts:
            return []
        longest = min(self._model.config.text_config.max_position_embeddings, self._tokenizer.model_max_length)
        rows = self._tokenizer(list(texts), truncation=True, max_length=int(longest))["input_ids"]
        return [np.array(row, dtype=np.int64) for row in rows]

    def token_texts(self, tokens: Tokens) -> list[str]:
        """Return how each token is written."""
        return [self._tokenizer.decode([token]).strip() for token in tokens.tolist()]

    def encode_texts(self, rows: Sequence[Tokens]) -> list[Vectors]:
        """Return unit vectors of the tokens of texts, (t, d) each."""
        import torch

        def encode(indices: Sequence[int]) -> list[Vectors]:
            longest = max(len(rows[index]) for index in indices)
            # What padding holds makes no difference: it is masked, and comes after all that is read.
            ids = torch.full((len(indices), longest), self._tokenizer.pad_token_id or 0)
            mask = torch.zeros((len(indices), longest), dtype=torch.long)
            for number, index in enumerate(indices):
                ids[number, : len(rows[index])] = torch.from_numpy(rows[index])
                mask[number, : len(rows[index])] = 1
            device = self._model.device
            hidden = self._model.text_model(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state
            vectors = self._model.text_projection(hidden).cpu().numpy()
            return [unit_vectors(vectors[number, : len(rows[index])]) for number, index in enumerate(indices)]

        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        encoded = self._run_batches(order, _TEXTS_PER_BATCH, encode)
        by_index = dict(zip(order, encoded, strict=True))
        return [by_index[index] for index in range(len(rows))]

    def encode_pictures(self, pictures: Iterable[NDArray[np.uint8]]) -> Vectors:
        """Return unit vectors of pictures, RGB (height, width, 3) each, as (n, d)."""
        import torch

        def encode(inputs: Sequence[NDArray[np.float32]]) -> list[Vectors]:
            pixels = torch.from_numpy(np.stack(inputs)).to(self._model.device)
            pooled = self._model.vision_model(pixel_values=pixels).pooler_output
            return list(unit_vectors(self._model.visual_projection(pooled).cpu().numpy()))

        prepared = map(self._preprocessing.apply, pictures)
        return np.stack(list(self._run_batches(prepared, _PICTURES_PER_BATCH, encode)))

    def _run_batches(
        self, items: Iterable[Any], size: int, encode: Callable[[Sequence[Any]], list[Vectors]]
    ) -> Iterator[Vectors]:
        import torch

        waiting = iter(items)
        while batch := list(islice(waiting, size)):
            # Convolutions of a GPU would round to 10 bits otherwise.
            with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
                yield from _halve_until_it_fits(batch, encode)


def _halve_until_it_fits(batch: Sequence[Any], encode: Callable[[Sequence[Any]], list[Vectors]]) -> list[Vectors]:
    import torch

    try:
        return encode(batch)
    except torch.OutOfMemoryError:
        if len(batch) == 1:
            raise
    torch.cuda.empty_cache()
    middle = len(batch) // 2
    return _halve_until_it_fits(batch[:middle], encode) + _halve_until_it_fits(batch[middle:], encode)


def _sides(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size["height"], size["width"])


def _crop(pixels: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """Cut the middle out of a picture, filled up with black where it is too small."""
    missing = [max(side - has, 0) for side, has in zip((height, width), pixels.shape[:2], strict=True)]
    if any(missing):
        pixels = np.pad(pixels, [(side // 2, side - side // 2) for side in missing] + [(0, 0)])
    top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
    return pixels[top : top + height, left : left + width]
