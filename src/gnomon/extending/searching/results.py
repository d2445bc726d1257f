"""What a search found, and whether it is worth more than a plain method."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.extending.checking.noise import Change
from gnomon.report.plain import plain


@final
@dataclass(frozen=True)
class Cost:
    """What the search took; the same `seed` on the same machine gives the same lists."""

    evaluations: int
    tokens: int
    seed: int
    seconds: float = field(default=0.0, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        numbers = {"evaluations": self.evaluations, "tokens": self.tokens, "seed": self.seed}
        return {**numbers, "seconds": round(self.seconds, 1)}


@final
@dataclass(frozen=True)
class Lengths:
    """`original`: trained; `to`: wanted; `measured`: of the rows that lists were tried on."""

    original: int
    to: int
    measured: int


@final
@dataclass(frozen=True)
class Searched:
    """`long_factor` divides the plain frequency of each pair above the original length, `short_factor` below.

    `attention_factor` multiplies cos and sin: LongRoPE's own for these lengths, which every list was tried with.
    `history`: the loss of each list tried, in order. `baselines`: losses of the plain methods, and `change` from the
    best of them to the list found, both on text that the search has not seen.
    """

    long_factor: tuple[float, ...]
    short_factor: tuple[float, ...]
    attention_factor: float
    lengths: Lengths
    history: tuple[float, ...]
    baselines: Mapping[str, float]
    change: Change
    cost: Cost

    @property
    def best_baseline(self) -> str:
        """The plain method with the lowest loss."""
        return min(self.baselines, key=lambda name: self.baselines[name])

    @property
    def better(self) -> bool:
        """Whether the list beats every plain method beyond noise."""
        return self.change.direction < 0

    @property
    def verdict(self) -> tuple[str, ...]:
        """What was found, in sentences that never go beyond noise."""
        lengths, cost = self.lengths, self.cost
        judged = (
            "the list is worth writing"
            if self.better
            else f"the search found nothing better than {self.best_baseline}, which more engines read alike"
        )
        sentences = [
            f"From the best plain method ({self.best_baseline}) to the list found, in rows of {lengths.measured} "
            f"tokens that the search has not seen, {self.change.sentence('loss')}: {judged}.",
            f"{cost.evaluations} evaluations with seed {cost.seed}, {cost.tokens} tokens read in {cost.seconds:.0f} s.",
        ]
        if lengths.measured != lengths.to:
            sentences.append(
                f"Lists were tried on rows of {lengths.measured} tokens, not {lengths.to}: what happens beyond was not "
                "measured."
            )
        return tuple(sentences)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a number that is not finite is null."""
        lengths = self.lengths
        found = {
            "schema_version": 1,
            "long_factor": list(self.long_factor),
            "short_factor": list(self.short_factor),
            "attention_factor": self.attention_factor,
            "lengths": {"original": lengths.original, "to": lengths.to, "measured": lengths.measured},
            "history": list(self.history),
            "baselines": dict(self.baselines),
            "change": self.change.to_dict(),
            "better": self.better,
            "verdict": list(self.verdict),
            "cost": self.cost.to_dict(),
        }
        plain_found: dict[str, Any] = plain(found)
        return plain_found

    def __str__(self) -> str:
        from gnomon.extending.searching.table import as_text

        return as_text(self)
