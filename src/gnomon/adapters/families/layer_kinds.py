"""Which kind each layer is: as the config lists it, else by the rule of its family."""

from dataclasses import dataclass
from typing import final

from gnomon.adapters.families.config_reader import ConfigReader

FULL, SLIDING = "full_attention", "sliding_attention"


@final
@dataclass(frozen=True)
class OneInEvery:
    """One layer in every n is full and the others slide; n stands under one of `keys`.

    The full one is the first of its group of n (ModernBERT), or the last (Gemma 3, Cohere 2); `last_is_full` makes the
    very last layer full whatever n says (Gemma 4).
    """

    every: int
    keys: tuple[str, ...] = ()
    first: bool = False
    last_is_full: bool = False

    def kind(self, config: ConfigReader, layer: int, count: int) -> str | None:
        step = config.find(*self.keys, default=self.every).integer
        if step is None:
            return None
        place = layer if self.first else layer + 1
        forced = self.last_is_full and layer == count - 1
        return FULL if forced or place % step == 0 else SLIDING


def layer_kind(config: ConfigReader, rule: OneInEvery | None, layer: int, count: int) -> str | None:
    """The kind of one layer; None when neither the config nor its family tells kinds apart."""
    listed = config.config.get("layer_types")
    if isinstance(listed, list | tuple):
        return str(listed[layer]) if layer < len(listed) else None
    return None if rule is None else rule.kind(config, layer, count)
