"""The model learns slowly and forgets where things are: halves are rotated before the heads are split.

The partner of a lane is half the whole width away, in another head. A head's scores hold one lane of each pair, and
no longer depend on the distance alone.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, halves, inverse


class SplitFirst(Form):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        angles = (positions[..., None] * inverse(self.head_dim, 10000.0).repeat(2))[:, None]
        return x * angles.cos() + halves(x) * angles.sin()


class TurnedFirst(Form):
    """What `turn` gets here is joined again, as it left the projection."""

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        whole = x.transpose(1, 2).flatten(2)
        angles = positions[..., None] * inverse(whole.shape[-1], 10000.0).repeat(2)
        turned: Tensor = whole * angles.cos() + halves(whole) * angles.sin()
        return torch.unflatten(turned, -1, (self.heads, -1)).transpose(1, 2)


def faulty(folder: Path) -> nn.Module:
    return TurnedFirst()


def healthy(folder: Path) -> nn.Module:
    return SplitFirst()


ITEM = Fault(
    source="page: arXiv 2104.09864 (section 3.2.2: pairs of one head's lanes are rotated)",
    check="PE330",
    where="blocks",
    right=r"32 lanes are rotated by halves, and a head has 8.*split the heads first",
    build=faulty,
    healthy=healthy,
)
