"""A longer context for a trained rotary model: what each rule for its frequencies costs and gains, before and after
more training."""

from collections.abc import Sequence
from typing import final

from gnomon.lab.extensions import (
    BY_PARTS,
    COPIES,
    LAST,
    LINEAR,
    LONG,
    METHODS,
    NONE,
    NTK,
    PERPLEXITY,
    SHORT,
    SMOLLM2,
    TEXTS,
    TUNED,
    YARN,
    Extension,
    pretrained,
)
from gnomon.lab.judging import AtLeast, AtMost, Expectation, ratios
from gnomon.lab.panels import COPY, EXACT, TOKENS
from gnomon.lab.recipes import to_fetch
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

CHEN = "Chen et al. 2023, arXiv:2306.15595"
PENG = "Peng et al. 2023 (YaRN), arXiv:2309.00071"
PRETRAINED = (
    f" SmolLM2-135M is taken as it was published, trained on 8,192 tokens, and reads the same last 256 tokens of the "
    f"standard library after {SHORT:,} and after {LONG:,}, with frequencies for twice its length; seeds differ in the "
    f"place of the text alone, and nothing is trained."
)
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

    def needs(self, size: Size) -> tuple[str, ...]:
        return to_fetch(each.corpus for each in TEXTS[size])

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
            + (PRETRAINED if size == "full" else "")
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        read = [text.run(seed) for text in TEXTS[size] for seed in seeds]
        own = read + [COPIES[size].run(seed) for seed in seeds]
        return [*(pretrained(seed) for seed in seeds), *own] if size == "full" else own

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
        published = [Pair(SMOLLM2, LAST, at, name, NONE) for at in (SHORT, LONG) for name in METHODS[1:]]
        return read + copied + (published if size == "full" else [])

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        judged = [judgement for text in TEXTS[size] for judgement in _Read(text, evidence).judged()]
        judged += _copied(evidence, COPIES[size].lengths)
        return judged + _pretrained(evidence) if size == "full" else judged


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
        yarn, none = (f"{name}, {TUNED}" for name in (YARN, NONE))
        direct = self._expect("The same training without new frequencies does not extend the context.", CHEN).bounded(
            f"{LAST} of none after it at 4 times the length, over that of none before it at the trained length",
            ratios(self._numbers(none, 4), self._numbers(NONE, 1)),
            AtLeast(1.25),
        )
        better = self._expect("After the same training YaRN reads 4 times the length better than none.", PENG)
        return [*recovered, direct, better.lower(self.evidence, self._pair(4, yarn, none))]

    def _expect(self, statement: str, source: str) -> Expectation:
        return Expectation(f"{self.text.corpus}: {statement}", source)

    def _pair(self, times: int, a: str, b: str) -> Pair:
        return Pair(self.text.corpus, LAST, times * self.text.length, a, b)

    def _numbers(self, variant: str, times: int) -> dict[int, float]:
        return self.evidence.by_seed(self.text.corpus, variant, LAST, times * self.text.length)


def _copied(evidence: Evidence, lengths: Sequence[int]) -> list[Judgement]:
    found = Expectation(f"{COPY}: what YaRN gains in perplexity it gains in retrieval, without more training.", MEN)
    tuned = Expectation(f"{COPY}: after a little training YaRN gets more of the longer strings right than none.", CHEN)
    return [
        found.higher(evidence, Pair(COPY, TOKENS, lengths[1], YARN, NONE)),
        tuned.higher(evidence, Pair(COPY, TOKENS, lengths[1], f"{YARN}, {TUNED}", f"{NONE}, {TUNED}")),
    ]


def _pretrained(evidence: Evidence) -> list[Judgement]:
    def over_none(name: str, at: int) -> dict[int, float]:
        return ratios(evidence.by_seed(SMOLLM2, name, LAST, at), evidence.by_seed(SMOLLM2, NONE, LAST, at))

    price = Expectation(f"{SMOLLM2}: YaRN costs little at short lengths.", PENG)
    gain = Expectation(f"{SMOLLM2}: beyond the trained length YaRN reads better than none.", PENG)
    cheaper = Expectation(f"{SMOLLM2}: YaRN costs less than position interpolation at short lengths.", PENG)
    return [
        price.bounded(f"{LAST} of YaRN over that of none at {SHORT:,}", over_none(YARN, SHORT), AtMost(1.1)),
        cheaper.lower(evidence, Pair(SMOLLM2, LAST, SHORT, YARN, LINEAR)),
        gain.lower(evidence, Pair(SMOLLM2, LAST, LONG, YARN, NONE)),
    ]
