"""Claims 20, 21, 23 and 24: the rotation of RoPE."""

import math
from typing import final

import torch
from torch import Tensor
from torch.nn.functional import pad

from gnomon.encodings.rotary import Rotary, reference
from gnomon.errors import GnomonError
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, rounding
from gnomon.lab.claims.tables import raises
from gnomon.lab.experiments.context import Context

HEAD, MODEL, BASE = 64, 512, 10000.0
EXACT = 1e-9
SHIFTS = (1, 17, 1000)


def scores(rotary: Rotary, q: Tensor, k: Tensor, shift: int) -> Tensor:
    """(B, H, S, S) scores of queries and keys whose positions all start at `shift`."""
    places = torch.arange(shift, shift + q.shape[2])[None]
    return rotary.rotate_query(q, places) @ rotary.rotate_key(k, places).mT


def shift_error(rotary: Rotary, q: Tensor, k: Tensor) -> float:
    """How much scores change when all positions move, relative to the largest score."""
    start = scores(rotary, q, k, 0)
    return max(float((scores(rotary, q, k, shift) - start).abs().max() / start.abs().max()) for shift in SHIFTS)


def drawn(context: Context, width: int) -> tuple[Tensor, Tensor]:
    """(2, 3, 11, width) random queries and keys in float64."""
    q, k = torch.randn(2, 2, 3, 11, width, dtype=torch.float64, generator=context.generator("heads"))
    return q, k


@claim(20, "4.1")
@final
class RelativeByConstruction(Measured):
    """Scores under shifts of all positions, and one rotation against the formula in plain floats."""

    statement = "RoPE turns pairs of a query and of a key by m θ_i, so that q·k depends on m - n alone."
    truth = "True (Su et al. 2021, arXiv:2104.09864, section 3.2.2)."
    gnomon = "`Rotary`; [its page](encodings/rotary.md)"

    def measure(self, context: Context) -> dict[str, float]:
        q, k = drawn(context, HEAD)
        rotary = Rotary(HEAD)
        ours = rotary.rotate_query(q, torch.arange(11)[None])[0, 0, 7]
        inverse = [BASE ** (-2 * i / HEAD) for i in range(HEAD // 2)]
        written = torch.tensor(reference(q[0, 0, 7].tolist(), 7, inverse, "half"), dtype=torch.float64)
        return {"shift error": shift_error(rotary, q, k), "formula error": float((ours - written).abs().max())}

    def judge(self, numbers: Numbers) -> Said:
        shift, formula = numbers["shift error"].high, numbers["formula error"].high
        seen = (
            f"Scores move by {rounding(shift)} when positions shift by up to 1000; the formula is met to "
            f"{rounding(formula)}."
        )
        return Said("holds" if max(shift, formula) < EXACT else "fails", seen)


@claim(21, "4.1")
@final
class WidthInTheExponent(Measured):
    """The slowest wavelength of a 64-wide head, with the head's width and with the model's in the exponent."""

    seeded = False
    statement = "The angles of RoPE are θ_i = 10000^(-2i/d_model)."
    truth = "d is the rotated width of one head (Su et al. 2021, equation 15; every released model)."
    gnomon = "`Rotary(head_dim, rotary_dim=)`; `PE307`"

    def measure(self, context: Context) -> dict[str, float]:
        inverse = Rotary(HEAD).inverse_frequencies
        article = [BASE ** (-2 * i / MODEL) for i in range(HEAD // 2)]
        return {
            "slowest wavelength": 2 * math.pi / inverse[-1],
            "slowest wavelength with d_model": 2 * math.pi / article[-1],
            "largest ratio": max(a / b for a, b in zip(article, inverse, strict=True)),
        }

    def judge(self, numbers: Numbers) -> Said:
        ours, article = numbers["slowest wavelength"].mean, numbers["slowest wavelength with d_model"].mean
        seen = (
            f"With d = 64, a head's width, the slowest pair of a head turns once in {ours:,.0f} tokens; with d_model = "
            f"512 once in {article:.0f}, so that no pair is slow."
        )
        return Said("fails" if ours > 100 * article else "holds", seen)


@claim(23, "4.1")
@final
class QuarterTurns(Measured):
    """The best that any number of quarter turns can do for a rotation by one radian."""

    seeded = False
    statement = "torch.rot90 carries out the rotation of RoPE efficiently."
    truth = "It turns an array by quarter turns: there is no angle in it, and no position."
    gnomon = "`gnomon.kernels.rotation`"

    def measure(self, context: Context) -> dict[str, float]:
        pair = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
        one_radian = torch.tensor([[math.cos(1), math.sin(1)]], dtype=torch.float64)
        turns = [torch.rot90(pair, turn, (0, 1)).flatten() for turn in range(8)]
        same = [turn for turn in turns if turn.shape == one_radian.flatten().shape]
        return {
            "smallest error": float(min((turn - one_radian.flatten()).norm() for turn in same)),
            "different results": float(len({tuple(turn.tolist()) for turn in turns})),
            "ours": float((Rotary(2).rotate_query(pair[None, None], torch.tensor([[1]])) - one_radian).abs().max()),
        }

    def judge(self, numbers: Numbers) -> Said:
        least, ours = numbers["smallest error"].mean, numbers["ours"].mean
        seen = (
            f"Of all quarter turns of a unit vector the nearest to a turn by 1 radian is off by {least:.2f}; there are "
            f"{numbers['different results'].mean:.0f} results for any angle. The rotation here is off by "
            f"{rounding(ours)}."
        )
        return Said("fails" if least > 0.1 and ours < EXACT else "holds", seen)


@claim(24, "4.1")
@final
class OddWidths(Measured):
    """A head of 7 columns: what is refused, a partial rotation, and padding with a zero."""

    statement = 'For an odd width pad with a zero, or use "grouped query rotation".'
    truth = (
        "Padding works, and so does turning an even part of the head (partial rotary). No technique of the second name "
        "exists for it; grouped-query attention shares key heads and is something else."
    )
    gnomon = "partial rotary; a clear error for an odd width; `PE103`"

    def measure(self, context: Context) -> dict[str, float]:
        q, k = drawn(context, 7)
        padded = [pad(each, (0, 1)) for each in (q, k)]
        return {
            "odd width refused": raises(GnomonError, lambda: Rotary(7)),
            "shift error, partial": shift_error(Rotary(7, rotary_dim=6), q, k),
            "shift error, padded": shift_error(Rotary(8), *padded),
        }

    def judge(self, numbers: Numbers) -> Said:
        partial, padded = numbers["shift error, partial"].high, numbers["shift error, padded"].high
        seen = (
            "Both turning 6 of 7 columns and padding to 8 give scores that depend on distance alone (to "
            f"{rounding(partial)} and {rounding(padded)}). The named technique has no definition to measure."
        )
        return Said("depends" if max(partial, padded) < EXACT else "fails", seen)
