"""An exported decoder has no input for position ids and counts columns: each left pad gives another answer.

The graph takes a mask, and hides the padding with it, but its first real token stands at 4 instead of 0.
"""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.onnx_files import export
from tests.helpers.toys import ToyDecoder

NAMES = ("input_ids", "attention_mask")


class Columns(ToyDecoder):
    def ids(self, mask: Tensor) -> Tensor:
        return torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)


def written(model: ToyDecoder, folder: Path) -> Path:
    ones = torch.ones(2, 6, dtype=torch.int64)
    return export(model, folder / "model.onnx", ones, ones, names=NAMES)


def faulty(folder: Path) -> Path:
    return written(Columns(), folder)


def healthy(folder: Path) -> Path:
    return written(ToyDecoder(), folder)


ITEM = Fault(
    source="huggingface/optimum#877, huggingface/optimum#1381, huggingface/optimum#2326",
    check="PE401",
    where="the forward",
    right=r"only the mask passed.*derive position ids from the mask",
    build=faulty,
    healthy=healthy,
)
