"""A packed run differs from separate runs although the mask is block diagonal: positions run on across documents."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Packed
from tests.helpers.gallery_decoding import tokens


class RunsOn(Packed):
    def restart(self, documents: Tensor) -> Tensor:
        return torch.arange(documents.shape[1])[None]


def faulty(_: Path) -> Any:
    return tokens(RunsOn())


def healthy(_: Path) -> Any:
    return tokens(Packed())


ITEM = Fault(
    source="hiyouga/LLaMA-Factory#7318",
    check="PE405",
    where="the forward",
    right=r"5 and 7 tokens packed by document_ids differ .* 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6",
    build=faulty,
    healthy=healthy,
)
