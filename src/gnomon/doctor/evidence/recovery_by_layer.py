"""Whether positions can be read from the hidden states after each block, not only after the first."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, untouched_model
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.recovery import LENGTH, SEQUENCES, WORDS, read_positions

MOST_BLOCKS = 12  # spread over the depth


@dataclass(frozen=True)
class LayerRecovery:
    """Share of positions read rightly after one block; `control`: the same model with all positions equal."""

    where: str
    accuracy: float
    control: float | None
    chance: float


@evidence
def recovery_by_layer(subject: Subject) -> tuple[LayerRecovery, ...]:
    """The reader of `recovery` on each block of one forward: random tokens of four, weights as given."""
    if entry(subject).axis == "batch":
        raise MissingEvidence("positions follow the batch axis (PE306)")
    probe = untouched_model(subject)
    length = probe.length(LENGTH)
    picked = torch.randint(0, WORDS, (SEQUENCES, length), generator=torch.Generator().manual_seed(51))
    content = probe.draw(1, WORDS, seed=50)[0][picked]
    blocks = _blocks(probe.module)
    states, controls = _states(probe, blocks, content, {}), {}
    if probe.signature.positions is not None:
        same = torch.zeros(SEQUENCES, length, dtype=torch.int64, device=content.device)
        controls = _states(probe, blocks, content, {"positions": same})
    if not states:
        raise MissingEvidence("no block gives a hidden state for each place")
    return tuple(
        LayerRecovery(
            path, read_positions(state), read_positions(controls[path]) if path in controls else None, 1 / length
        )
        for path, state in states.items()
    )


def _blocks(module: nn.Module) -> list[str]:
    """The paths of the model's main list of blocks: the first list with parameters, as many as are read."""
    for path, part in module.named_modules():
        if isinstance(part, nn.ModuleList) and len(part) and any(p.numel() for p in part[0].parameters()):
            picked = np.unique(np.linspace(0, len(part) - 1, min(len(part), MOST_BLOCKS)).round().astype(int))
            return [f"{path}.{i}" if path else str(i) for i in picked]
    raise MissingEvidence("no list of blocks in the model")


def _states(probe: Model, blocks: list[str], content: Tensor, arguments: dict[str, Any]) -> dict[str, Tensor]:
    """(N, S, W) after each block that gives one vector for each place."""
    kept: dict[str, Tensor] = {}

    def keep(path: str, out: Any) -> None:
        value = out if isinstance(out, Tensor) else next((v for v in out if isinstance(v, Tensor)), None)
        if value is not None and value.ndim == 3 and value.shape[:2] == content.shape[:2]:
            kept[path] = value.detach().cpu()

    handles = [
        probe.module.get_submodule(path).register_forward_hook(lambda _, __, out, path=path: keep(path, out))
        for path in blocks
    ]
    try:
        probe(content, **arguments)
    finally:
        for handle in handles:
            handle.remove()
    return kept
