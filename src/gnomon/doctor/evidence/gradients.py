"""What reaches a learned table of positions in one backward pass."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.signature import main_output
from gnomon.doctor.evidence.tables import Table, position_tables

BATCH, LENGTH = 2, 9


@dataclass(frozen=True)
class Gradient:
    """Gradient of one table: RMS over the rows in use, beside that of the words in use; frozen: it asks for none."""

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
    content = probe.draw(BATCH, probe.length(LENGTH), seed=41)
    probe.module.zero_grad(set_to_none=True)
    with torch.enable_grad():
        output = main_output(probe.forward(content))
        reading = torch.randn(output.shape, generator=torch.Generator().manual_seed(2)).to(output)
        (output * reading).sum().backward()
    words = _word_gradient(probe, content)
    try:
        return tuple(_gradient(t, p, frozen[t.name], content.shape[1], words) for t, p in found)
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
    if not probe.takes_ids:
        return None
    for part in probe.module.modules():
        if isinstance(part, nn.Embedding) and part.num_embeddings == probe.vocabulary and part.weight.grad is not None:
            return float(part.weight.grad[content.unique()].double().square().mean().sqrt())
    return None


def _parameter(module: nn.Module, name: str) -> nn.Parameter | None:
    """The parameter of this name; a checkpoint's names may lack, or have, the model's prefix."""
    for candidate, parameter in module.named_parameters():
        if candidate == name or candidate.endswith("." + name) or name.endswith("." + candidate):
            return parameter
    return None
