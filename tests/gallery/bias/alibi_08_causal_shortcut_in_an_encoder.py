"""An encoder with ALiBi prefers what lies ahead: the short form slope * key position is used without a causal mask.

Under a causal mask it differs from -slope * distance by a constant in each row, which the softmax ignores. Without
one it rewards later keys; weights of attention change by up to 0.5.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Sloped, alibi


class Encoder(Sloped):
    causal = False


class Shortcut(Encoder):
    def distance(self, length: int) -> Tensor:
        return -torch.arange(length).expand(length, length)


def faulty(folder: Path) -> nn.Module:
    return Shortcut()


def healthy(folder: Path) -> nn.Module:
    return Encoder()


ITEM = Fault(
    source="ofirpress/attention_with_linear_biases#5",
    check="PE308",
    where="blocks.*",
    right=r"get more the further ahead they are.*0.25 a step.*query position - key position",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (alibi(4),)},
)
