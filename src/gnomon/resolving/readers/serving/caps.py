"""A cap in tokens from what a stack computed."""

from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops

MOST = 2**53


def whole_cap(file: Keys, length: float, key: str) -> int:
    """The length rounded down, noted as decided by a key of the file; raises StackStops for one that is no length."""
    if not 0 <= length < MOST:
        raise StackStops(f"the longest sequence would be {length:g} tokens")
    file.note("cap", int(length), key)
    return int(length)
