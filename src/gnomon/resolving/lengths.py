"""At which lengths stacks are compared: the trained length, one token past it, and the longest that the file states."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

from gnomon.errors import GnomonError
from gnomon.resolving.given import Given
from gnomon.resolving.rules.keys import BLOCKS, position_keys
from gnomon.resolving.rules.numbers import between

LONGEST_KEYS = (
    *("max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length", "seq_length", "max_seq_len"),
    "model_max_length",
)
ORIGINAL = "original_max_position_embeddings"
GROWING = ("yarn", "dynamic", "ntk")  #: kinds that count their factor from max_position_embeddings for want of another
UNSTATED = 2048  #: the length where the file states none
MOST = 2**31


@final
@dataclass(frozen=True)
class Lengths:
    """`evaluated`: ascending; `served`: what servers are started for, at least the largest of them."""

    evaluated: tuple[int, ...]
    served: int
    stated: bool = True  #: whether the file states a length


def lengths_for(given: Given, lengths: Iterable[int] = (), served: int | None = None) -> Lengths:
    """The trained length, one past it where the file goes further, the longest, and those that the user adds.

    `served` is the largest of them unless the user says another; lengths of the file above it are then left out.
    Raises GnomonError for lengths in no list, a length that is no whole number from 1, or one that is above `served`.

    >>> lengths_for(Given("", config={"max_position_embeddings": 4096, "rope_scaling": {"type": "yarn", "factor": 4}}))
    Lengths(evaluated=(4096, 4097, 16384), served=16384, stated=True)
    """
    if isinstance(lengths, str) or not isinstance(lengths, Iterable):
        raise GnomonError(f"Lengths are whole numbers of tokens in a list, as in [8192, 32768]; got {lengths!r}.")
    wanted = {_required(length, "A length") for length in lengths}
    original, longest = stated_lengths(given)
    stated = longest is not None
    own = {original or UNSTATED, min((original or UNSTATED) + 1, longest or UNSTATED), longest or UNSTATED}
    if served is None:
        every = own | wanted
        return Lengths(tuple(sorted(every)), max(every), stated)
    limit = _required(served, "The served length")
    if above := [length for length in wanted if length > limit]:
        raise GnomonError(
            f"A server for {limit} tokens holds no {max(above)}; give a longer --served or less --length."
        )
    return Lengths(tuple(sorted({length for length in own if length <= limit} | wanted) or [limit]), limit, stated)


def stated_lengths(given: Given) -> tuple[int | None, int | None]:
    """The trained length and the longest one by the file, None where it states none.

    The longest is max(M, L * s); M alone for Llama 3's scaling, whose factor says nothing of lengths.
    """
    read = _of_gguf(given.metadata) if given.metadata is not None else _of_config(given.config or {})
    longest, original, factor, kind = read
    trained = original or longest
    if trained is None:
        return None, None
    grows = kind != "llama3" and (original or kind in GROWING)
    grown = trained * factor if factor and grows else trained
    return trained, max(longest or trained, trained, round(grown) if grown <= MOST else 0)


def _of_config(config: Any) -> tuple[int | None, int | None, float | None, str]:
    found = [(key.split("."), value) for key, value in position_keys(config)]
    outside = [(path[-1], value) for path, value in found if not set(path) & set(BLOCKS)]
    inside = [(path[-1], value) for path, value in found if set(path) & set(BLOCKS)]
    longest = _first(_length(value) for name in LONGEST_KEYS for key, value in outside if key == name)
    original = _first(_length(value) for key, value in (*inside, *outside) if key == ORIGINAL)
    factor = _first(_positive(value) for key, value in inside if key == "factor")
    kinds = [str(value) for name in ("rope_type", "type") for key, value in inside if key == name]
    kinds = [kind for kind in kinds if kind != "default"]
    return longest, original, factor, kinds[0] if kinds else ""


def _of_gguf(metadata: Any) -> tuple[int | None, int | None, float | None, str]:
    name = metadata.get("general.architecture")
    longest = _length(metadata.get(f"{name}.context_length"))
    original = _length(metadata.get(f"{name}.rope.scaling.original_context_length"))
    factor = _positive(metadata.get(f"{name}.rope.scaling.factor"))
    return longest, original, factor, str(metadata.get(f"{name}.rope.scaling.type", ""))


def _first(values: Iterator[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _positive(value: Any) -> float | None:
    return float(value) if between(value, 0, math.inf) else None


def _length(value: Any) -> int | None:
    number = _positive(value)
    return int(number) if number is not None and 1 <= number <= MOST else None


def _required(length: Any, what: str) -> int:
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= MOST:
        raise GnomonError(f"{what} is a whole number of tokens from 1 to {MOST}; got {length!r}.")
    return length
