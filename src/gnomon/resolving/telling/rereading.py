"""One stack on one file, read again and again with some keys taken away; what breaks of ours is told, and alone."""

from dataclasses import replace
from functools import cache
from typing import final

from gnomon.adapters.wording import said
from gnomon.resolving.asking import Asked
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import Lengths
from gnomon.resolving.reading import Reading
from gnomon.resolving.stopping import StackStops
from gnomon.resolving.telling.causes import Reread, without

BROKE = "gnomon's own reader of this engine broke on this file"


def rereader(pair: Asked, given: Given, lengths: Lengths) -> Reread:
    """Reads the file by one stack without some keys, each set of them once; it raises ReaderBroke."""

    @cache
    def again(keys: frozenset[str]) -> Reading:
        return whole(reading_of(pair, without(given, keys) if keys else given, lengths))

    return again


@final
class ReaderBroke(Exception):
    """gnomon's own reader of a stack crashed on an edit of a file that it had read; `reading` says so."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading.broken)
        self.reading = reading


def whole(reading: Reading) -> Reading:
    """The reading; raises ReaderBroke for one that is broken."""
    if reading.broken:
        raise ReaderBroke(reading)
    return reading


def reading_of(pair: Asked, given: Given, lengths: Lengths) -> Reading:
    """A reading whose angles exist at all lengths; where they do not, what the stack ends with."""
    stack, version = pair
    try:
        reading = stack.reading(given, version, lengths.served)
        return _computed(reading, lengths)
    except Exception as error:  # noqa: BLE001 - as for a check of the doctor: the others still run
        return crashed(pair, error)


def crashed(pair: Asked, error: Exception) -> Reading:
    """The reading of a stack whose reader in gnomon ended with an error that is none of the stack's."""
    stack, version = pair
    return Reading(stack.name, version.name, stack.sure, broken=f"{BROKE}: {said(error)}")


def _computed(reading: Reading, lengths: Lengths) -> Reading:
    try:
        for layer in reading.layers:
            for length in lengths.evaluated if layer.rotary_dim else ():
                layer.schedule.at(length, lengths.served)
    except StackStops as error:
        return replace(reading, layers=(), refusal=str(error))
    return reading
