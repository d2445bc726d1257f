"""A low-memory load builds on the meta device and fills what the checkpoint holds: frequencies stay there."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama


def faulty(folder: Path) -> nn.Module:
    model: nn.Module = llama()
    for part in model.modules():
        for name, buffer in list(part.named_buffers(recurse=False)):
            part.register_buffer(name, buffer.to("meta"), persistent=False)
    return model


def healthy(folder: Path) -> nn.Module:
    model: nn.Module = llama()
    return model


ITEM = Fault(
    source="huggingface/transformers#25555",
    check="PE605",
    where="model.rotary_emb.inv_freq",
    right=r"on the meta device.*set model\.rotary_emb\.inv_freq from the config",
    build=faulty,
    healthy=healthy,
)
