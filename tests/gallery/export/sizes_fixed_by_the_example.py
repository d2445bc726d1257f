"""A graph exported from one example declares the sizes of that example: it serves one batch and one length."""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.onnx_files import export
from tests.helpers.toys import ToyDecoder


def written(folder: Path, *, fixed: bool) -> Path:
    ones = torch.ones(2, 6, dtype=torch.int64)
    return export(ToyDecoder(), folder / "model.onnx", ones, ones, names=("input_ids", "attention_mask"), fixed=fixed)


def faulty(folder: Path) -> Path:
    return written(folder, fixed=True)


def healthy(folder: Path) -> Path:
    return written(folder, fixed=False)


ITEM = Fault(
    source="pytorch/pytorch#117209",
    check="PE613",
    where="",
    right="batch 2 and length 6 only",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
