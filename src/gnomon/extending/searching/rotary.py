"""The rotary part of a transformers model: what it turns by, and other frequencies for as long as a block runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float64
from torch import nn

from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError
from gnomon.extending.rotary.lengths import trained_length
from gnomon.extending.rotary.reading import RotaryConfig, read_rotary

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
    if not all(bool((part.get_buffer("inv_freq") > 0).all()) for part in found):
        raise GnomonError(f"{type(module).__name__} has pairs that do not turn, which no factor changes.")
    config = _config(module)
    return Rotary(found, config.held[0].base, trained_length(config, original))


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


def _config(module: nn.Module) -> RotaryConfig:
    config: Any = getattr(module, "config", None)
    read = read_rotary(config.to_dict()) if hasattr(config, "to_dict") else None
    if read is None:
        raise GnomonError(f"The config of {type(module).__name__} says nothing of rotation, so factors have no base.")
    return read
