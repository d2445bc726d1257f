"""How positions and words are joined: added, put side by side and projected, or multiplied."""

from typing import Any, Final, final

from gnomon.lab.judging import Expectation
from gnomon.lab.settings import OverSettings, Setting, told
from gnomon.lab.suites.base import Size, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.study import Judgement

ARTICLE = "the article, section 3.1"
FIGURES = (
    f"{ARTICLE}: concatenation 40 % slower and 3.7 points lower, multiplication unstable, "
    "from experiments that nobody can repeat"
)
ADD, SCALED, CONCAT, MULTIPLY = "add", "add, positions / sqrt(d)", "concat, projected", "multiply"
SINUSOIDS: Final = {"encoding": "sinusoidal"}
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    ADD: {"encoding": SINUSOIDS, "fusion": "add"},
    SCALED: {"encoding": {**SINUSOIDS, "scale": "sqrt_dim"}, "fusion": "add"},
    CONCAT: {"encoding": SINUSOIDS, "fusion": "concat"},
    MULTIPLY: {"encoding": SINUSOIDS, "fusion": "multiply"},
}


@registry.register("fusion")
@final
class Fusion(OverSettings):
    """Addition, concatenation and multiplication on equal terms."""

    name = "fusion"
    title = "Ways to join positions and words"
    question = "Should positions be added to words, put beside them, or multiplied with them?"
    expectation = (
        "The article claims that concatenation learns more slowly and ends lower than addition, and that "
        "multiplication makes training unstable. Concatenation that is projected back to the model's width holds "
        "addition as a special case, so it need not be worse; it has 2 d^2 + d more parameters."
    )
    sources = (FIGURES,)

    variants = VARIANTS
    against = ((CONCAT, ADD), (MULTIPLY, ADD), (CONCAT, SCALED))

    def method(self, size: Size) -> str:
        return (
            f"Models of two layers learn with sinusoids that are joined to words in four ways ({told(size)}). "
            "Sinusoids are unscaled, but for one variant that adds them divided by sqrt(d). Counted are the "
            "steps until the mean training loss of 20 steps is at the target; at the end the score on new rows "
            "is taken, and how far gradient norms swung after the warm-up."
        )

    def judged(self, setting: Setting, evidence: Evidence) -> list[Judgement]:
        def expected(statement: str) -> Expectation:
            return Expectation(f"{setting.group}: {statement}", ARTICLE)

        steady = "multiplied, gradients have higher peaks than added."
        found = [
            setting.sooner(expected("put side by side, the target comes later than added."), evidence, ADD, CONCAT),
            setting.scores_better(expected("put side by side, the end is worse than added."), evidence, ADD, CONCAT),
            setting.scores_better(expected("multiplied, the end is worse than added."), evidence, ADD, MULTIPLY),
        ]
        return found + ([setting.steadier(expected(steady), evidence, ADD, MULTIPLY)] if setting.gradients else [])
