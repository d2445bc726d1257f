"""Batches of every structure, every encoding, and a layer on them: what the paths of attention are compared on."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.attention.paths import ATTENTION
from gnomon.encodings import PositionEncoding, Rotary, registry
from gnomon.encodings.frequencies import DynamicNTK
from tests.helpers.toy_encodings import BothBiases, ContentBias
from tests.helpers.weights import redraw

HEADS, HEAD_DIM, BATCH, LENGTH = 4, 8, 3, 13
DIM = 20

ENCODINGS: dict[str, PositionEncoding] = {
    **{name: cls.sample(HEADS, HEAD_DIM) for name, cls in registry},
    "dynamic rotary": Rotary(HEAD_DIM, frequencies=DynamicNTK(4.0, 6)),
    "content": ContentBias(),
    "both": BothBiases(HEADS),
}
#: What no path but blocks can do: more than the distance decides.
BLOCKS_ONLY = {"alibi_grid", "cope", "deberta", "fire", "log_cpb", "window_bias", "content", "both"}


@dataclass(frozen=True)
class Scene:
    """Which tokens stand where, and what they see."""

    real: list[list[int]] | None = None
    documents: list[list[int]] | None = None
    causal: bool = True
    window: int | None = None
    chunks: tuple[int, ...] = (LENGTH,)
    key_heads: int = HEADS
    scattered: bool = False
    by_slot: bool = False  #: positions count the slots, whatever stands there

    @property
    def mask(self) -> AttentionMask:
        given = [None if part is None else torch.tensor(part) for part in (self.real, self.documents)]
        return AttentionMask.of(*given)

    def positions(self, axes: int) -> Tensor:
        if axes > 1:
            place = torch.arange(LENGTH)
            return torch.stack([place // 5, place % 5, place * 0][:axes], dim=-1)[None]
        if self.scattered:
            return torch.randperm(90, generator=torch.Generator().manual_seed(0))[: BATCH * LENGTH].view(BATCH, LENGTH)
        counted = torch.arange(LENGTH).expand(BATCH, -1) + torch.tensor([[0], [7], [3]])
        if self.by_slot:
            return counted
        if self.documents is not None:
            counted = positions.from_documents(torch.tensor(self.documents))
        elif self.real is not None:
            counted = positions.from_mask(torch.tensor(self.real))
        return counted


LEFT = [[0] * 4 + [1] * 9, [1] * 13, [0] * 7 + [1] * 6]
RIGHT = [[1] * 9 + [0] * 4, [1] * 13, [1] * 2 + [0] * 11]
PACKED = [[5] * 4 + [6] * 6 + [2] * 3, [1] * 6 + [2] * 7, [3] * 13]
IN_TWO_PARTS = [[1] * 4 + [2] * 4 + [1] * 5, [1] * 6 + [2] * 7, [3] * 13]
PADDED_AND_PACKED = [[9] * 2 + [6] * 8 + [-1] * 3, [1] * 6 + [2] * 7, [0] * 5 + [3] * 8]
HOLES = [[0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1], [1] * 13, [0] * 13]
REAL_OF_PACKED = [[0] * 2 + [1] * 8 + [0] * 3, [1] * 13, [0] * 5 + [1] * 8]
SCENES = {
    "plain": Scene(),
    "both sides": Scene(causal=False),
    "left padding": Scene(LEFT),
    "left padding, both sides": Scene(LEFT, causal=False),
    "right padding": Scene(RIGHT, key_heads=2),
    "right padding, both sides": Scene(RIGHT, causal=False),
    "packed": Scene(documents=PACKED),
    "packed, both sides": Scene(documents=PACKED, causal=False, key_heads=1),
    "padding and packed": Scene(REAL_OF_PACKED, PADDED_AND_PACKED),
    "padding and packed, both sides": Scene(REAL_OF_PACKED, PADDED_AND_PACKED, causal=False),
    "window": Scene(window=4, key_heads=2),
    "window, both sides": Scene(window=5, causal=False),
    "window and packed": Scene(documents=PACKED, window=3),
    "window and left padding": Scene(LEFT, window=3),
    "chunks": Scene(chunks=(5, 1, 4, 3), key_heads=2),
    "chunks and left padding": Scene(LEFT, chunks=(5, 1, 4, 3)),
    "chunks and packed": Scene(documents=PACKED, chunks=(5, 5, 3)),
    "window and chunks": Scene(window=4, chunks=(6, 7)),
    "a document in two parts": Scene(
        documents=[[1] * 4 + [2] * 4 + [1] * 5, [1] * 6 + [2] * 7, [3] * 13], by_slot=True
    ),
    "holes": Scene(HOLES, by_slot=True),
    "holes, both sides": Scene(HOLES, causal=False, by_slot=True),
    "scattered positions": Scene(scattered=True),
    "scattered positions, padded": Scene(LEFT, scattered=True, causal=False),
}


def layer_for(encoding: PositionEncoding, scene: Scene) -> Attention:
    layer = Attention(
        DIM,
        num_heads=HEADS,
        num_key_heads=scene.key_heads,
        encoding=encoding,
        causal=scene.causal,
        head_dim=HEAD_DIM,
        window=scene.window,
        scale=0.4,
    )
    redraw(layer.float(), std=0.3)
    return layer


def output(layer: Attention, scene: Scene, x: Tensor, path: str) -> Tensor:
    at, mask, start, parts = scene.positions(layer.encoding.axes), scene.mask, 0, []
    cache = LayerCache() if len(scene.chunks) > 1 else None
    with ATTENTION.using(path):
        for size in scene.chunks:
            part = slice(start, start + size)
            parts.append(layer(x[:, part], at[:, part], mask.slots(start, start + size), cache))
            start += size
    return torch.cat(parts, dim=1)


def fits(name: str, scene: Scene) -> bool:
    if name == "mixed_rotary" and scene.key_heads < HEADS:  # it has directions of its own for each head
        return False
    return scene.causal or not ENCODINGS[name].causal_only


def require_equal(got: Tensor, want: Tensor) -> None:
    """To rounding in float32, relative to the largest number."""
    torch.testing.assert_close(got, want, rtol=0, atol=2e-6 * max(1.0, want.abs().max().item()))
