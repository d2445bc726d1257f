"""Short strings in training, longer ones in tests: what encodings can address there, and what random positions do."""

from collections.abc import Sequence
from typing import Final, final

from gnomon.lab.judging import AtLeast, AtMost, Expectation
from gnomon.lab.panels import (
    COPY,
    FIXED,
    FULL,
    OFFSET,
    PARITY,
    QUICK,
    RANDOM,
    REVERSE,
    SORT,
    Panel,
)
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

BARBERO = "after Barbero et al. 2024, arXiv:2410.06205, proposition 5.2"
HUANG = "Huang et al. 2025, arXiv:2410.02140"
RUOSS = "Ruoss et al. 2023, arXiv:2305.16843"
HAHN = "Hahn 2020, arXiv:1906.06755; Kazemnejad et al. 2023, arXiv:2305.19466"
LEARNT = 0.9  #: of answers right at the trained length; below it nothing is said of longer ones
PANELS: Final[dict[Size, tuple[Panel, ...]]] = {"quick": QUICK, "full": FULL}
PLACED, TABLE = f"learned, {OFFSET}", "learned"


@registry.register("length-generalization")
@final
class LengthGeneralization(Suite):
    """A panel for each task."""

    name = "length-generalization"
    title = "Longer strings than were trained on"
    question = "Which encodings, placed how, let a model that learnt a rule on short strings follow it on longer ones?"
    expectation = (
        "No one order of encodings holds for all tasks. Published, not reproduced here: with 107 million parameters no "
        "encoding at all comes first (Kazemnejad et al. 2023), and with small models a learned table whose every row "
        "is trained, by random offsets, copies strings of twice the length where no encoding fails (Huang et al. 2025)."
    )
    sources = (BARBERO, HUANG, RUOSS, HAHN)

    def method(self, size: Size) -> str:
        told = "; ".join(
            f"{panel.group}: {panel.sizes['num_layers']} layer{'s' * (panel.sizes['num_layers'] > 1)} of width "
            f"{panel.sizes['dim']}, {panel.training['steps']} steps at lengths {panel.trained[0]} to "
            f"{panel.trained[1]}, tested at {', '.join(map(str, panel.tested))}"
            for panel in PANELS[size]
        )
        return (
            f"{told}. Tested are {PANELS[size][0].rows} new rows of each length. A random offset begins each row of "
            f"training somewhere in the table and each test at 0; random positions are a sorted random choice in both. "
            f"Longer strings are judged for variants that learnt the trained length, and for those alone."
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        return [run for panel in PANELS[size] for run in panel.runs(seeds)]

    def pairs(self, size: Size) -> list[Pair]:
        asked = {
            FIXED: [("rotary", "sinusoidal"), ("t5", "sinusoidal"), (PLACED, TABLE), ("rotary", "t5")],
            COPY: [(PLACED, TABLE), (PLACED, "nope")],
            REVERSE: [(f"{name}, {RANDOM}", name) for name in ("sinusoidal", "rotary")],
        }
        return [
            Pair(panel.group, measure, at, a, b)
            for panel in PANELS[size]
            for a, b in asked.get(panel.group, [(PLACED, "nope")])
            for measure in panel.measures
            for at in panel.tested
        ]

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        judged = {FIXED: _fixed, COPY: _copy, REVERSE: _reverse, SORT: _sort, PARITY: _parity}
        return [
            judgement
            for panel in PANELS[size]
            if panel.group in judged
            for judgement in judged[panel.group](_Scores(panel, evidence))
        ]


@final
class _Scores:
    """The scores of one panel. `place` counts its tested lengths: 0 is the trained one."""

    def __init__(self, panel: Panel, evidence: Evidence) -> None:
        self.panel, self.evidence, self.measure = panel, evidence, panel.measures[0]

    def by_seed(self, variant: str, place: int) -> dict[int, float]:
        return self.evidence.by_seed(self.panel.group, variant, self.measure, self.panel.tested[place])

    def bounded(self, expected: Expectation, variant: str, place: int, bound: AtLeast | AtMost) -> Judgement:
        """A bound on longer strings, for a variant that learnt the trained ones."""
        what = f"{self.measure} of {variant} at length {self.panel.tested[place]}"
        own = self.by_seed(variant, 0)
        if place and own and min(own.values()) < LEARNT:
            return expected.not_measured(
                f"{what}; at the trained length it is {min(own.values()):.3g} in the worst seed, below {LEARNT:g}"
            )
        return expected.bounded(what, self.by_seed(variant, place), bound)

    def higher(self, expected: Expectation, a: str, b: str, place: int) -> Judgement:
        pair = Pair(self.panel.group, self.measure, self.panel.tested[place], a, b)
        return expected.higher(self.evidence, pair)

    def expect(self, statement: str, source: str) -> Expectation:
        return Expectation(f"{self.panel.group}: {statement}", source)


def _fixed(scores: _Scores) -> list[Judgement]:
    relative = scores.expect("Relative encodings find the slot at twice the trained length.", BARBERO)
    absolute = scores.expect("Absolute ones lose it there.", BARBERO)
    blind = scores.expect("One layer without an encoding, or with ALiBi, cannot find it at all.", BARBERO)
    placed = scores.expect("Absolute ones keep it once random offsets have trained all positions.", HUANG)
    return [
        *(scores.bounded(relative, name, 1, AtLeast(0.9)) for name in ("rotary", "t5")),
        *(scores.bounded(absolute, name, 1, AtMost(0.9)) for name in ("sinusoidal", TABLE)),
        *(scores.bounded(blind, name, 0, AtMost(0.8)) for name in ("nope", "alibi")),
        *(scores.bounded(placed, f"{name}, {OFFSET}", 1, AtLeast(0.9)) for name in ("sinusoidal", TABLE)),
    ]


def _copy(scores: _Scores) -> list[Judgement]:
    placed = scores.expect("A learned table with random offsets copies a third more than it was trained on.", HUANG)
    table = scores.expect("The same table without offsets does not, though it has rows enough.", HUANG)
    better = scores.expect("A learned table with random offsets copies more of them than no encoding.", HUANG)
    return [
        scores.bounded(placed, PLACED, 1, AtLeast(0.3)),
        scores.bounded(table, TABLE, 1, AtMost(0.05)),
        scores.higher(better, PLACED, "nope", 1),
    ]


def _reverse(scores: _Scores) -> list[Judgement]:
    judgements = []
    for name in ("sinusoidal", "rotary"):
        longer = scores.expect(f"Random positions help {name} at half as long again.", RUOSS)
        price = scores.expect(f"They cost {name} at most a tenth at the trained length.", RUOSS)
        placed = scores.by_seed(f"{name}, {RANDOM}", 0)
        plain = scores.by_seed(name, 0)
        lost = {seed: plain[seed] - placed[seed] for seed in plain.keys() & placed.keys()}
        judgements += [
            scores.higher(longer, f"{name}, {RANDOM}", name, 1),
            price.bounded(f"{scores.measure} lost by {name} at length {scores.panel.tested[0]}", lost, AtMost(0.1)),
        ]
    return judgements


def _sort(scores: _Scores) -> list[Judgement]:
    placed = scores.expect("A learned table placed at random offsets sorts half as many symbols again.", HUANG)
    return [scores.bounded(placed, PLACED, 1, AtLeast(0.5))]


def _parity(scores: _Scores) -> list[Judgement]:
    nobody = scores.expect("No encoding makes parity hold at twice the trained length.", HAHN)
    return [scores.bounded(nobody, name, 2, AtMost(0.75)) for name in scores.panel.variants]
