"""Claim 4: every position needs a vector of its own."""

from typing import final

import torch
from torch import Tensor

from gnomon.encodings import Learned, Sinusoidal
from gnomon.lab.claims.base import Measured, Numbers, Said, claim
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.experiments.context import Context

COUNT, WIDTH, FAR = 4096, 64, 1_000_000


@claim(4, "1")
@final
class OneVectorEach(Measured):
    """How many of 4096 vectors differ, near 0 and near one million, and after the ids were rounded to bfloat16."""

    statement = "Every position needs one vector of its own, told apart far out too."
    truth = "A right requirement; ids in bfloat16 break it from position 257 on, since it has 8 bits."
    gnomon = "`PE207`, `PE301`"

    def measure(self, context: Context) -> dict[str, float]:
        near = torch.arange(COUNT)
        table = Sinusoidal(WIDTH).table(near)
        far = Sinusoidal(WIDTH).table(near + FAR)
        with seeded(context):
            learned = Learned(COUNT, WIDTH).weight.detach()
        return {
            "sinusoidal": _distinct(table),
            "sinusoidal far out": _distinct(far),
            "nearest sinusoids": min(_nearest(table), _nearest(far)),
            "learned": _distinct(learned),
            "ids in bfloat16": _distinct(Sinusoidal(WIDTH).table(near.bfloat16().long())),
        }

    def judge(self, numbers: Numbers) -> Said:
        low = {name: numbers[name].low for name in numbers}
        told_apart = min(low["sinusoidal"], low["sinusoidal far out"], low["learned"])
        rounded = numbers["ids in bfloat16"].mean
        seen = (
            f"{told_apart:.0f} of {COUNT} vectors differ, from 0 on and from one million on (width {WIDTH}; the "
            f"nearest two sinusoids are {low['nearest sinusoids']:.2f} apart). With ids rounded to bfloat16 "
            f"{rounded:.0f} differ."
        )
        return Said("holds" if told_apart == COUNT > rounded else "fails", seen)


def _distinct(table: Tensor) -> float:
    return float(len(table.unique(dim=0)))


def _nearest(table: Tensor) -> float:
    """The smallest distance between two rows."""
    apart = torch.cdist(table[:1024].double(), table[:1024].double())
    return float(apart.fill_diagonal_(float("inf")).min())
