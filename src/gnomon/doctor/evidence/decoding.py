"""Decoding through a cache: for Hugging Face models (the forward returns one) and models that offer `new_cache()`."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import Model
from gnomon.doctor.evidence.signature import main_output


def decode(
    probe: Model, content: Tensor, chunks: Sequence[int], *, mask: Tensor | None = None, positions: Tensor | None = None
) -> Tensor:
    """Feed content (B, S) in chunks through one cache; the outputs joined, (B, S, ...).

    `mask` (B, S) and `positions` (B, S) are passed as far as they have come: mask for all slots so far, as Hugging Face
    models want it, or for the new ones, as gnomon's do; positions for the new slots.
    """
    cache, outputs, done = _empty(probe), [], 0
    for size in chunks:
        new = slice(done, done + size)
        more = _arguments(probe, cache)
        seen = slice(0, done + size) if _returns_cache(probe) else new
        with torch.no_grad():
            result = probe.forward(
                content[:, new],
                mask=None if mask is None else mask[:, seen],
                positions=None if positions is None else positions[:, new],
                **more,
            )
        outputs.append(main_output(result))
        cache = _cache_of(result) if _returns_cache(probe) else cache
        done += size
    return torch.cat(outputs, dim=1)


def require_cache(probe: Model) -> None:
    """Raise MissingEvidence unless the model can decode step by step."""
    if probe.signature.cache is None or not (_returns_cache(probe) or hasattr(probe.module, "new_cache")):
        raise MissingEvidence("the model has no cache argument")
    if probe.module.__class__.__name__.startswith(("Bert", "Roberta")) and not _is_decoder(probe):
        raise MissingEvidence("the model looks both ways; it does not decode step by step")


def _is_decoder(probe: Model) -> bool:
    return bool(getattr(getattr(probe.module, "config", None), "is_decoder", False))


def _returns_cache(probe: Model) -> bool:
    return probe.signature.use_cache


def _empty(probe: Model) -> Any:
    return None if _returns_cache(probe) else probe.module.new_cache()  # type: ignore[operator]


def _arguments(probe: Model, cache: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {} if cache is None else {str(probe.signature.cache): cache}
    return {**arguments, "use_cache": True} if _returns_cache(probe) else arguments


def _cache_of(result: Any) -> Any:
    cache = getattr(result, "cache", None)
    if cache is None:
        cache = getattr(result, "past_key_values", None)
    if cache is None:
        raise MissingEvidence("the forward took use_cache=True but returned no cache")
    return cache
