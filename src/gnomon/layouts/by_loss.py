"""The layout of trained weights by the loss on text, with rows as they are and gathered to either layout."""

import math
from pathlib import Path

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.checks.layout_by_loss import CLEAR, SURE
from gnomon.doctor.evidence.calling import untouched_model
from gnomon.doctor.evidence.layout_loss import LayoutLoss, loss_of_layouts
from gnomon.layouts.found import Evidence
from gnomon.layouts.moving import move_rows
from gnomon.layouts.stored import Stored
from gnomon.layouts.tokens import PARAGRAPH, token_ids


def by_loss(
    subject: Subject, stored: Stored, text: str | Tensor | None, tokenizer: str | Path | None = None
) -> Evidence:
    """The evidence; "cannot tell" without trained weights, a forward, a text that the model knows, or a clear gap.

    A gap is clear above 0.1 nats a token and four standard errors, as for PE220.
    """
    try:
        words = PARAGRAPH if text is None else text
        given = words if isinstance(words, Tensor) else token_ids(subject, words, tokenizer)
        known = subject.with_evidence(text=torch.as_tensor(given))
        loss = loss_of_layouts(known, lambda module, how: move_rows(known, module, how))
        vocabulary = untouched_model(known).vocabulary
    except MissingEvidence as missing:
        return Evidence("loss", None, f"{missing}")
    numbers = {"as it is": loss.plain} | {f"gathered to {how}": loss.plain - fall for how, fall in loss.falls.items()}
    numbers |= {"tokens": float(loss.tokens)}
    needed, why = _needed(loss, stored, math.log(max(vocabulary, 2)))
    if needed is None:
        return Evidence("loss", None, f"{why}", numbers)
    layout, twice = stored.told(needed)
    how = "as they are" if needed == "same" else f"gathered to {needed}"
    return Evidence("loss", layout, f"text is predicted best with the rows {how} (nats a token)", numbers, twice)


def _needed(loss: LayoutLoss, stored: Stored, chance: float) -> tuple[str | None, str]:
    """Which arrangement predicts clearly better than both others; None with the reason."""
    if loss.plain - max(0.0, *loss.falls.values()) > chance - CLEAR:
        return None, f"no arrangement predicts better than a guess ({chance:.3g} nats), as with untrained weights"
    best = max(loss.falls, key=lambda how: (loss.falls[how], how == stored.runs))
    limits = {how: max(CLEAR, SURE * error) for how, error in loss.errors.items()}
    if all(fall < -limits[how] for how, fall in loss.falls.items()):
        return "same", ""
    if loss.falls[best] > limits[best]:
        return best, ""
    return None, "the losses are too close to each other for this text"
