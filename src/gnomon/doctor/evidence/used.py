"""The additive table as the model really uses it: what arrives at the first block when every word vector is zero."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.entry import entry

LENGTH = 96


@dataclass(frozen=True)
class UsedTable:
    """Rows (positions, width) float64 as they arrive at `where`, words set to zero."""

    where: str
    values: Float64[np.ndarray, "positions width"]


@evidence
def used_table(subject: Subject) -> UsedTable:
    """What the model adds for positions 0, 1, 2, ...; raises MissingEvidence when nothing additive enters."""
    found = entry(subject)
    if found.axis != "sequence" or found.attentions_before:
        raise MissingEvidence("no positions are added to the embeddings along the sequence")
    probe = model(subject)
    return UsedTable(found.where, rows_added(probe, found.where, probe.length(LENGTH)))


def rows_added(probe: Model, where: str, length: int) -> Float64[np.ndarray, "positions width"]:
    """What arrives at a module for each of `length` places when every word vector is zero."""
    content = probe.draw(1, length)
    kept: list[Tensor] = []

    def keep(_: nn.Module, args: Any, kwargs: Any) -> None:
        value = next(v for v in (*args, *kwargs.values()) if isinstance(v, Tensor) and v.is_floating_point())
        kept.append(value.detach().double().cpu())

    handles = [probe.module.get_submodule(where).register_forward_pre_hook(keep, with_kwargs=True)]
    if probe.takes_ids:
        handles += [m.register_forward_hook(_silence(content)) for m in probe.module.modules() if _embeds(m)]
    else:
        content = torch.zeros_like(content)
    try:
        probe(content)
    finally:
        for handle in handles:
            handle.remove()
    turned = kept[0].shape[:2] == content.shape[1::-1]
    values: Float64[np.ndarray, "positions width"] = (kept[0][:, 0] if turned else kept[0][0]).numpy()
    return values


def _embeds(module: nn.Module) -> bool:
    return isinstance(module, nn.Embedding)


def _silence(content: Tensor) -> Any:
    """A hook that zeroes an embedding's result when it was asked for the tokens themselves, turned or not."""

    def hook(_: nn.Module, args: tuple[Tensor, ...], out: Tensor) -> Tensor | None:
        asked = args[0] if args else None
        if isinstance(asked, Tensor) and any(torch.equal(asked, tokens) for tokens in (content, content.mT)):
            return torch.zeros_like(out)
        return None

    return hook
