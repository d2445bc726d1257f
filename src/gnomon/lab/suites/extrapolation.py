"""Train short, test long: what a language model of each encoding makes of rows longer than it was trained on."""

from collections.abc import Sequence
from typing import Final, final

from gnomon.lab.judging import AtLeast, AtMost, Expectation, ratios, worst
from gnomon.lab.recipes import READINGS, Reading, to_fetch
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

PRESS = "Press et al. 2022, arXiv:2108.12409, table 2"
CURSE = "Press et al. 2022, arXiv:2108.12409, appendix B"
DAPE = "Zheng et al. 2024 (DAPE), arXiv:2405.14722"
LIMIT = "a table has no row for a position that it was not made for"
VARIANTS: Final = ("sinusoidal", "rotary", "t5", "alibi", "learned", "nope")
PERPLEXITY, LAST = "perplexity", "last_k_perplexity"
#: (a, b): a is expected to be read with less loss than b, far from the trained length
PAIRS: Final = (("alibi", "t5"), ("t5", "rotary"), ("alibi", "rotary"), ("alibi", "sinusoidal"), ("t5", "sinusoidal"))


@registry.register("extrapolation")
@final
class Extrapolation(Suite):
    """Perplexity by length, counted in the two ways that rank encodings differently."""

    name = "extrapolation"
    title = "Train short, test long"
    question = "Which encodings can a language model read longer text with than it was trained on?"
    expectation = (
        "Published, not reproduced here: trained on 512 tokens, ALiBi stays near its perplexity to 15,512, T5 biases "
        "to about twice the length, rotary for 100 to 200 tokens more and sinusoids for 20 (Press et al. 2022). "
        "Counted over the last tokens alone, as DAPE does, T5 biases fail sooner."
    )
    sources = (PRESS, CURSE, DAPE)

    def needs(self, size: Size) -> tuple[str, ...]:
        return to_fetch(each.corpus for each in READINGS[size])

    def method(self, size: Size) -> str:
        first, *others = READINGS[size]
        corpora = " and ".join(reading.corpus for reading in (first, *others))
        return (
            f"A model of 3 layers, width 64 and 4 heads learns to predict the next byte of {corpora}, in {first.steps} "
            f"steps of 16 rows of {first.length} bytes, for each encoding and seed; a seed gives every encoding the "
            f"same rows. It then reads rows of {', '.join(map(str, first.lengths))} bytes: {first.total} bytes in "
            f"pieces side by side (every piece begins without context), and the same last {first.last} bytes of "
            f"{first.rows} rows with more and more before them. Ratios are to the encoding's own number at "
            f"{first.length}. Models so small and so little trained differ at the trained length too, by how fast they "
            f"learn."
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        return [run for reading in READINGS[size] for run in reading.runs(VARIANTS, seeds)]

    def pairs(self, size: Size) -> list[Pair]:
        return [
            Pair(reading.corpus, measure, reading.at(times), a, b)
            for reading in READINGS[size]
            for measure in (PERPLEXITY, LAST)
            for times in (1, 2, 8)
            for a, b in PAIRS
        ]

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        return [judgement for reading in READINGS[size] for judgement in _Ratios(reading, evidence).judged()]


@final
class _Ratios:
    """The judgements of one corpus. Bounds are half of the effects that were seen when they were set, or wider."""

    def __init__(self, reading: Reading, evidence: Evidence) -> None:
        self.reading, self.evidence, self.corpus = reading, evidence, reading.corpus

    def judged(self) -> list[Judgement]:
        return [*self._holding(), *self._failing(), self._learned(), self._curse(), *self._ordered()]

    def _holding(self) -> list[Judgement]:
        alibi = self._expect("ALiBi holds at 2 to 8 times the trained length.", DAPE)
        near = self._expect("T5 biases hold at 2 times the trained length.", PRESS)
        far = self._expect("T5 biases, counted over pieces side by side, hold at 2 to 8 times the length.", PRESS)
        return [
            alibi.bounded(*self._growth("alibi", LAST, 2, 4, 8), AtMost(1.25)),
            near.bounded(*self._growth("t5", LAST, 2), AtMost(1.25)),
            far.bounded(*self._growth("t5", PERPLEXITY, 2, 4, 8), AtMost(1.5)),
        ]

    def _failing(self) -> list[Judgement]:
        soon = self._expect("Sinusoids fail within a quarter of the trained length beyond it.", PRESS)
        grace = self._expect("Rotary holds for a quarter of the trained length beyond it.", PRESS)
        steep = self._expect("Plain rotary has failed at 4 times the trained length.", PRESS)
        return [
            soon.bounded(*self._growth("sinusoidal", LAST, 1.25), AtLeast(1.5)),
            grace.bounded(*self._growth("rotary", LAST, 1.25), AtMost(1.15)),
            steep.bounded(*self._growth("rotary", LAST, 4), AtLeast(2.5)),
        ]

    def _learned(self) -> Judgement:
        """A fact, not a tendency: shown so that the gap in the curves is not taken for a missing run."""
        expected = self._expect("A learned table cannot read beyond the trained length.", LIMIT)
        inside, beyond = (self._numbers("learned", LAST, times) for times in (1, 2))
        if not inside:
            return expected.not_measured("a learned table")
        return expected.bounded("share of its seeds measured at 2 times", {0: len(beyond) / len(inside)}, AtMost(0))

    def _curse(self) -> Judgement:
        expected = self._expect(
            "What ALiBi gains from longer pieces is that fewer tokens stand at their beginning: counted over the last "
            "tokens it gains less.",
            CURSE,
        )
        pieces, last = (self._growth("alibi", measure, 8)[1] for measure in (PERPLEXITY, LAST))
        return expected.bounded(
            "growth of ALiBi's perplexity at 8 times, of pieces over that of last tokens",
            ratios(pieces, last),
            AtMost(0.985),
        )

    def _ordered(self) -> list[Judgement]:
        at = self.reading.at(8)
        told = {"alibi": "ALiBi", "t5": "T5 biases", "rotary": "rotary", "sinusoidal": "sinusoids"}
        return [
            self._expect(
                f"At 8 times the trained length {told[a]} have less loss than {told[b]}."
                if a == "t5"
                else f"At 8 times the trained length {told[a]} has less loss than {told[b]}.",
                DAPE,
            ).lower(self.evidence, Pair(self.corpus, LAST, at, a, b))
            for a, b in PAIRS
        ]

    def _expect(self, statement: str, source: str) -> Expectation:
        return Expectation(f"{self.corpus}: {statement}", source)

    def _numbers(self, variant: str, measure: str, times: float) -> dict[int, float]:
        return self.evidence.by_seed(self.corpus, variant, measure, self.reading.at(times))

    def _growth(self, variant: str, measure: str, *times: float) -> tuple[str, dict[int, float]]:
        """Words, and by seed the largest ratio to the number at the trained length."""
        own = self._numbers(variant, measure, 1)
        grown = worst([ratios(self._numbers(variant, measure, each), own) for each in times])
        where = f"{times[0]:g} to {times[-1]:g}" if len(times) > 1 else f"{times[0]:g}"
        return f"{variant}, {measure} at {where} times the length over that at 1", grown
