"""A batch in pieces that keep memory small, and the losses of its slots."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.attention import Attention
from gnomon.lab.measures.base import Trained
from gnomon.lab.tasks.base import IGNORED, Batch

CELLS = 1 << 25  #: numbers of one tensor that are held at once: 128 MiB in float32


def layers(trained: Trained) -> list[Attention]:
    """The attention of each layer, the first layer first."""
    return [part for part in trained.model.stack.blocks.modules() if isinstance(part, Attention)]


def pieces(trained: Trained, batch: Batch) -> Iterator[Batch]:
    """The rows of a batch in their order, so many at once that scores and logits stay below `CELLS` numbers."""
    rows, slots = batch.ids.shape
    classes = trained.task.answer_vocabulary or slots
    row = slots * max(slots * layers(trained)[0].num_heads, classes)
    at_once = max(1, CELLS // row)
    for start in range(0, rows, at_once):
        cut = slice(start, start + at_once)
        yield Batch(batch.ids[cut], batch.labels[cut], None if batch.real is None else batch.real[cut])


def token_losses(trained: Trained, batch: Batch, generator: torch.Generator) -> Float[Tensor, "B S"]:
    """The loss of each slot in nats, float64; NaN at slots that are not scored."""

    def losses(piece: Batch) -> Tensor:
        logits = trained.logits(piece, generator).double()
        found = cross_entropy(logits.mT, piece.labels, ignore_index=IGNORED, reduction="none")
        return found.masked_fill(piece.labels == IGNORED, torch.nan)

    return torch.cat([losses(piece) for piece in pieces(trained, batch)])
