"""Encodings of a run from plain JSON values, and the ways to join positions and words that the lab compares."""

import inspect
import json
from collections.abc import Mapping
from typing import Any, Literal, final, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, build, registry
from gnomon.errors import GnomonError
from gnomon.models import ModelOptions

Fusion = Literal["add", "concat", "multiply"]


def built_encoding(
    given: Mapping[str, Any] | list[Mapping[str, Any]], sizes: ModelOptions, *, fusion: Fusion, max_length: int
) -> PositionEncoding | list[PositionEncoding]:
    """One encoding for all layers, or one for each; a size that a constructor needs and was not given is the model's.

    Layers with equal dicts share one module.

    >>> built_encoding({"encoding": "alibi"}, ModelOptions(9, 32, 2, 4), fusion="add", max_length=8)
    ALiBi(num_heads=4, form='symmetric', alibi_bias_max=8.0, logit_scale=1.0)
    """
    if fusion not in get_args(Fusion):
        raise GnomonError(f"Positions and words are joined by {', '.join(get_args(Fusion))}, got {fusion!r}.")
    if isinstance(given, list):
        if fusion != "add":
            raise GnomonError(f"Layers with encodings of their own add; to {fusion}, give one encoding for all.")
        built = {json.dumps(each, sort_keys=True): _built(each, sizes, max_length) for each in given}
        return [built[json.dumps(each, sort_keys=True)] for each in given]
    encoding = _built(given, sizes, max_length)
    return encoding if fusion == "add" else Fused(encoding, sizes.dim, fusion)


def _built(given: Mapping[str, Any], sizes: ModelOptions, max_length: int) -> PositionEncoding:
    if "encoding" not in given:
        raise GnomonError(f"An encoding is a dict with the key 'encoding', got {dict(given)}.")
    options = {key: value for key, value in given.items() if key != "encoding"}
    known = {
        "num_heads": sizes.num_heads,
        "head_dim": sizes.dim // sizes.num_heads,
        "dim": sizes.dim,
        "max_length": max_length,
    }
    parameters = inspect.signature(registry.get(given["encoding"])).parameters
    needed = {key: known[key] for key, p in parameters.items() if p.default is p.empty and key in known}
    return build(given["encoding"], **{**needed, **options})


@final
class Fused(PositionEncoding):
    """An encoding that adds to the embeddings, joined to them in another way.

    "concat": a linear map of (word, position) back to the model's width. "multiply": word times position, entry by
    entry. What the encoding would have added is what it makes of embeddings that are zero.
    """

    def __init__(self, inner: PositionEncoding, dim: int, fusion: Fusion) -> None:
        super().__init__()
        if type(inner).embed is PositionEncoding.embed:
            raise GnomonError(f"{inner} adds nothing to the embeddings, so there is nothing to {fusion}.")
        self.inner, self.fusion = inner, fusion
        self.learned, self.max_length = True if fusion == "concat" else inner.learned, inner.max_length
        self.joined = nn.Linear(2 * dim, dim) if fusion == "concat" else nn.Identity()

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B S W"]:
        place = self.inner.embed(torch.zeros_like(x), positions)
        joined: Tensor = self.joined(torch.cat((x, place), -1)) if self.fusion == "concat" else x * place
        return joined

    @property
    def options(self) -> dict[str, Any]:
        return {"inner": repr(self.inner), "fusion": self.fusion}
