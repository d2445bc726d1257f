"""The classes that a model predicts: all at once after the right tokens, or one by one after its own."""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from gnomon.attention import AttentionMask, Cache
from gnomon.errors import GnomonError
from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.pieces import pieces
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.lab.training.placing import place

Decoding = Literal["teacher", "greedy"]


def require_decoding(measure: str, decoding: str) -> None:
    """Raise GnomonError for a way of decoding that does not exist."""
    if decoding not in get_args(Decoding):
        raise GnomonError(f"The measure {measure} decodes by {' or '.join(get_args(Decoding))}, got {decoding!r}.")


def answers(trained: Trained, batch: Batch, generator: torch.Generator, decoding: Decoding) -> Int64[Tensor, "B S"]:
    """The class that the model finds most likely at each slot, (B, S).

    "teacher": each slot is told the right tokens before it. "greedy": from the first scored slot on, a slot after a
    scored one is told what the model wrote there, through the cache of keys and values. Slots before the first scored
    one hold IGNORED then. Raises GnomonError when a task has no answer that is written token by token.
    """
    if decoding == "greedy" and not trained.task.autoregressive:
        raise GnomonError(
            f"{type(trained.task).__name__} has no answer that is written token by token; "
            f"take decoding='teacher', which scores each slot by itself."
        )
    if decoding == "teacher":
        return torch.cat([trained.logits(piece, generator).argmax(-1) for piece in pieces(trained, batch)])
    return torch.cat([_written(trained, piece, generator) for piece in pieces(trained, batch)])


@torch.no_grad()
def _written(trained: Trained, batch: Batch, generator: torch.Generator) -> Int64[Tensor, "B S"]:
    stack = trained.model.stack
    device = next(trained.model.parameters()).device
    positions = place(trained.placing, batch, "test", generator)
    scored = batch.labels != IGNORED
    start = int(scored.any(0).int().argmax())  # nobody writes before this slot
    cache, written = Cache(len(stack.blocks)), torch.full_like(batch.labels, IGNORED)
    for slot in range(start, batch.ids.shape[1]):
        first = 0 if slot == start else slot
        here = batch.ids[:, first : slot + 1].clone()
        if slot > start:
            here[:, 0] = written[:, slot - 1].where(scored[:, slot - 1], here[:, 0])
        cut = slice(first, slot + 1)
        mask = AttentionMask.of(None if batch.real is None else batch.real[:, cut].to(device))
        placed = None if positions is None else positions[:, cut].to(device)
        hidden = stack(here.to(device), mask, placed, cache)
        written[:, slot] = stack.embedding.logits(hidden[:, -1:])[:, 0].argmax(-1).cpu()
    return written


def graded(
    trained: Trained, batch: Batch, generator: torch.Generator, decoding: Decoding
) -> tuple[Bool[Tensor, "B S"], Bool[Tensor, "B S"]]:
    """Whether the model is right at each slot, and whether the slot counts."""
    scored = batch.labels != IGNORED
    return (answers(trained, batch, generator, decoding) == batch.labels) & scored, scored
