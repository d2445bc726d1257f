"""A cap in tokens from what a stack computed."""

from collections.abc import Sequence
from typing import Final

from gnomon.resolving.readers.transformers5 import Standard
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.numbers import EXACT
from gnomon.resolving.stopping import StackStops

LONGEST: Final = "max_position_embeddings"


def whole_cap(file: Keys, length: float, key: str) -> int:
    """The length rounded down, noted as decided by a key of the file; raises StackStops for one that is no length."""
    if not 0 <= length < EXACT:
        raise StackStops(f"the longest sequence would be {length:g} tokens")
    file.note("cap", int(length), key)
    return int(length)


def stated_lengths(standard: Standard, text: Keys, names: Sequence[str]) -> list[tuple[float, str]]:
    """The lengths under some names of a config object, each with its key; the class's own where the file has none."""
    longest, found = standard.longest, []
    added = longest.key == DEFAULT and LONGEST not in text.values  # null in the file stays null in the object
    for name in names:
        value = text.number("length", name)
        if value is not None:
            found.append((float(value), f"{standard.part}{name}"))
        elif name == LONGEST and added and isinstance(longest.value, int):
            found.append((float(longest.value), DEFAULT))
    return found
