"""Claim 29: a bias for the actual length."""

from typing import final

import torch

from gnomon.encodings import ALiBi
from gnomon.lab.claims.base import Measured, Numbers, Said, claim
from gnomon.lab.experiments.context import Context

HEADS, SHORT, LONG = 8, 128, 2048
MEGABYTE = 1e6


def megabytes(form: str, length: int) -> float:
    """What the bias of one row of the batch takes in memory."""
    places = torch.arange(length)[None]
    made = ALiBi(HEADS, form="causal" if form == "causal" else "symmetric").bias(places, places)
    return made.untyped_storage().nbytes() / MEGABYTE


@claim(29, "4.2")
@final
class BiasOfTheLength(Measured):
    """Bytes of the bias of eight heads in float32."""

    seeded = False
    statement = "Build the bias for the length in use; one of a fixed 2048 x 2048 wastes memory on short texts."
    truth = "True, and it need not be built at all: a causal ALiBi is one row, or a slope that the kernel applies."
    gnomon = 'built for the positions in use; `ALiBi(form="causal")` is a view of one row; `flash_slopes`; `PE612`'

    def measure(self, context: Context) -> dict[str, float]:
        return {
            "MB for 2048": megabytes("symmetric", LONG),
            "MB for 128": megabytes("symmetric", SHORT),
            "MB for 2048, one row": megabytes("causal", LONG),
        }

    def judge(self, numbers: Numbers) -> Said:
        fixed, short, row = (numbers[name].mean for name in ("MB for 2048", "MB for 128", "MB for 2048, one row"))
        seen = (
            f"For 8 heads a bias of 2048 x 2048 takes {fixed:.0f} MB, one of 128 x 128 {short:.2g} MB, and the row "
            f"that a causal bias of 2048 is a view of {row:.2g} MB."
        )
        return Said("holds" if short < fixed / 10 else "fails", seen)
