"""Numbers of a file that a stack computes with: widths, lengths, and what no floating point holds."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.numbers import required
from gnomon.resolving.stopping import StackStops

WIDEST = 65536


@contextmanager
def arithmetic() -> Iterator[None]:
    """Numbers that no float64 holds end a reading as an error of the stack would."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        raise StackStops(f"the numbers of the file cannot be computed with ({error})") from error


def width(found: Found, what: str) -> int:
    """A width in columns; raises StackStops for anything else."""
    value = found.value
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= WIDEST:
        raise StackStops(f"{what} is {value!r}, which is none")
    return value


def number(file: Keys, what: str, found: Found) -> float | None:
    """A number that transformers' class found, noted as taken from its key; raises StackStops for another value."""
    value = found.value
    if value is None:
        return None
    taken = required(value, found.key)
    file.note(what, value, found.key)
    return taken
