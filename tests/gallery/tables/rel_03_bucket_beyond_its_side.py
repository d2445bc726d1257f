"""Long inputs get other encodings: the logarithmic part of T5's buckets has no cap.

With 32 buckets for both sides, 200 places back falls into bucket 17, which belongs to one place ahead, and 200 ahead
into 33, which the table does not have.
"""

import math
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Layer, Toy

ROWS, RANGE, LENGTH = 32, 128, 256


def bucket(offset: int, *, capped: bool) -> int:
    side, distance = ROWS // 2, abs(offset)
    near = side // 2
    if distance >= near:
        steps = math.log(distance / near) / math.log(RANGE / near) * (side - near)
        distance = near + int(steps)
    return (side if offset > 0 else 0) + (min(distance, side - 1) if capped else distance)


class WithBuckets(Toy):
    relative_bucket: Tensor

    def __init__(self, *, capped: bool) -> None:
        super().__init__()
        pairs = [[bucket(key - query, capped=capped) for key in range(LENGTH)] for query in range(LENGTH)]
        self.register_buffer("relative_bucket", torch.tensor(pairs))
        self.relative_attention_bias = nn.Embedding(ROWS + 2, 4)
        self.layers = nn.ModuleList([Layer()])

    def embed(self, tokens: Tensor, _: Tensor) -> Tensor:
        words: Tensor = self.words(tokens)
        return words

    def bias(self, mask: Tensor) -> Tensor:
        n = mask.shape[1]
        bias: Tensor = self.relative_attention_bias(self.relative_bucket[:n, :n])
        return bias.permute(2, 0, 1)[None]


def faulty(_: Path) -> nn.Module:
    return WithBuckets(capped=False)


def healthy(_: Path) -> nn.Module:
    return WithBuckets(capped=True)


ITEM = Fault(
    source="huggingface/candle#1312",
    check="PE214",
    where="relative_bucket",
    right=r"share bucket 1[67].*15 and 31",
    build=faulty,
    healthy=healthy,
)
