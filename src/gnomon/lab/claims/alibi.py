"""Claims 26, 27 and 28: the bias of ALiBi, its slopes, and the line that leaks."""

from typing import final

import torch
from torch import Tensor

from gnomon.encodings.alibi import ALiBi, reference, reference_slope
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, percent, rounding
from gnomon.lab.experiments.context import Context

HEADS, LENGTH = 8, 64
EXACT = 1e-5


def bias(form: str) -> Tensor:
    """(H, L, L) in float64."""
    places = torch.arange(LENGTH)[None]
    made = ALiBi(HEADS, form="causal" if form == "causal" else "symmetric").bias(places, places)
    return made[0].double()


def future() -> Tensor:
    """(L, L): True where the key comes after the query."""
    return torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)


def in_the_future(added: Tensor, logits: Tensor) -> float:
    """The mean share of its attention that a query in the first half gives to later keys."""
    weights = (logits + added).softmax(-1)
    shares: Tensor = (weights * future()).sum(-1)[..., : LENGTH // 2]
    return float(shares.mean())


@claim(26, "4.2")
@final
class LinearPenalty(Measured):
    """The symmetric form against the formula, and the causal form against it after a masked softmax."""

    statement = "ALiBi subtracts m · |i - j| from the score of query i and key j, with a slope m for each head."
    truth = "True (Press et al. 2022, section 3). Under a causal mask + m · j is the same, by a constant for each row."
    gnomon = '`ALiBi(form="symmetric", "causal" or "asymmetric")`; on images `ALiBiGrid`'

    def measure(self, context: Context) -> dict[str, float]:
        logits = torch.randn(HEADS, LENGTH, LENGTH, dtype=torch.float64, generator=context.generator("logits"))
        places = [(0, 5, 2), (3, 9, 40), (7, 63, 0)]
        formula = max(abs(float(bias("symmetric")[h, i, j]) - reference(h, i, j, HEADS)) for h, i, j in places)
        forms = ((logits + bias(form)).masked_fill(future(), -torch.inf) for form in ("symmetric", "causal"))
        symmetric, causal = (masked.softmax(-1) for masked in forms)
        return {"formula error": formula, "between the forms": float((symmetric - causal).abs().max())}

    def judge(self, numbers: Numbers) -> Said:
        formula, between = numbers["formula error"].high, numbers["between the forms"].high
        seen = (
            f"The bias equals the formula to {rounding(formula)}; the causal form gives the same weights to "
            f"{rounding(between)}."
        )
        return Said("holds" if max(formula, between) < EXACT else "fails", seen)


@claim(27, "4.2")
@final
class Slopes(Measured):
    """The slopes of eight heads, published and as the article counts them."""

    seeded = False
    statement = "The slopes of h heads are 2^(-8/h), 2^(-9/h), and so on."
    truth = "2^(-8k/h) for k = 1 .. h where h is a power of two; a published rule for the rest (Press et al. 2022)."
    gnomon = "`ALiBi`, `PE308`"

    def measure(self, context: Context) -> dict[str, float]:
        ours = ALiBi(HEADS).slopes
        published = [reference_slope(head, HEADS) for head in range(HEADS)]
        article = [2.0 ** (-(8 + head) / HEADS) for head in range(HEADS)]
        return {
            "ours against the paper": max(abs(a - b) for a, b in zip(ours, published, strict=True)),
            "last slope": published[-1],
            "last slope of the article": article[-1],
        }

    def judge(self, numbers: Numbers) -> Said:
        paper, article = numbers["last slope"].mean, numbers["last slope of the article"].mean
        seen = (
            f"Of 8 heads the last has slope {paper:.3g} by the paper's rule (as here) and {article:.3g} by the "
            f"article's: {article / paper:.0f} times too steep to look far."
        )
        return Said("fails" if article > 2 * paper else "holds", seen)


@claim(28, "4.2")
@final
class LeakingTriangle(Measured):
    """How much attention queries give to later tokens, with the article's line, and with a mask beside the bias."""

    statement = "The bias to add is torch.tril(-m * |i - j|)."
    truth = (
        "Alone it leaks: above the diagonal it holds zeros, the highest bias of all. It needs a causal mask beside it."
    )
    gnomon = "mask and bias are apart; `PE304`"

    def measure(self, context: Context) -> dict[str, float]:
        logits = torch.randn(HEADS, LENGTH, LENGTH, dtype=torch.float64, generator=context.generator("logits"))
        masked = bias("symmetric").masked_fill(future(), -torch.inf)
        return {
            "tril": in_the_future(bias("symmetric").tril(), logits),
            "no bias": in_the_future(torch.zeros(LENGTH, LENGTH, dtype=torch.float64), logits),
            "mask and bias": in_the_future(masked, logits),
        }

    def judge(self, numbers: Numbers) -> Said:
        tril, none, masked = numbers["tril"], numbers["no bias"], numbers["mask and bias"]
        seen = (
            f"Queries of the first half give {percent(tril)} of their attention to tokens after them; without any bias "
            f"{percent(none)}, with a causal mask beside the bias {percent(masked)}."
        )
        return Said("fails" if tril.low > 0.01 else "holds", seen)
