"""Claims 10 and 36: what low precision does to angles, and to a table that is finished."""

from typing import final

import torch
from torch import Tensor

from gnomon.encodings import Sinusoidal
from gnomon.lab.claims.base import Measured, Numbers, Said, claim
from gnomon.lab.experiments.context import Context

WIDTH = 512
WINDOW = 2000  #: consecutive positions that the largest error is taken over
VISIBLE = 0.01  #: an error of a sine that reaches the second digit


def angle_error(first: int, dtype: torch.dtype, *, pairs: int = WIDTH // 2) -> float:
    """The largest error of a sine when the id, the frequency and their product are in `dtype`."""
    ids, inverse = torch.arange(first, first + WINDOW), frequencies()[:pairs]
    exact = (ids.double()[:, None] * inverse).sin()
    rounded = ids.to(dtype)[:, None] * inverse.to(dtype)
    return float((rounded.to(torch.float32).sin().double() - exact).abs().max())


def frequencies() -> Tensor:
    """The paper's, fastest first, in float64."""
    return torch.tensor(Sinusoidal(WIDTH).inverse_frequencies, dtype=torch.float64)


def exact_ids(dtype: torch.dtype) -> int:
    """Up to which position every id is exact."""
    ids = torch.arange(1, 5000)
    return int(ids[(ids.to(dtype).long() != ids)][0]) - 1


@claim(10, "2.1")
@final
class FarPositions(Measured):
    """The largest error of sin(p w) over 2000 positions when ids and products are in float32, and in bfloat16."""

    seeded = False
    statement = "Above position 20,000 the fast dimensions (i < 10) begin to jump, above 100,000 precision is lost."
    truth = (
        "In float32 the error grows smoothly with the position and the fastest pair stays exact (ids are exact to "
        "2²⁴). In bfloat16, whose ids are exact to 256, angles are ruined far earlier (Wang et al. 2024, "
        "arXiv:2411.13476)."
    )
    gnomon = "ids are int64, angles reduced in float64; `PE209`, `PE301`, `PE601`"

    def measure(self, context: Context) -> dict[str, float]:
        single = torch.float32
        return {
            "float32 at 20 000, i < 10": angle_error(20_000, single, pairs=10),
            "float32 at 20 000, fastest": angle_error(20_000, single, pairs=1),
            "float32 at 100 000": angle_error(100_000, single),
            "float32 at 1 000 000": angle_error(1_000_000, single),
            "bfloat16 from 257": angle_error(257, torch.bfloat16),
            "exact ids in bfloat16": exact_ids(torch.bfloat16),
        }

    def judge(self, numbers: Numbers) -> Said:
        found = {name: spread.mean for name, spread in numbers.items()}
        fast, far, half = found["float32 at 20 000, i < 10"], found["float32 at 100 000"], found["bfloat16 from 257"]
        seen = (
            f"In float32 a sine of the fast dimensions is wrong by {fast:.1g} at most at 20,000, one of any by "
            f"{far:.1g} at 100,000 and by {found['float32 at 1 000 000']:.1g} at a million. In bfloat16 ids are exact "
            f"to {found['exact ids in bfloat16']:.0f}, and right after it sines are wrong by {half:.2g}."
        )
        if max(fast, far) > VISIBLE:
            return Said("holds", seen)
        return Said("depends" if half > VISIBLE else "fails", seen)


@claim(36, "5.3")
@final
class HalfPrecision(Measured):
    """A finished table rounded to half, against a table whose angles were computed in half; positions 0 to 1999."""

    seeded = False
    statement = "Positions are insensitive to precision, so they can be stored and computed in float16."
    truth = "A finished table may be stored in half. Angles computed in half are ruined (see claim 10)."
    gnomon = "`PE209`, `PE301`"

    def measure(self, context: Context) -> dict[str, float]:
        table = Sinusoidal(WIDTH).table(torch.arange(WINDOW), dtype=torch.float64)
        halves = (torch.float16, torch.bfloat16)
        stored = [float((table.to(half).double() - table).abs().max()) for half in halves]
        computed = [angle_error(0, half) for half in halves]
        names = ("stored float16", "stored bfloat16", "computed float16", "computed bfloat16")
        return dict(zip(names, (*stored, *computed), strict=True))

    def judge(self, numbers: Numbers) -> Said:
        found = {name: spread.mean for name, spread in numbers.items()}
        stored = max(found["stored float16"], found["stored bfloat16"])
        computed = min(found["computed float16"], found["computed bfloat16"])
        seen = (
            f"A finished table is off by {found['stored float16']:.1g} in float16 and {found['stored bfloat16']:.1g} "
            f"in bfloat16; with angles computed in them by {found['computed float16']:.2g} and "
            f"{found['computed bfloat16']:.2g} within 2000 positions."
        )
        if stored > VISIBLE:
            return Said("fails", seen)
        return Said("depends" if computed > VISIBLE else "holds", seen)
