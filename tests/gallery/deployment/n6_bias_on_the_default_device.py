"""BLOOM under an inference engine: the ALiBi bias is made on the default device, and added to logits on another."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import HEADS, ToyDecoder


class BiasOnTheHost(ToyDecoder):
    def alibi(self, like: Tensor) -> Tensor:
        return torch.arange(like.shape[1]) * (2.0 ** -torch.arange(1, HEADS + 1))[:, None, None]

    def bias(self, mask: Tensor) -> Tensor:
        return super().bias(mask) + self.alibi(mask)


class BiasWithTheRest(BiasOnTheHost):
    def alibi(self, like: Tensor) -> Tensor:
        slopes = 2.0 ** -torch.arange(1, HEADS + 1, device=like.device)
        return torch.arange(like.shape[1], device=like.device) * slopes[:, None, None]


def faulty(folder: Path) -> nn.Module:
    return BiasOnTheHost()


def healthy(folder: Path) -> nn.Module:
    return BiasWithTheRest()


ITEM = Fault(
    source="huggingface/transformers#18087",
    check="PE602",
    where="the forward",
    right=r"add meets a tensor \(4, 1, \d+\) that stays on the CPU.*the device of the hidden states",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
