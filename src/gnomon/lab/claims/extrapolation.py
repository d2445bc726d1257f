"""Claims 9, 22 and 30: what becomes of a model on text longer than it was trained on."""

from typing import ClassVar, Final, final

from gnomon.lab.claims.base import Numbers, OfSuite, Reading, Said, claim, told
from gnomon.lab.judging import ratios
from gnomon.lab.suites import Size
from gnomon.lab.suites.extrapolation import LAST, PERPLEXITY
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.spread import spread

KEPT: Final = 1.25  #: a perplexity that grew by no more than a quarter has held


class GrownPerplexity(OfSuite):
    """The perplexity of one encoding at some multiples of its trained length, over that at the trained length.

    Counted twice: over the last tokens of rows, and over pieces side by side. The first decides, since it scores the
    same tokens at every length.
    """

    suite = "extrapolation"
    variant: ClassVar[str]
    times: ClassVar[tuple[int, ...]] = (2, 4, 8)

    def keeps(self, run: Run) -> bool:
        return run.variant == self.variant

    def read(self, evidence: Evidence, size: Size) -> Reading | None:
        numbers = {
            f"{group}, {measure} at {times} times": spread(grown)
            for group in evidence.groups()
            for measure in (LAST, PERPLEXITY)
            for times in self.times
            if (grown := growth(evidence, (group, self.variant, measure), times))
        }
        return Reading(self.judge(numbers), numbers) if numbers else None

    def judge(self, numbers: Numbers) -> Said:
        """By the last tokens: held where no seed grew beyond the bound anywhere, failed where all did somewhere."""
        last = {name: grown for name, grown in numbers.items() if f", {LAST} at" in name}
        parts = [f"{name.replace('_', ' ')} {told(grown)}" for name, grown in numbers.items()]
        seen = f"Perplexity over that at the trained length, {self.variant}: {'; '.join(parts)}."
        if all(grown.high <= KEPT for grown in last.values()):
            return Said("holds", seen)
        return Said("fails" if any(grown.low > KEPT for grown in last.values()) else "depends", seen)


def growth(evidence: Evidence, where: tuple[str, str, str], times: int) -> dict[int, float]:
    """By seed; nothing where a length was not measured."""
    trained = evidence.places(where[0], where[2])[0]
    return (
        {} if trained is None else ratios(evidence.by_seed(*where, trained * times), evidence.by_seed(*where, trained))
    )


@claim(9, "2.1")
@final
class SinusoidsExtrapolate(GrownPerplexity):
    """Sinusoids at 2, 4 and 8 times the trained length."""

    variant = "sinusoidal"
    statement = "Sinusoids extrapolate: a model trained at 512 reads contracts of ten thousand words."
    truth = (
        "The table exists for every position; the model degrades almost at once (Press et al. 2022, table 2: "
        "perplexity 20 at 512, 342 at 10,512)."
    )
    gnomon = "`gnomon lab extrapolation`; `gnomon advise` never recommends them for it; `PE513`"
    private = "82% of the accuracy of summaries at ten thousand words"


@claim(22, "4.1")
@final
class RotaryExtrapolates(GrownPerplexity):
    """Plain rotary at 2, 4 and 8 times the trained length."""

    variant = "rotary"
    statement = "RoPE extrapolates to any length at no cost."
    truth = (
        "Plain RoPE degrades past the trained length, first slowly and then steeply (Press et al. 2022, table 2; Chen "
        "et al. 2023, table 1); hence scaled frequencies."
    )
    gnomon = (
        "eleven [rules](encodings/README.md#rotary-frequencies) for frequencies; `gnomon lab extrapolation` and "
        "`context-extension`; `PE203` and `PE307` hold models to them"
    )
    private = "37% less perplexity than sinusoids on PG-19, on which the paper of RoPE has no experiment"


@claim(30, "4.2")
@final
class LinearBiasesExtrapolate(GrownPerplexity):
    """ALiBi at twice and four times the trained length."""

    variant = "alibi"
    times = (2, 4)
    statement = "ALiBi carries a context of 512 to 2048, four times as far."
    truth = "Language models with ALiBi keep their perplexity far beyond that (Press et al. 2022, table 2)."
    gnomon = "`gnomon lab extrapolation`"
    private = "F1 5.2 points higher and training 22% shorter"
