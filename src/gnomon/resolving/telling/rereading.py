"""One stack on one file, read again and again with some keys taken away; a reader that breaks spoils no other."""

from dataclasses import replace
from functools import cache

from gnomon.adapters.wording import said
from gnomon.resolving.asking import Asked
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import Lengths
from gnomon.resolving.reading import Reading
from gnomon.resolving.stopping import StackStops
from gnomon.resolving.telling.causes import Reread, without

BROKE = "gnomon's own reader of this stack broke on this file"


def rereader(pair: Asked, given: Given, lengths: Lengths) -> Reread:
    """Reads the file by one stack without some keys, each set of them once."""

    @cache
    def again(keys: frozenset[str]) -> Reading:
        return reading_of(pair, without(given, keys) if keys else given, lengths)

    return again


def reading_of(pair: Asked, given: Given, lengths: Lengths) -> Reading:
    """A reading whose angles exist at all lengths; where they do not, what the stack ends with."""
    stack, version = pair
    try:
        reading = stack.reading(given, version, lengths.served)
        return _computed(reading, lengths)
    except Exception as error:  # noqa: BLE001 - as for a check of the doctor: the others still run
        return Reading(stack.name, version.name, stack.sure, absent=f"{BROKE}: {said(error)}")


def _computed(reading: Reading, lengths: Lengths) -> Reading:
    try:
        for layer in reading.layers:
            for length in lengths.evaluated if layer.rotary_dim else ():
                layer.schedule.at(length, lengths.served)
    except StackStops as error:
        return replace(reading, layers=(), refusal=str(error))
    return reading
