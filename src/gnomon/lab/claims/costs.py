"""Claims 25 and 37: what positions cost in time and memory."""

import time
from collections.abc import Callable
from typing import final

import torch

from gnomon.attention import Attention
from gnomon.encodings import ALiBi, NoPE, Rotary, Sinusoidal
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, percent, told
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.experiments.context import Context

DIM, HEADS = 256, 8
REPEATS = 5
LONG = 10_000  #: the article's length


def milliseconds(call: Callable[[], object]) -> float:
    """The shortest of some calls after one that warms up: what else the machine does makes a call longer only."""
    call()
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return 1000 * min(taken)


@claim(25, "4.1")
@final
class TimeOfRotation(Measured):
    """One attention layer (width 256, 8 heads) at two lengths, and the rotation of its queries and keys alone."""

    statement = "The rotation adds less than 0.5 ms to a call."
    truth = "It depends on machine, sizes and kernel; a ratio to the rest of the layer says more."
    gnomon = "`gnomon lab claims --only 25` measures both on your machine"

    def measure(self, context: Context) -> dict[str, float]:
        numbers: dict[str, float] = {}
        with seeded(context), torch.no_grad():
            layer = Attention(DIM, num_heads=HEADS, encoding=NoPE(), causal=True).eval()
            rotary = Rotary(DIM // HEADS)
            for length in (64, 2048):
                x, places = torch.randn(1, length, DIM), torch.arange(length)[None]
                q, k = torch.randn(2, 1, HEADS, length, DIM // HEADS)
                rotation = milliseconds(lambda: (rotary.rotate_query(q, places), rotary.rotate_key(k, places)))  # noqa: B023
                whole = milliseconds(lambda: layer(x, places))  # noqa: B023
                numbers |= {f"ms at {length}": rotation, f"share of the layer at {length}": rotation / whole}
        return numbers

    def judge(self, numbers: Numbers) -> Said:
        short, long = numbers["ms at 64"], numbers["ms at 2048"]
        seen = (
            f"Turning the queries and keys of one layer takes {told(short)} ms at 64 tokens and {told(long)} ms at "
            f"2048 on this CPU: {percent(numbers['share of the layer at 64'])} and "
            f"{percent(numbers['share of the layer at 2048'])} of what the rest of its attention takes."
        )
        if long.high < 0.5:
            return Said("holds", seen)
        return Said("depends" if short.low < 0.5 else "fails", seen)


@claim(37, "5.3")
@final
class TenThousandTokens(Measured):
    """What tables for 10,000 tokens take, and what computing them costs beside one attention layer of that length."""

    statement = (
        "Cache the table, store it in half and load it in pieces: on 10,000 tokens that saves more than half of the "
        "memory and a third of the time."
    )
    truth = (
        "The direction is right, but a table is small; what is large is a bias for all pairs. Rotary and linear biases "
        "need no table at all."
    )
    gnomon = 'no table is stored; `ALiBi(form="causal")` is one row; `PE612` measures how memory grows'
    private = "3.2 to 1.4 GB and 38% less latency, of a system that is not described"

    def measure(self, context: Context) -> dict[str, float]:
        places = torch.arange(LONG)[None]
        table = Sinusoidal(512).table(places)
        row = ALiBi(HEADS, form="causal").bias(places, places)
        with seeded(context), torch.no_grad():
            layer = Attention(DIM, num_heads=HEADS, encoding=NoPE(), causal=True).eval()
            x = torch.randn(1, LONG, DIM)
            started = time.perf_counter()
            layer(x, places)
            whole = 1000 * (time.perf_counter() - started)
        rotary = Rotary(DIM // HEADS)
        return {
            "MB of the table": table.nbytes / 1e6,
            "MB of the table in half": table.half().nbytes / 1e6,
            "MB of a bias for all pairs": HEADS * LONG**2 * 4 / 1e6,
            "MB of a bias as one row": row.untyped_storage().nbytes() / 1e6,
            "share of the angles in a layer": milliseconds(lambda: rotary.cos_sin(places)) / whole,
        }

    def judge(self, numbers: Numbers) -> Said:
        found = {name: spread.mean for name, spread in numbers.items()}
        seen = (
            f"For {LONG:,} tokens a table of width 512 takes {found['MB of the table']:.0f} MB, in half "
            f"{found['MB of the table in half']:.0f} MB; a bias of 8 heads for all pairs "
            f"{found['MB of a bias for all pairs']:,.0f} MB, as one row {found['MB of a bias as one row']:.1g} MB. "
            f"Computing all angles of RoPE anew takes {percent(numbers['share of the angles in a layer'])} of one "
            "attention layer of that length. A whole model was not measured."
        )
        large = found["MB of a bias for all pairs"] > 20 * found["MB of the table"]
        return Said("depends" if large else "holds", seen)
