"""Runs that several suites share: equal options give equal keys, so the next suite finds in the store what one ran."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from gnomon.lab.suites.base import Size
from gnomon.report.lab.results import Run

T5_BUCKETS = 32  #: of the original
#: Lengths over the trained one: sinusoids are said to fail by 1.25, and rotary to hold that far (Press et al. 2022).
TIMES = (1.0, 1.25, 1.5, 2.0, 4.0, 8.0)


def causal_encodings(trained: int) -> dict[str, dict[str, Any]]:
    """One encoding of each family for a causal model, by the name of the variant; `trained` is the trained length.

    The last bucket of T5 begins before half of it, so that training reaches every bucket; rows too short for 32 buckets
    have one for each distance of their first quarter, and as many beyond.

    >>> causal_encodings(64)["t5"]["max_distance"], causal_encodings(20)["t5"]["num_buckets"]
    (32, 10)
    """
    reach = trained // 2
    buckets = {"num_buckets": max(2, reach)} if reach <= T5_BUCKETS // 2 else {}
    return {
        "sinusoidal": {"encoding": "sinusoidal"},
        "learned": {"encoding": "learned"},
        "rotary": {"encoding": "rotary"},
        "t5": {"encoding": "t5", "direction": "causal", "max_distance": reach, **buckets},
        "alibi": {"encoding": "alibi", "form": "causal"},
        "nope": {"encoding": "nope"},
    }


def along_training(steps: int, target: float) -> list[dict[str, Any]]:
    """The measures of how a model learns; `target` is the loss in nats that steps are counted to."""
    return [
        {"measure": "loss_curve", "window": max(1, steps // 16)},
        {"measure": "steps_to_target", "target": target},
        {"measure": "training_loss"},
        {"measure": "gradient_spread"},
    ]


@final
@dataclass(frozen=True)
class Reading:
    """Language models over a corpus: trained on rows of `length` tokens, read out at `times` as many.

    `total` tokens are scored at each length, a multiple of all of them; and the `last` tokens of `rows` rows.
    Embeddings are scaled by sqrt(dim), as where sinusoidal positions come from (Vaswani et al. 2017, section 3.4), so
    that words are not drowned by them.
    """

    corpus: str
    length: int
    steps: int
    total: int
    target: float  #: nats, of steps_to_target
    last: int = 16
    rows: int = 64
    times: tuple[float, ...] = TIMES

    @property
    def lengths(self) -> list[int]:
        return [self.at(times) for times in self.times]

    def at(self, times: float) -> int:
        """The length that is so many times the trained one."""
        return round(self.length * times)

    def run(self, variant: str, seed: int) -> Run:
        """The run of one encoding; it belongs to the group of its corpus."""
        options = {
            "task": {"task": "characters", "corpus": self.corpus},
            "lengths": [self.length, self.length],
            "model": {
                "dim": 64,
                "num_layers": 3,
                "num_heads": 4,
                "embedding_scale": "sqrt_dim",
                "encoding": causal_encodings(self.length)[variant],
            },
            "training": {"steps": self.steps, "batch_size": 16, "learning_rate": 3e-3},
            "measures": self._measures(),
        }
        return Run("train", self.corpus, variant, seed, options)

    def runs(self, variants: Sequence[str], seeds: Sequence[int]) -> list[Run]:
        """T5 first: its runs are the longest."""
        ordered = sorted(variants, key=lambda variant: variant != "t5")
        return [self.run(variant, seed) for variant in ordered for seed in seeds]

    def _measures(self) -> list[dict[str, Any]]:
        longest = self.lengths[-1]
        return [
            {"measure": "perplexity", "lengths": self.lengths, "total": self.total},
            {"measure": "last_k_perplexity", "lengths": self.lengths, "last": self.last, "rows": self.rows},
            {"measure": "loss_by_position", "length": longest, "bucket": self.length // 2, "rows": 32},
            *along_training(self.steps, self.target),
        ]


READINGS: Final[dict[Size, tuple[Reading, ...]]] = {
    "quick": (Reading("stdlib", length=64, steps=800, total=15360, target=2.1),),
    "full": tuple(
        Reading(corpus, length=128, steps=1500, total=15360, target=1.9, last=32) for corpus in ("stdlib", "austen")
    ),
}


def to_fetch(corpora: Iterable[str]) -> tuple[str, ...]:
    """The corpora that are not on every machine.

    >>> to_fetch(["stdlib", "austen"])
    ('austen',)
    """
    return tuple(dict.fromkeys(corpus for corpus in corpora if corpus != "stdlib"))
