"""Feeding a model the vectors of its tokens instead of their ids."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.signature import main_output

NAMES = ("inputs_embeds", "input_embeds", "inputs_embeddings", "embeds", "embeddings", "token_embeddings")


@final
@dataclass(frozen=True)
class Embedded:
    """The argument that takes vectors, and the table that gives those of ids."""

    name: str
    table: Callable[[Tensor], Tensor]

    def arguments(self, probe: Model, content: Tensor) -> dict[str, Any]:
        """What replaces the ids (B, S) in a call."""
        with torch.no_grad():
            return {probe.signature.content: None, self.name: self.table(content)}

    def run(self, probe: Model, content: Tensor) -> Tensor:
        """One pass on the vectors of ids (B, S)."""
        with torch.no_grad():
            return main_output(probe.forward(content, **self.arguments(probe, content)))


@evidence
def embedded(subject: Subject) -> Embedded:
    """How the model takes vectors in place of ids."""
    probe = model(subject)
    if not probe.takes_ids:
        raise MissingEvidence("the model takes vectors, no token ids")
    parameters = inspect.signature(probe.module.forward).parameters
    side = "decoder_" if probe.signature.content.startswith("decoder_") else ""
    name = next((side + name for name in NAMES if side + name in parameters), None)
    table = _table(probe.module)
    if name is None or table is None:
        raise MissingEvidence("the forward takes no vectors in place of ids")
    found = Embedded(name, table)
    found.run(probe, probe.draw(1, 3))
    return found


def _table(module: nn.Module) -> Callable[[Tensor], Tensor] | None:
    """What the module itself calls its input embeddings, else its first table."""
    getter = getattr(module, "get_input_embeddings", None)
    if callable(getter):
        try:
            table: nn.Module | None = getter()
        except Exception:  # noqa: BLE001 - a model whose class only inherits the method
            table = None
        if isinstance(table, nn.Module):
            return table
    return next((part for part in module.modules() if isinstance(part, nn.Embedding)), None)
