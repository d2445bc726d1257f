"""Identical-word probing: what attention makes of a row in which one word stands everywhere; Wang et al. 2021, ICLR.

No word tells one key from another, so whatever differs between keys is the work of positions and of the mask.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.attention import attention_maps
from gnomon.lab.measures.reading.pieces import pieces_for_maps
from gnomon.lab.tasks.base import IGNORED, Batch


def identical_word_maps(
    trained: Trained, context: Context, name: str, *, length: int, words: int
) -> list[Float[Tensor, "H S S"]]:
    """For each layer the mean, over `words` words, of the logarithm of the attention; -inf where a key is hidden.

    With fewer words in the vocabulary, all of them.
    """
    generator = context.generator("measure", name)
    chosen = torch.randperm(trained.task.vocabulary, generator=generator)[:words]
    ids = chosen[:, None].repeat(1, length)
    total: list[Tensor] = []
    for piece in pieces_for_maps(trained, Batch(ids, torch.full_like(ids, IGNORED))):
        sums = [layer.double().sum(0) for layer in attention_maps(trained, piece, generator)]
        total = [old + new for old, new in zip(total, sums, strict=True)] if total else sums
    return [layer / len(chosen) for layer in total]
