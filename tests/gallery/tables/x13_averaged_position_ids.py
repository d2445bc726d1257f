"""A merged checkpoint ignores its first token: position ids were averaged as floats, and 0.98 truncates to 0."""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited


def faulty(folder: Path) -> Path:
    def merge(tensors: dict[str, Tensor]) -> None:
        tensors["embeddings.position_ids"] = (0.99 * torch.arange(37.0))[None]

    return edited(folder, "bert", merge)


def healthy(folder: Path) -> Path:
    def keep(tensors: dict[str, Tensor]) -> None:
        tensors["embeddings.position_ids"] = torch.arange(37)[None]

    return edited(folder, "bert", keep)


ITEM = Fault(
    source="AUTOMATIC1111/stable-diffusion-webui#6728",
    check="PE214",
    where="embeddings.position_ids",
    right=r"36 distinct entries for 37 places.*0 to 36 in order",
    build=faulty,
    healthy=healthy,
)
