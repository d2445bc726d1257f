"""How long inputs are: the trained and the target length, and how the data are spread."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens. `counts` is one number for each example; `percentiles` says the same in short: {95: 480}.

    `unlimited`: inputs have no longest length. `cut`: longer inputs may be cut to what the model takes.

    >>> Lengths(counts=(7, 3, 5, 9)).at(50)
    5
    """

    trained: int | None = None
    target: int | None = None
    counts: tuple[int, ...] = ()
    percentiles: Mapping[int, int] = field(default_factory=dict)
    unlimited: bool = False
    cut: bool = True

    def at(self, percent: int) -> int | None:
        """The least length that at least `percent` percent of the examples do not exceed (nearest rank), if known."""
        if not self.counts:
            return self.percentiles.get(percent)
        rank = max(1, -(-len(self.counts) * percent // 100))
        return sorted(self.counts)[rank - 1]

    @property
    def longest(self) -> int | None:
        return self.at(100)

    def share_above(self, limit: int) -> float | None:
        """The share of examples that are longer; from percentiles, the least share that is known to be no smaller."""
        if self.counts:
            return sum(count > limit for count in self.counts) / len(self.counts)
        within = [percent for percent, length in self.percentiles.items() if length <= limit]
        return (100 - max(within)) / 100 if within else None
