"""The rotary part of a transformers model: what it turns by, and other frequencies for as long as a block runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float64
from torch import nn

from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError

KEY = "original_max_position_embeddings"
Pairs = Float64[np.ndarray, " pairs"]


@final
@dataclass(frozen=True)
class Rotary:
    """`modules` share one set of frequencies; `original` is the length in tokens that the model was trained on."""

    modules: tuple[nn.Module, ...]
    base: float
    original: int

    @property
    def dim(self) -> int:
        """The rotated width of a head."""
        return 2 * len(_inverse(self.modules[0]))

    @property
    def plain(self) -> Pairs:
        """The frequencies without any scaling."""
        return Plain(self.base).inverse(self.dim)

    @property
    def current(self) -> Pairs:
        """The divisors of short rows as the model has them: 1 where it is not scaled."""
        divisors: Pairs = self.plain / _inverse(self.modules[0])
        return divisors


def rotary_of(module: nn.Module, original: int | None = None) -> Rotary:
    """The rotary part of a transformers model; `original` where its config does not tell the trained length.

    Raises GnomonError for a model that has none, or one for each kind of layer.
    """
    found = tuple(part for part in module.modules() if isinstance(getattr(part, "inv_freq", None), torch.Tensor))
    if not found or not all(hasattr(part, "attention_scaling") for part in found):
        kinds = [name for name, _ in module.named_buffers() if name.endswith("_inv_freq") and "original" not in name]
        what = "has frequencies for each kind of layer" if kinds else "has no rotary part of transformers"
        raise GnomonError(f"{type(module).__name__} {what}; factors are searched where all layers turn alike.")
    if not all(torch.equal(part.get_buffer("inv_freq"), found[0].get_buffer("inv_freq")) for part in found):
        raise GnomonError(f"The layers of {type(module).__name__} turn differently; factors are searched for one rule.")
    block, longest = _block(module)
    base = block.get("rope_theta")
    if not isinstance(base, int | float):
        raise GnomonError(f"The config of {type(module).__name__} gives no rope_theta, so factors have no base.")
    if not all(bool((part.get_buffer("inv_freq") > 0).all()) for part in found):
        raise GnomonError(f"{type(module).__name__} has pairs that do not turn, which no factor changes.")
    return Rotary(found, float(base), original or _original(block, longest))


@contextmanager
def turned(rotary: Rotary, inverse: Pairs, attention_factor: float) -> Iterator[None]:
    """The model with these frequencies, and this factor on cos and sin, at every length; all is put back after."""
    parts: list[Any] = list(rotary.modules)
    before = [(part, part.inv_freq.clone(), part.attention_scaling, getattr(part, "rope_type", None)) for part in parts]
    try:
        for part in parts:
            part.inv_freq.copy_(torch.from_numpy(inverse))
            part.attention_scaling = attention_factor
            part.rope_type = "default"  # nothing then looks at the length
        yield
    finally:
        for part, frequencies, factor, kind in before:
            part.inv_freq.copy_(frequencies)
            part.attention_scaling, part.rope_type = factor, kind


def _inverse(part: nn.Module) -> Pairs:
    own = dict(part.named_buffers())
    inverse: Pairs = own.get("original_inv_freq", own["inv_freq"]).double().cpu().numpy()
    return inverse


def _block(module: nn.Module) -> tuple[Mapping[str, Any], int | None]:
    """The rotary block and the longest length of the text model's config."""
    config: Any = getattr(module, "config", None)
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    block = getattr(text, "rope_parameters", None)
    longest = getattr(text, "max_position_embeddings", None)
    beside = {KEY: value} if isinstance(value := getattr(text, KEY, None), int) else {}
    told = {**beside, **block} if isinstance(block, Mapping) else beside
    return told, longest if isinstance(longest, int) else None


def _original(block: Mapping[str, Any], longest: int | None) -> int:
    scaled, stated = block.get("rope_type", "default") != "default", block.get(KEY)
    if scaled and isinstance(stated, int) and stated > 1:
        return stated
    if scaled or longest is None:
        raise GnomonError(
            f"The config scales its frequencies and does not say from which length ({KEY}); give original=, the length "
            "in tokens that the model was trained on."
        )
    return longest
