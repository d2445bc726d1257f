"""Claims 16, 19 and 38: how positions join words, and at what scale."""

from typing import final

from gnomon.lab.claims.base import claim
from gnomon.lab.claims.judgements import OfJudgements
from gnomon.lab.suites.fusion import ADD, CONCAT, MULTIPLY
from gnomon.lab.suites.scaling import BY_DIM, BY_SQRT, NONE


@claim(16, "3.1")
@final
class AddPositions(OfJudgements):
    """Addition against concatenation with a projection, and against multiplication."""

    suite = "fusion"
    variants = (ADD, CONCAT, MULTIPLY)
    words = ("put side by side", "multiplied")
    measures = ("steps_to_target", "perplexity", "token_accuracy")
    statement = (
        "Add positions to words: concatenation learns more slowly and ends lower, multiplication breaks training."
    )
    truth = (
        "Addition is the right default. Concatenation does not break residuals when it is projected back to the "
        "model's width, and then holds addition as a special case."
    )
    gnomon = "the `embed` hook adds; `gnomon lab fusion` compares three ways"
    private = "40% slower and 3.7 points lower by concatenation"


@claim(19, "3.3")
@final
class DivideByTheRoot(OfJudgements):
    """Sinusoids as they are, divided by √d and by d."""

    suite = "scaling"
    variants = (NONE, BY_SQRT, BY_DIM)
    words = ("the target comes", "the end is")
    measures = ("steps_to_target", "perplexity", "token_accuracy")
    statement = "The original did not scale; sinusoids divided by √d learn fastest and best, those divided by d worst."
    truth = (
        "The original multiplies the words by √d, the same ratio from the other side (Vaswani et al. 2017, section "
        "3.4). Which is best is an empirical question."
    )
    gnomon = '`scale="none", "sqrt_dim", "dim"` on both sides; `PE211` measures the ratio; `gnomon lab scaling`'
    private = "8,200, 12,500 and 15,800 steps; 93.7, 92.1 and 91.3% on THUCNews"


@claim(38, "5.4")
@final
class SwingsFromScale(OfJudgements):
    """How far gradients swing with sinusoids as they are and divided by √d."""

    suite = "scaling"
    variants = (NONE, BY_SQRT)
    words = ("gradients have lower peaks",)
    measures = ("gradient_spread",)
    statement = "A loss that swings early in training comes from unscaled positions: divide them by √d."
    truth = "Plausible where positions are louder than words; a loss swings for other reasons too."
    gnomon = "`PE211`"
