"""Claim 13: whether learned tables learn faster."""

from typing import final

from gnomon.lab.claims.base import claim
from gnomon.lab.claims.judgements import OfJudgements
from gnomon.lab.suites.convergence import STEPS


@claim(13, "2.2")
@final
class LearnedConvergesFaster(OfJudgements):
    """Steps to a loss with a learned table and with sinusoids, on text and on a generated task."""

    suite = "convergence"
    variants = ("learned", "sinusoidal")
    words = ("learned comes down to the target in fewer steps than sinusoidal",)
    measures = (STEPS,)
    statement = "Learned positions converge faster than sinusoids, and are weaker than them where data is short."
    truth = "Nobody can check the figures; the sign depends on the task and on the scale of the sinusoids."
    gnomon = "`gnomon lab convergence`, `gnomon lab low-resource`"
    private = "10 to 15% faster; F1 6.3 points lower below a thousand examples"
