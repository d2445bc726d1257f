"""Which layers turn and which do not, by a list or by every n-th, and both kinds of a reading with their numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from gnomon.resolving.reading import STILL, TURNING, LayerReading
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops

MOST: Final = 4096  #: no model has as many layers
LISTED, INTERVAL = "no_rope_layers", "no_rope_layer_interval"


def every(step: int, count: Any) -> list[int] | None:
    """1 for each layer that turns and 0 for every `step`-th, which does not; None for a count that is none.

    >>> every(4, 6)
    [1, 1, 1, 0, 1, 1]
    """
    fine = isinstance(count, int) and not isinstance(count, bool) and 0 < count <= MOST and step > 0
    return [int((layer + 1) % step != 0) for layer in range(count)] if fine else None


def by_flags(flags: Sequence[Any] | None, turning: LayerReading, still: LayerReading) -> Iterator[LayerReading]:
    """Both kinds, each with the numbers of its layers; None where there are both and nobody knows which."""
    if flags is None:
        yield replace(turning, kind=TURNING)
        yield replace(still, kind=STILL)
        return
    if turns := tuple(layer for layer, flag in enumerate(flags) if flag):
        yield replace(turning, kind=TURNING, layers=turns)
    if stands := tuple(layer for layer, flag in enumerate(flags) if not flag):
        yield replace(still, kind=STILL, layers=stands)


def listed_flags(keys: Keys) -> list[Any] | None:
    """`no_rope_layers` as SmolLM3 has it, else by the interval; None where the file does not say how many layers.

    Raises StackStops for a list that is none.
    """
    listed = keys.take("layers without rotation", LISTED)
    count = keys.values.get("num_hidden_layers")
    if listed is None:
        step = keys.whole("layers without rotation", INTERVAL, default=4)
        return every(step, count)
    if not isinstance(listed, list | tuple):
        raise StackStops(f"TypeError: {LISTED} is no list")
    return list(listed)[:count] if isinstance(count, int) and count > 0 else list(listed)
