"""How loud positions should be beside words: sinusoids divided, or words multiplied, by sqrt(d) or by d."""

from typing import Any, Final, final

from gnomon.lab.judging import Expectation
from gnomon.lab.settings import OverSettings, Setting, told
from gnomon.lab.suites.base import Size, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.study import Judgement

ARTICLE = "the article, section 3.3"
FIGURES = (
    f"{ARTICLE}: 8,200 steps and 93.7 % with sqrt(d), 12,500 and 92.1 % with none, 15,800 and 91.3 % with d, "
    "from an experiment that nobody can repeat"
)
VASWANI = "Vaswani et al. 2017, arXiv:1706.03762, section 3.4"
NONE, NOPE = "none", "no positions"
BY_SQRT, BY_DIM = "positions / sqrt(d)", "positions / d"
WORDS_SQRT, WORDS_DIM = "words * sqrt(d)", "words * d"
SINUSOIDS: Final = {"encoding": "sinusoidal"}
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    NONE: {"encoding": SINUSOIDS},
    BY_SQRT: {"encoding": {**SINUSOIDS, "scale": "sqrt_dim"}},
    BY_DIM: {"encoding": {**SINUSOIDS, "scale": "dim"}},
    WORDS_SQRT: {"encoding": SINUSOIDS, "embedding_scale": "sqrt_dim"},
    WORDS_DIM: {"encoding": SINUSOIDS, "embedding_scale": "dim"},
    NOPE: {"encoding": {"encoding": "nope"}},
}


@registry.register("scaling")
@final
class Scaling(OverSettings):
    """The article's three scalings, and the same from the side of the words."""

    name = "scaling"
    title = "The scale of positions beside words"
    question = "Should sinusoids be scaled before they are added to words: not at all, by sqrt(d), or by d?"
    expectation = (
        "The article claims that dividing by sqrt(d) learns fastest and best, and that dividing by d is worse than "
        "leaving sinusoids as they are. The original multiplies the words by sqrt(d) instead, which gives the same "
        "ratio from the other side. Which is best is an empirical matter, and a task may need positions more or less."
    )
    sources = (FIGURES, VASWANI)

    variants = VARIANTS
    against = ((BY_SQRT, NONE), (BY_DIM, NONE), (BY_SQRT, BY_DIM), (WORDS_SQRT, NONE), (WORDS_SQRT, BY_SQRT))

    def method(self, size: Size) -> str:
        return (
            f"Models of two layers learn with sinusoids at five scales, and without positions ({told(size)}). "
            "Words start with norm 1, and the norm of a sinusoid is sqrt(d / 2). Counted are the steps until "
            "the mean training loss of 20 steps is at the target; at the end the score on new rows is taken, "
            "and how far gradient norms swung after the warm-up."
        )

    def judged(self, setting: Setting, evidence: Evidence) -> list[Judgement]:
        where = setting.group

        def expected(statement: str, source: str = ARTICLE) -> Expectation:
            return Expectation(f"{where}: {statement}", source)

        steady = "divided by sqrt(d), gradients have lower peaks than unscaled."
        found = [
            setting.sooner(
                expected("divided by sqrt(d), the target comes sooner than unscaled."), evidence, BY_SQRT, NONE
            ),
            setting.sooner(expected("divided by d, the target comes later than unscaled."), evidence, NONE, BY_DIM),
            setting.scores_better(
                expected("divided by sqrt(d), the end is better than unscaled."), evidence, BY_SQRT, NONE
            ),
            setting.scores_better(expected("divided by d, the end is worse than unscaled."), evidence, NONE, BY_DIM),
            setting.scores_better(
                expected("words times sqrt(d) end better than unscaled.", VASWANI), evidence, WORDS_SQRT, NONE
            ),
        ]
        return found + ([setting.steadier(expected(steady), evidence, BY_SQRT, NONE)] if setting.gradients else [])
