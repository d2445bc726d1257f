"""A server breaks after some thousand requests: each forward adds its offset in place to a kept tensor of positions.

RoBERTa's positions start two rows into the table. Added in place to the ids that were handed in, they start two rows
further with every call, until they leave the table.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Toy

RESERVED = 2


class AddsOffset(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, ids + RESERVED)


class AddsInPlace(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        ids += RESERVED
        return super().embed(tokens, ids)


def faulty(folder: Path) -> nn.Module:
    return AddsInPlace()


def healthy(folder: Path) -> nn.Module:
    return AddsOffset()


ITEM = Fault(
    source="vllm-project/vllm#37884",
    check="PE322",
    where="position_ids",
    right=r"move by up to 2.*position_ids = position_ids \+ offset",
    build=faulty,
    healthy=healthy,
)
