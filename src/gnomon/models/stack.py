"""What a decoder and an encoder share: embeddings, positions added once, blocks, a last norm."""

from collections.abc import Sequence
from itertools import repeat
from typing import final

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon import positions as position_ids
from gnomon.attention import Attention, AttentionMask, Cache, KeyValues
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.models.block import Block
from gnomon.models.embedding import TokenEmbedding
from gnomon.models.options import ModelOptions


@final
class Stack(nn.Module):
    """Token embeddings, then the encoding's `embed` hook exactly once, then the blocks.

    One encoding serves all layers, or there is one for each: a sequence may hold `NoPE()` for layers without positions
    (SmolLM3, Llama 4), another base for some (Gemma 3), or a table of biases for each (UMT5). The same module in many
    layers trains as one, and appears in the state dict under each layer's name (`safetensors.torch.save_model` stores
    it once). The `embed` hook of each distinct encoding runs once, in the order of the layers.
    """

    def __init__(
        self, options: ModelOptions, *, encoding: PositionEncoding | Sequence[PositionEncoding], causal: bool
    ) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(options.vocabulary, options.dim, options.embedding)
        layers = _each_layer(encoding, options.num_layers)
        self.blocks = nn.ModuleList(
            Block(
                Attention(
                    options.dim,
                    num_heads=options.num_heads,
                    num_key_heads=options.num_key_heads,
                    encoding=each,
                    causal=causal,
                ),
                dim=options.dim,
            )
            for each in layers
        )
        self.norm = nn.LayerNorm(options.dim)

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of all layers; raises GnomonError when they have several."""
        if len(distinct := self._distinct()) > 1:
            kinds = ", ".join(str(each) for each in distinct)
            raise GnomonError(f"The layers have different encodings, {kinds}; read that of one layer.")
        return distinct[0]

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        mask: AttentionMask,
        positions: Int[Tensor, "#B S *axes"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B S W"]:
        """(B, S) int64 -> (B, S, W); positions follow from the mask and the cache unless they are passed."""
        mask.check(*ids.shape)
        if cache is not None and len(cache.layers) != len(self.blocks):
            raise GnomonError(
                f"The cache has {len(cache.layers)} layers, the model {len(self.blocks)}; use new_cache()."
            )
        if positions is None:
            self._require_one_axis()
            stored = None if cache is None else cache.stored
            positions = derive_positions(ids, mask, stored, more_follows=cache is not None)
        x = words = self.embedding(ids)
        for encoding in self._distinct():
            x = encoding.embed(x, positions)
            if x.shape != words.shape:
                raise ShapeError(f"{encoding} turned embeddings of shape {tuple(words.shape)} into {tuple(x.shape)}.")
        caches = repeat(None) if cache is None else cache.layers
        for block, layer_cache in zip(self.blocks, caches, strict=False):
            x = block(x, positions, mask, layer_cache)
        hidden: Tensor = self.norm(x)
        return hidden

    def _distinct(self) -> list[PositionEncoding]:
        encodings = [block.attention.encoding for block in self.blocks if isinstance(block, Block)]
        # torch.export shows a module through another proxy in each layer; its attributes are the same object in all.
        return list({id(vars(encoding)): encoding for encoding in encodings}.values())

    def _require_one_axis(self) -> None:
        for encoding in self._distinct():
            if encoding.axes > 1:
                raise PositionError(
                    f"{encoding} needs {encoding.axes} coordinates for each token, which ids do not tell; pass "
                    f"positions of shape (batch, sequence, {encoding.axes}), built with gnomon.positions.grid."
                )


def _each_layer(
    encoding: PositionEncoding | Sequence[PositionEncoding], num_layers: int
) -> tuple[PositionEncoding, ...]:
    if isinstance(encoding, PositionEncoding):
        return (encoding,) * num_layers
    if isinstance(encoding, str):
        raise GnomonError(f"An encoding is an object, got the word {encoding!r}; gnomon.encodings.build makes one.")
    if len(encoding) != num_layers:
        raise GnomonError(f"The model has {num_layers} layers but {len(encoding)} encodings; give one for each layer.")
    return tuple(encoding)


def derive_positions(
    ids: Int[Tensor, "B S"], mask: AttentionMask, stored: KeyValues | None, *, more_follows: bool = False
) -> Int64[Tensor, "#B S"]:
    """Each document counts its real tokens from 0, on through what is stored. -> (B, S), or (1, S) when rows agree.

    A row of padding alone is refused, unless `more_follows`: its first token may come in a later call.

    >>> derive_positions(torch.tensor([[0, 7, 8]]), AttentionMask.of(torch.tensor([[0, 1, 1]])), stored=None)
    tensor([[0, 0, 1]])
    """
    new = ids.shape[1]
    past = 0 if stored is None else stored.length
    whole = mask if stored is None else stored.mask.then(mask, lengths=(past, new))
    if whole.real is None:
        counted = position_ids.after(past, new, device=ids.device)
        return counted if whole.documents is None else position_ids.after_documents(whole.documents, new)
    real = whole.real | ~whole.real.any(-1, keepdim=True) if more_follows else whole.real
    if whole.documents is None:
        counted = position_ids.after_mask(real, new)
    else:
        padding = torch.iinfo(torch.int64).min
        counted = position_ids.after_documents(whole.documents.where(real, padding), new, padding_id=padding)
    return counted * whole.real[:, -new:]
