"""An exporter fills meta buffers with zeros: every cosine is 1 and every sine 0, and the model echoes with a period."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Turned, frequencies


class FromFrequencies(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", frequencies(), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        phases = torch.outer(torch.arange(x.shape[1], device=x.device).float(), self.get_buffer("inv_freq"))
        return phases.cos(), phases.sin()


def healthy(folder: Path) -> nn.Module:
    return Turned(FromFrequencies())


def faulty(folder: Path) -> nn.Module:
    model = healthy(folder)
    empty = healthy(folder).to("meta").to_empty(device="cpu")
    for buffer in empty.buffers():
        buffer.zero_()
    empty.load_state_dict(model.state_dict(), strict=True)
    return empty


ITEM = Fault(
    source="pytorch/executorch#19627",
    check="PE604",
    where="rotary.inv_freq",
    right=r"holds 0, 0, 0, 0, .*holds 1, 0\.1, 0\.01, 0\.001",
    build=faulty,
    healthy=healthy,
    evidence={"factory": lambda: Turned(FromFrequencies())},
)
