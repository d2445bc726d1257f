"""Idefics makes its position ids on one device while the mask is on another; so do generation loops that make ids."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import ToyDecoder


class IdsOnTheHost(ToyDecoder):
    def ids(self, mask: Tensor) -> Tensor:
        return torch.arange(mask.shape[1]) * mask


class IdsWithTheMask(ToyDecoder):
    def ids(self, mask: Tensor) -> Tensor:
        return torch.arange(mask.shape[1], device=mask.device) * mask


def faulty(folder: Path) -> nn.Module:
    return IdsOnTheHost()


def healthy(folder: Path) -> nn.Module:
    return IdsWithTheMask()


ITEM = Fault(
    source="huggingface/transformers#39981, huggingface/transformers#43369",
    check="PE602",
    where="the forward",
    right=r"mul meets a tensor \(\d+,\) that stays on the CPU.*pass device= in",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
