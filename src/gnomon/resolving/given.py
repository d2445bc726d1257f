"""What a user gave to be resolved, raw: every stack reads it with its own rules, so nothing is put in order here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

from gnomon.errors import GnomonError


@final
@dataclass(frozen=True)
class Given:
    """A config.json, or the metadata of a GGUF file; the other of the two is None.

    `factors` are the lists of divisors that a GGUF file holds as tensors (`rope_freqs.weight`,
    `rope_factors_long.weight`, `rope_factors_short.weight`), by name. `tokenizer` is tokenizer_config.json, if any.
    `notes` are sentences about what lies beside it.
    """

    name: str
    config: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    factors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    tokenizer: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.config is None) == (self.metadata is None):
            raise GnomonError(f"{self.name} is resolved from a config or from the metadata of a GGUF file; give one.")

    def edited(self, edits: Mapping[str, Any]) -> Self:
        """The same with top-level keys replaced; a key whose new value is None is left out."""
        held = self.config if self.config is not None else self.metadata
        merged = {key: value for key, value in {**(held or {}), **edits}.items() if value is not None}
        return replace(self, config=merged) if self.config is not None else replace(self, metadata=merged)
