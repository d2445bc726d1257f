"""Whether an encoding that a config describes can be built, before any sum is made with its numbers."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.errors import GnomonError

#: options that are numbers above 0 wherever they stand
POSITIVE = (
    *("head_dim", "rotary_dim", "num_heads", "dim", "max_length", "num_buckets", "max_distance"),
    *("base", "factor", "original_max_length", "sections", "short_factor", "long_factor"),
)
CHEAP = ("rotary", "mrope", "axial_rotary")  #: built at once, as they hold no table


def require_buildable(encoding: str, options: Mapping[str, Any], target: str) -> None:
    """Raise GnomonError when a size is none, a number is not finite, or the encoding refuses the options."""
    for name, value in _numbers(options):
        sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not sound or (name in POSITIVE and value <= 0):
            raise GnomonError(f"{target} states {name} {str(value)[:40]}, which no position encoding can have.")
    if encoding in CHEAP and ("head_dim" in options or "sections" in options):
        from gnomon.encodings import build

        sections = options.get("sections")
        try:
            build(encoding, **{**({"head_dim": 2 * sum(sections)} if sections else {}), **options})
        except GnomonError as error:
            raise GnomonError(f"{target} describes an encoding that cannot be built: {error}") from None


def _numbers(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every option that has to be a number, and every number there is, with its name."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _numbers(value)
        elif name in POSITIVE and isinstance(value, list | tuple):
            yield from ((name, item) for item in value)
        elif name in POSITIVE or isinstance(value, float):
            yield name, value
