"""Tiny XLNets of transformers, and one call of one of them and of ours with the same weights and inputs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
import transformers
from torch import Tensor

from gnomon.attention import Sight, TwoStreamMasks, TwoStreamViews, permutation_mask
from gnomon.models import XLNet, XLNetOptions
from tests.helpers.weights import normal, redraw, token_ids

DIM, HEADS, LAYERS, VOCABULARY = 16, 2, 2, 30
BATCH, LENGTH, MEMORY = 4, 7, 5
IDS = token_ids(BATCH, LENGTH, vocabulary=VOCABULARY)
#: Context, so that nearly every query sees something: tokens that no row predicts. Row 3 predicts one token only.
TARGETS = (
    torch.tensor([[0, 1, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 1, 0, 0]]) == 1
)
PADDING = {
    "none": None,
    "left": torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7, [0, 1, 1, 1, 1, 1, 1], [1] * 7]),
    "right": torch.tensor([[1, 1, 1, 1, 1, 1, 0], [1] * 7, [1, 1, 1, 1, 1, 0, 0], [1] * 7]),
}
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1, 2], [1, 1, 1, 1, 0, 0, 2], [3, 0, 0, 0, 0, 1, 1]])


def tiny(*, head: bool = False, **options: Any) -> Any:
    """An XLNetModel, or one with the language model's head, in eval mode, every weight redrawn, norms too."""
    sizes = {"vocab_size": VOCABULARY, "d_model": DIM, "n_layer": LAYERS, "n_head": HEADS, "d_inner": 24}
    config = transformers.XLNetConfig(**{**sizes, "mem_len": None, **options})
    model = (transformers.XLNetLMHeadModel if head else transformers.XLNetModel)(config).eval()
    redraw(model)
    with torch.no_grad():
        for number, norm in enumerate(m for m in model.modules() if isinstance(m, torch.nn.LayerNorm)):
            norm.weight.copy_(1 + 0.2 * normal(DIM, seed=number))
            norm.bias.copy_(0.2 * normal(DIM, seed=100 + number))
    return model


class RoomForRows:
    """Their causal mask (Q, K), with room for a mask of each row when it is indexed as in [:, :, None, None]."""

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def __getitem__(self, index: Any) -> Tensor:
        return self.mask[index].expand(-1, -1, BATCH, 1).clone()


def repaired(model: Any) -> Any:
    """The model, with its causal mask made such that a padding or perm mask of several rows can be added in place.

    transformers 5.24 makes it (Q, K, 1, 1), adds (Q, K, B, 1) in place, and so fails for more than one row.
    """
    base = getattr(model, "transformer", model)
    create = base.create_mask
    base.create_mask = lambda qlen, mlen: RoomForRows(create(qlen, mlen))
    return model


def ours(**changes: Any) -> XLNet:
    """A gnomon XLNet of the same sizes, every weight redrawn."""
    options = XLNetOptions(vocabulary=VOCABULARY, dim=DIM, num_layers=LAYERS, num_heads=HEADS, feed_forward_dim=24)
    model = XLNet(replace(options, **changes))
    redraw(model)
    return model


def mapping(targets: Tensor = TARGETS) -> Tensor:
    """(B, P, S) with one row for each target, and rows of zeros where others have more."""
    places = [row.nonzero().flatten() for row in targets]
    found = torch.zeros(len(targets), max(len(place) for place in places), targets.shape[1])
    for row, place in enumerate(places):
        found[row, torch.arange(len(place)), place] = 1.0
    return found


def perm_mask(seed: int = 5) -> Tensor:
    """(B, S, S), another order in each row."""
    return permutation_mask(TARGETS, generator=torch.Generator().manual_seed(seed))


def memories() -> list[Tensor]:
    """(B, M, W) for each layer."""
    return [normal(BATCH, MEMORY, DIM, seed=50 + layer) for layer in range(LAYERS)]


@dataclass(frozen=True)
class Call:
    """The inputs of one forward pass."""

    masks: TwoStreamMasks
    memory: list[Tensor] | None = None

    @torch.no_grad()
    def theirs(self, model: Any) -> tuple[Tensor, Tensor | None, list[Tensor]]:
        """(B, S, W) content, (B, P, W) query, memory as (B, M, W)."""
        out = model(
            IDS,
            mems=None if self.memory is None else [part.transpose(0, 1) for part in self.memory],
            perm_mask=None if self.masks.perm_mask is None else self.masks.perm_mask.float(),
            target_mapping=self.masks.target_mapping,
            token_type_ids=self.masks.segments,
            attention_mask=None if self.masks.attention_mask is None else self.masks.attention_mask.float(),
            use_mems=True,
            output_hidden_states=True,
        )
        kept = [part.transpose(0, 1) for part in out.mems]
        if self.masks.target_mapping is None:
            return out.last_hidden_state, None, kept
        return out.hidden_states[-2], out.last_hidden_state, kept

    def views(self, options: XLNetOptions) -> TwoStreamViews:
        length = 0 if self.memory is None else MEMORY
        sight = Sight(options.causal, length + 1 if options.same_length else None)
        return self.masks.views(BATCH, torch.arange(length + LENGTH)[None], memory_length=length, sight=sight)


def calls(*, memory: bool, padding: str) -> Iterator[Call]:
    """Every mixture of perm_mask, target_mapping and segments."""
    for hidden, targeted, segments in product((False, True), repeat=3):
        masks = TwoStreamMasks(
            perm_mask=perm_mask() if hidden else None,
            target_mapping=mapping() if targeted else None,
            attention_mask=PADDING[padding],
            segments=SEGMENTS if segments else None,
        )
        yield Call(masks, memories() if memory else None)
