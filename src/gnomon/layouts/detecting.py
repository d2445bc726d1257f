"""Which lanes the weights of a target are made to be paired in: three kinds of evidence, and a verdict."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.layouts.by_loss import by_loss
from gnomon.layouts.by_reference import by_reference
from gnomon.layouts.found import Detected, Evidence
from gnomon.layouts.stored import Stored, stored

Target = str | Path | nn.Module
NOTHING = "Nothing tells."


def detect(
    target: Target,
    *,
    text: str | Tensor | None = None,
    reference: Target | None = None,
    tokenizer: str | Path | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    forward: bool = True,
) -> Detected:
    """The layout of rotated pairs that the query and key rows of `target` are arranged for.

    Evidence: what the config's family, or a marker, says of the rows; the loss of trained weights on `text` (a text,
    token ids (S,), or a paragraph of English) with the rows as they are and moved; and the outputs of `reference`, a
    model that is right. Each may be unable to tell. `tokenizer` is a folder with that of the model, where its own has
    none. Without `forward` no model is run, and a reference is compared by its rows. Raises GnomonError for a target
    that cannot be read.
    """
    subject = load_subject(target, device=device, dtype=dtype, forward=forward)
    held = stored(subject)
    evidence = [held.evidence, by_loss(subject, held, text, tokenizer)]
    if reference is not None:
        other = load_subject(reference, device=device, dtype=dtype, forward=forward)
        evidence.append(by_reference(subject, held, other))
    return _judged(subject, held, tuple(evidence))


def _judged(subject: Subject, held: Stored, evidence: tuple[Evidence, ...]) -> Detected:
    measured = [one for one in evidence[1:] if one.tells]
    layouts = {one.layout for one in measured}
    layout, disagreement = held.claimed, False
    if not measured:
        says = "The target itself says so; nothing that was measured confirms it." if layout else NOTHING
        if not layout and "no rotation" in held.evidence.words:
            says = f"{held.evidence.words[0].upper()}{held.evidence.words[1:]}."
    elif len(layouts) > 1:
        layout, disagreement = None, True
        told = " and ".join(f"the {one.kind} {one.layout or 'rows that were moved twice'}" for one in measured)
        says = f"Measurements disagree: {told}; the reference is another model, or it is wrong itself."
    elif None in layouts:
        layout, disagreement = None, True
        says = "The rows were moved twice on the way here: convert the weights again from their source, moving once."
    else:
        layout = measured[0].layout
        disagreement = held.claimed not in (None, layout)
        says = _contradiction(subject, held, layout) if disagreement else "What was measured agrees with it."
    return Detected(subject.target, layout, says, disagreement, evidence)


def _contradiction(subject: Subject, held: Stored, layout: Any) -> str:
    said = f"The rows are arranged for {layout} pairs, but the target says {held.claimed}"
    if held.marked:
        return f"{said}: its marker is wrong, or was copied from another checkpoint."
    return (
        f"{said}: the weights were converted for another rotation, and every layer is quietly wrong beyond position 0. "
        f"`gnomon layout permute {subject.target} --from {layout} --to {held.claimed} -o OUT` moves the rows."
    )
