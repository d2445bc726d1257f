"""One group of tables that a model reads together, with everything that changes when they do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.adapters.checkpoints.rewriting import Changed
from gnomon.extending.plan import Plan
from gnomon.extending.tables.resized import Resized


@final
@dataclass(frozen=True)
class Part:
    """`tables` and buffers by name; keys of config.json by dotted path; `length`: what a tokenizer may cut at, then.

    `image`: the old and the new size in pixels, (height, width).
    """

    tables: Mapping[str, Resized] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    length: int | None = None
    image: tuple[tuple[int, int], tuple[int, int]] | None = None
    words: tuple[str, ...] = ()
    drawbacks: tuple[str, ...] = ()

    def plan(self) -> Plan:
        """The part as a plan."""
        return Plan(
            {name: Changed(table.shape, table.values) for name, table in self.tables.items()},
            self.config,
            {} if self.length is None else {"model_max_length": self.length},
            words=self.words,
            drawbacks=self.drawbacks,
        )
