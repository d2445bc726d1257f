"""What reaches a learned table of positions in one backward pass."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.idle import part_of
from gnomon.doctor.evidence.signature import main_output
from gnomon.doctor.evidence.tables import Table, position_tables

BATCH, LENGTH = 2, 9


@dataclass(frozen=True)
class Gradient:
    """Gradient of one table: RMS over the rows in use, beside that of the words in use; frozen: it asks for none.

    `rows_used` is 0 where the outputs do not stand at the places of the content, or hang on some of the words alone (a
    causal tower that is read at its end token): how many rows count is not known then.
    """

    name: str
    frozen: bool
    finite: bool
    rows_reached: int
    rows_used: int
    size: float
    word_size: float | None


@evidence
def gradients(subject: Subject) -> tuple[Gradient, ...]:
    """One backward pass of a fixed random reading of the outputs, on the private copy."""
    probe = model(subject)
    learned = [t for t in position_tables(subject) if t.kind == "learned"]
    found = [(t, p) for t in learned if (p := _parameter(probe.module, t.name)) is not None]
    if not found:
        raise MissingEvidence("no learned table of positions in the model")
    frozen = {table.name: not parameter.requires_grad for table, parameter in found}
    for _, parameter in found:
        parameter.requires_grad_(True)
    content = probe.draw(BATCH, 0 if probe.takes_images else probe.length(LENGTH), seed=41)
    probe.module.zero_grad(set_to_none=True)
    with torch.enable_grad():
        output = main_output(probe.forward(content))
        reading = torch.randn(output.shape, generator=torch.Generator().manual_seed(2)).to(output)
        try:
            (output * reading).sum().backward()
        except RuntimeError as error:
            raise MissingEvidence(f"the backward pass fails: {said(error)} (PE503)") from None
    # A part that no gradient reaches does not lead to these outputs, as the image tower beside a text tower's.
    live = [name for name, weight in probe.module.named_parameters() if weight.grad is not None]
    names = {id(weight): name for name, weight in probe.module.named_parameters()}
    found = [(t, p) for t, p in found if any(name.startswith(part_of(names[id(p)])) for name in live)]
    words = _word_gradient(probe, content)
    try:
        used = content.shape[1] if output.ndim < 3 or output.shape[1] == content.shape[1] else 0
        used = used if _every_word_is_reached(probe, content) else 0
        if not found:
            raise MissingEvidence("no learned table of positions stands in a part of the model that gives the outputs")
        return tuple(_gradient(t, p, frozen[t.name], used, words) for t, p in found)
    finally:
        probe.module.zero_grad(set_to_none=True)


def _gradient(table: Table, parameter: nn.Parameter, frozen: bool, length: int, words: float | None) -> Gradient:
    grad = parameter.grad
    if grad is None:
        return Gradient(table.name, frozen, True, 0, length, 0.0, words)
    rows = grad.detach().double().reshape(table.values.shape)
    reached = rows.abs().amax(dim=1) > 0
    size = float(rows[reached].square().mean().sqrt()) if bool(reached.any()) else 0.0
    return Gradient(table.name, frozen, bool(rows.isfinite().all()), int(reached.sum()), length, size, words)


def _word_gradient(probe: Model, content: Tensor) -> float | None:
    """RMS gradient of the token rows that were used."""
    rows = _word_rows(probe, content)
    return None if rows is None else float(rows.double().square().mean().sqrt())


def _every_word_is_reached(probe: Model, content: Tensor) -> bool:
    """Whether a gradient reaches every word of the content; True where words are not looked up in a table."""
    rows = _word_rows(probe, content)
    return rows is None or bool((rows != 0).any(dim=1).all())


def _word_rows(probe: Model, content: Tensor) -> Tensor | None:
    """The gradient of the token rows that were used, (words, width)."""
    if not probe.takes_ids:
        return None
    for part in probe.module.modules():
        if isinstance(part, nn.Embedding) and part.num_embeddings == probe.vocabulary and part.weight.grad is not None:
            return part.weight.grad[content.unique()]
    return None


def _parameter(module: nn.Module, name: str) -> nn.Parameter | None:
    """The parameter of this name; a checkpoint's names may lack, or have, the model's prefix."""
    for candidate, parameter in module.named_parameters():
        if candidate == name or candidate.endswith("." + name) or name.endswith("." + candidate):
            return parameter
    return None
