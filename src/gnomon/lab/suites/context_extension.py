"""A longer context for a trained rotary model: what each rule for its frequencies costs and gains, before and after
more training."""

from collections.abc import Sequence
from typing import final

from gnomon.lab.evidence import Evidence
from gnomon.lab.experiments.extend import TUNED
from gnomon.lab.extensions import (
    BY_PARTS,
    COPIES,
    LAST,
    LINEAR,
    METHODS,
    NONE,
    NTK,
    PERPLEXITY,
    TEXTS,
    YARN,
    Extension,
)
from gnomon.lab.judging import AtMost, Expectation, ratios
from gnomon.lab.panels import COPY, EXACT
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

CHEN = "Chen et al. 2023, arXiv:2306.15595"
PENG = "Peng et al. 2023 (YaRN), arXiv:2309.00071"
SLOWED = "the shares by which the rules slow the trained pairs"
MEN = "Men et al. 2024, arXiv:2405.14591"


@registry.register("context-extension")
@final
class ContextExtension(Suite):
    """Position interpolation, NTK-aware scaling, NTK-by-parts and YaRN against frequencies that are left alone."""

    name = "context-extension"
    title = "A longer context for a trained model"
    question = "Which frequencies let a rotary model read longer rows than it was trained on, and at what price?"
    expectation = (
        "Published, not reproduced here: of large models without more training, NTK-aware scaling and YaRN read longer "
        "text better than position interpolation, which in turn beats leaving frequencies alone; after more training "
        "all but the last are close (Chen et al. 2023; Peng et al. 2023). Small byte-level models live on fast pairs, "
        "which interpolation slows, so its place is not expected to carry over."
    )
    sources = (CHEN, PENG, MEN)

    def method(self, size: Size) -> str:
        text, copying = TEXTS[size][0], COPIES[size]
        corpora = " and ".join(each.corpus for each in TEXTS[size])
        return (
            f"A rotary model of 3 layers, 2 heads of width 32, learns the next byte of {corpora} in {text.steps} steps "
            f"of rows of {text.length}; its frequencies are then replaced by those for 4 times the length, and it "
            f"reads rows of 1, 2 and 4 times the length, as it is and after {text.tuning} more steps on rows of 4 "
            f"times the length. By-parts and YaRN keep pairs that turn 8 times and more within the trained length and "
            f"divide those that turn less than once. Perplexity can stay low where nothing far is found again (Men et "
            f"al. 2024), so a second model copies strings of up to {copying.longest} symbols, and is extended to 3 "
            f"times as many. One model is trained for each seed, and all methods are tried on its weights."
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        read = [text.run(seed) for text in TEXTS[size] for seed in seeds]
        return read + [COPIES[size].run(seed) for seed in seeds]

    def pairs(self, size: Size) -> list[Pair]:
        read = [
            Pair(text.corpus, measure, at, f"{name}{state}", f"{NONE}{state}")
            for text in TEXTS[size]
            for state in ("", f", {TUNED}")
            for measure in (PERPLEXITY, LAST)
            for at in (text.length, 4 * text.length)
            for name in METHODS[1:]
        ]
        copied = [
            Pair(COPY, EXACT, at, f"{name}{state}", f"{NONE}{state}")
            for state in ("", f", {TUNED}")
            for at in COPIES[size].lengths
            for name in METHODS[1:]
        ]
        return read + copied

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        judged = [judgement for text in TEXTS[size] for judgement in _Read(text, evidence).judged()]
        return judged + _copied(evidence, COPIES[size].lengths)


@final
class _Read:
    """The judgements of one corpus, by the perplexity of the same last tokens."""

    def __init__(self, text: Extension, evidence: Evidence) -> None:
        self.text, self.evidence = text, evidence

    def judged(self) -> list[Judgement]:
        return [*self._untrained(), *self._price(), *self._tuned()]

    def _untrained(self) -> list[Judgement]:
        better = [
            self._expect(f"Without more training, {name} reads 4 times the length better than none.", PENG).bounded(
                f"{LAST} of {name} over that of none at 4 times the length",
                ratios(self._numbers(name, 4), self._numbers(NONE, 4)),
                AtMost(limit),
            )
            for name, limit in ((NTK, 0.8), (BY_PARTS, 0.7), (YARN, 0.7))
        ]
        linear = self._expect(
            "Without more training, position interpolation reads 4 times the length better than none.", CHEN
        )
        return [*better, linear.lower(self.evidence, self._pair(4, LINEAR, NONE))]

    def _price(self) -> list[Judgement]:
        """At the trained length, where nothing had to be changed."""
        ordered = ((NONE, NTK), (NTK, YARN), (YARN, LINEAR))
        return [
            self._expect(
                f"Without more training, {a} costs less than {b} at the trained length.",
                SLOWED,
            ).lower(self.evidence, self._pair(1, a, b))
            for a, b in ordered
        ]

    def _tuned(self) -> list[Judgement]:
        recovered = [
            self._expect(f"A little training at 4 times the length is enough for {name} to hold there.", CHEN).bounded(
                f"{LAST} of {name} after it at 4 times the length, over that of none before it at the trained length",
                ratios(self._numbers(f"{name}, {TUNED}", 4), self._numbers(NONE, 1)),
                AtMost(1.25),
            )
            for name in (NTK, YARN)
        ]
        direct = self._expect("The same training without new frequencies does not extend the context.", CHEN)
        yarn, none = (f"{name}, {TUNED}" for name in (YARN, NONE))
        return [*recovered, direct.lower(self.evidence, self._pair(4, yarn, none))]

    def _expect(self, statement: str, source: str) -> Expectation:
        return Expectation(f"{self.text.corpus}: {statement}", source)

    def _pair(self, times: int, a: str, b: str) -> Pair:
        return Pair(self.text.corpus, LAST, times * self.text.length, a, b)

    def _numbers(self, variant: str, times: int) -> dict[int, float]:
        return self.evidence.by_seed(self.text.corpus, variant, LAST, times * self.text.length)


def _copied(evidence: Evidence, lengths: Sequence[int]) -> list[Judgement]:
    found = Expectation(f"{COPY}: what YaRN gains in perplexity it gains in retrieval, without more training.", MEN)
    tuned = Expectation(f"{COPY}: after a little training YaRN copies more of the longer strings than none.", CHEN)
    return [
        found.higher(evidence, Pair(COPY, EXACT, lengths[1], YARN, NONE)),
        tuned.higher(evidence, Pair(COPY, EXACT, lengths[1], f"{YARN}, {TUNED}", f"{NONE}, {TUNED}")),
    ]
