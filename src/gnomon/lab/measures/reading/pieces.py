"""A batch in pieces that keep memory small, and the losses of its slots."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.attention import Attention
from gnomon.encodings.base import PositionEncoding
from gnomon.lab.measures.base import Trained
from gnomon.lab.tasks.base import IGNORED, Batch

CELLS = 1 << 25  #: numbers of one tensor that are held at once: 128 MiB in float32


def layers(trained: Trained) -> list[Attention]:
    """The attention of each layer, the first layer first."""
    return [part for part in trained.model.stack.blocks.modules() if isinstance(part, Attention)]


def pieces(trained: Trained, batch: Batch) -> Iterator[Batch]:
    """The rows of a batch in their order, so many at once that what a forward pass makes stays below `CELLS` numbers.

    A number for each pair of slots is reckoned with where it is made for each row: where padding or positions differ
    from row to row, or a bias reads the content. Otherwise torch's attention makes none, and rows share one bias.
    """
    attentions, slots = layers(trained), batch.ids.shape[1]
    by_content = any(type(each.encoding).content_bias is not PositionEncoding.content_bias for each in attentions)
    if by_content or batch.real is not None or trained.placing.kind == "random":
        return pieces_for_maps(trained, batch)
    widest = max(trained.task.answer_vocabulary or slots, attentions[0].query.in_features * 4)
    return _cut(batch, CELLS // (slots * widest))


def pieces_for_maps(trained: Trained, batch: Batch) -> Iterator[Batch]:
    """The rows of a batch in their order, so many at once that the attention of a layer stays below `CELLS` numbers."""
    slots = batch.ids.shape[1]
    widest = max(trained.task.answer_vocabulary, layers(trained)[0].num_heads * slots)
    return _cut(batch, CELLS // (slots * widest))


def _cut(batch: Batch, rows: int) -> Iterator[Batch]:
    at_once = max(1, rows)
    for start in range(0, len(batch.ids), at_once):
        cut = slice(start, start + at_once)
        yield Batch(batch.ids[cut], batch.labels[cut], None if batch.real is None else batch.real[cut])


def token_losses(trained: Trained, batch: Batch, generator: torch.Generator) -> Float[Tensor, "B S"]:
    """The loss of each slot in nats, float64; NaN at slots that are not scored."""

    def losses(piece: Batch) -> Tensor:
        scored = piece.labels != IGNORED
        found = torch.full(piece.labels.shape, torch.nan, dtype=torch.float64)
        logits = trained.logits(piece, generator)[scored].double()
        found[scored] = cross_entropy(logits, piece.labels[scored], reduction="none")
        return found

    return torch.cat([losses(piece) for piece in pieces(trained, batch)])
