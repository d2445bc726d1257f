"""Claims 5, 6, 7, 8 and 18: what the sinusoid table is, in numbers."""

import math
from typing import final

import torch
from torch import Tensor

from gnomon.encodings.sinusoidal import Sinusoidal, reference, reference_endpoint
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, rounding, told
from gnomon.lab.experiments.context import Context

WIDTH = 512  #: the article's
EXACT = 1e-9


def vectors(positions: list[int]) -> Tensor:
    """(N, 512) rows of the paper's table in float64."""
    return Sinusoidal(WIDTH).table(torch.tensor(positions), dtype=torch.float64)


def turned(table: Tensor, steps: int) -> Tensor:
    """Each pair (sin, cos) of the rows turned on by `steps` positions: a matrix that depends on `steps` alone."""
    angle = steps * torch.tensor(Sinusoidal(WIDTH).inverse_frequencies, dtype=torch.float64)
    sin, cos = table[:, 0::2], table[:, 1::2]
    pairs = (sin * angle.cos() + cos * angle.sin(), cos * angle.cos() - sin * angle.sin())
    return torch.stack(pairs, -1).flatten(-2)


@claim(5, "1")
@final
class SumOfPositions(Measured):
    """The sum of two vectors against the vector of the sum, and the rotation that is true instead."""

    seeded = False
    statement = "PE(i) + PE(j) is about PE(i + j), which helps a model learn relative positions."
    truth = (
        "No. True is PE(p + k) = R(k) PE(p) with a rotation R(k) that depends on k alone (Vaswani et al. 2017, "
        "section 3.5)."
    )
    gnomon = "a property test of the true statement"

    def measure(self, context: Context) -> dict[str, float]:
        ten, twenty, thirty = vectors([10, 20, 30])
        pairs = [(i, j) for i in range(1, 40, 3) for j in range(2, 40, 5)]
        first, second = (vectors([pair[side] for pair in pairs]) for side in (0, 1))
        both = vectors([i + j for i, j in pairs])
        errors = (first + second - both).norm(dim=-1) / both.norm(dim=-1)
        rotated = (turned(vectors([0, 7, 100, 4000]), 20) - vectors([20, 27, 120, 4020])).abs().max()
        return {
            "error for 10 and 20": float((ten + twenty - thirty).norm() / thirty.norm()),
            "smallest error": float(errors.min()),
            "error of the rotation": float(rotated),
        }

    def judge(self, numbers: Numbers) -> Said:
        pair, least = numbers["error for 10 and 20"].mean, numbers["smallest error"].mean
        rotation = numbers["error of the rotation"].mean
        seen = (
            f"At width 512 the sum of the vectors of 10 and 20 is off by {pair:.2f} of the length of that of 30 (the "
            f"best of 104 pairs: {least:.2f}); the rotation is right to {rounding(rotation)}."
        )
        return Said("fails" if least > 0.1 and rotation < EXACT else "depends", seen)


@claim(6, "2.1")
@final
class SinusoidFormula(Measured):
    """The table against the formula in plain floats, and the other form in use."""

    seeded = False
    statement = "PE(pos, 2i) = sin(pos / 10000^(2i/d)) and PE(pos, 2i + 1) = cos of the same."
    truth = (
        "True of the paper (Vaswani et al. 2017, section 3.5). tensor2tensor and fairseq put sines first, and their "
        "last frequency is exactly 1/10000: another table, not another order."
    )
    gnomon = "`Sinusoidal(layout=, exponent=)`, a scalar `reference`"

    def measure(self, context: Context) -> dict[str, float]:
        places = [0, 1, 9, 100, 511]
        columns = [0, 1, 2, 255, 256, 510, 511]
        other = Sinusoidal(WIDTH, layout="half", exponent="endpoint")
        table, endpoint = vectors(places), other.table(torch.tensor(places), dtype=torch.float64)
        paper = [[reference(p, c, WIDTH) for c in columns] for p in places]
        half = [[reference_endpoint(p, c, WIDTH) for c in columns] for p in places]
        reordered = torch.cat((table[:, 0::2], table[:, 1::2]), -1)
        return {
            "error": _largest(table[:, columns], paper),
            "error of the other form": _largest(endpoint[:, columns], half),
            "between the forms": float((reordered - endpoint).abs().max()),
        }

    def judge(self, numbers: Numbers) -> Said:
        error, between = numbers["error"].mean, numbers["between the forms"].mean
        other = numbers["error of the other form"].mean
        seen = (
            f"The table equals the formula to {rounding(error)}; that of tensor2tensor ({rounding(other)} from its own "
            f"formula) is up to {between:.2f} away from it in the same order of columns."
        )
        return Said("holds" if max(error, other) < EXACT else "fails", seen)


@claim(7, "2.1")
@final
class Frequencies(Measured):
    """The frequencies of two pairs of columns."""

    seeded = False
    statement = "At width 512 pair 128 has frequency 1/100 and pair 255 about 1/10000."
    truth = "True: 10000^(-256/512) = 0.01 and 10000^(-510/512) = 1.04e-4."
    gnomon = "golden values in the tests"

    def measure(self, context: Context) -> dict[str, float]:
        frequencies = Sinusoidal(WIDTH).inverse_frequencies
        return {"pair 128": frequencies[128], "pair 255": frequencies[255]}

    def judge(self, numbers: Numbers) -> Said:
        middle, last = numbers["pair 128"].mean, numbers["pair 255"].mean
        right = math.isclose(middle, 0.01, rel_tol=EXACT) and math.isclose(last, 1e-4, rel_tol=0.05)
        return Said("holds" if right else "fails", f"Pair 128 has {middle:.6g}, pair 255 has {last:.4g}.")


@claim(8, "2.1")
@final
class PositionZero(Measured):
    """The vector of position 0 with sines and cosines, and with sines alone."""

    seeded = False
    statement = "Sines and cosines alternate so that position 0 is not the zero vector."
    truth = "A true consequence; the paper's own reason is the rotation of claim 5."
    gnomon = "`PE205`"

    def measure(self, context: Context) -> dict[str, float]:
        zero = vectors([0])[0]
        return {"norm": float(zero.norm()), "norm of the sines": float(zero[0::2].norm())}

    def judge(self, numbers: Numbers) -> Said:
        norm, sines = numbers["norm"].mean, numbers["norm of the sines"].mean
        seen = f"The vector of position 0 has norm {norm:.4g}; its sines alone have {sines:.4g}."
        return Said("holds" if norm > 1 and sines < EXACT else "fails", seen)


@claim(18, "3.3")
@final
class NormOfSinusoid(Measured):
    """The norm of every vector of the first thousand."""

    seeded = False
    statement = "A sinusoid vector of width 512 has a norm of about √512 = 22.6."
    truth = "Exactly √(512/2) = 16 at every position, since sin² + cos² = 1 in each of 256 pairs."
    gnomon = "golden value in the tests; `PE211` measures the ratio to the words"

    def measure(self, context: Context) -> dict[str, float]:
        norms = vectors(list(range(1000))).norm(dim=-1)
        return {"norm": float(norms.mean()), "spread": float(norms.max() - norms.min())}

    def judge(self, numbers: Numbers) -> Said:
        norm, spread = numbers["norm"], numbers["spread"].mean
        seen = f"The norm is {told(norm)} at all of 1000 positions (they differ by {rounding(spread)})."
        return Said("holds" if abs(norm.mean - 22.6) < 0.5 else "fails", seen)


def _largest(table: Tensor, formula: list[list[float]]) -> float:
    return float((table - torch.tensor(formula, dtype=torch.float64)).abs().max())
