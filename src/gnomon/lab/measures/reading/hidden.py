"""Hidden states after each layer."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.pieces import pieces
from gnomon.lab.tasks.base import Batch


def hidden_states(trained: Trained, batch: Batch, generator: torch.Generator) -> list[Float[Tensor, "B S W"]]:
    """What the first block is given, then what each block gives: one (B, S, W) more than there are layers."""
    blocks = list(trained.model.stack.blocks)
    kept: list[list[Tensor]] = [[] for _ in range(len(blocks) + 1)]

    def keep(layer: int, state: Any) -> None:
        kept[layer].append(state.detach().float().cpu())

    hooks = [blocks[0].register_forward_pre_hook(lambda _, given: keep(0, given[0]))]
    hooks += [
        block.register_forward_hook(lambda _, __, state, layer=layer: keep(layer, state))
        for layer, block in enumerate(blocks, start=1)
    ]
    try:
        for piece in pieces(trained, batch):
            trained.logits(piece, generator)
    finally:
        for hook in hooks:
            hook.remove()
    return [torch.cat(parts) for parts in kept]
