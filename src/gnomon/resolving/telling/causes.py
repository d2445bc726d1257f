"""Which keys a difference comes from, found by taking keys away.

When the reference, with a key of the file taken away, computes what the stack computes with it, the stack passes over
that key. When the stack without a key computes what the reference does with it, the key acts in this stack alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, final

from gnomon.resolving.columns import Compared, agree
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Reading, Used
from gnomon.resolving.rules.keys import BLOCKS, position_keys

BASES = ("rope_theta", "rotary_emb_base")
KINDS = ("rope_type", "type")  #: no stack passes over the kind whose rule it follows
MOST_KEYS = 64  #: a file with more keys on positions is not searched key by key

Reread = Callable[[frozenset[str]], Reading]


@final
@dataclass(frozen=True)
class Cause:
    """`passed over`: the stack ignores these keys and the reference reads them. `read alone`: the other way round.

    `in part`: as `passed over`, where the reference without these keys computes something else, or nothing, and yet not
    what the stack does.
    """

    kind: Literal["passed over", "read alone", "in part"]
    keys: tuple[tuple[str, Any], ...]


def cause_of(compared: Compared, given: Given, reference: Reread, stack: Reread) -> Cause | None:
    """The fewest keys that explain all of the difference, else those that have a part in it; None where it is no key.

    `reference` and `stack` read the file again without some keys.
    """
    values = {
        key: value for key, value in keys_of(given) if not (_same_rules(compared) and key.split(".")[-1] in KINDS)
    }
    if len(values) > MOST_KEYS:
        return None
    ignored = [item.key for item in compared.reading.ignored if item.key in values]
    unread = dict.fromkeys(item.key for item in compared.reference.ignored)

    def explains_ours(keys: frozenset[str]) -> bool:
        return agree(compared.reading, reference(keys), compared.lengths)

    def explains_theirs(keys: frozenset[str]) -> bool:
        return agree(stack(keys), compared.reference, compared.lengths)

    found = _fewest(explains_ours, _candidates(ignored, [key for key in values if key not in unread], values))
    if found:
        return Cause("passed over", tuple((key, values[key]) for key in found))
    alone = [key for key in unread if key in values and key not in ignored]
    found = _fewest(explains_theirs, _candidates(alone, alone, values))
    if found:
        return Cause("read alone", tuple((key, values[key]) for key in found))
    part = tuple((key, values[key]) for key in _in_part(compared, ignored, reference))
    return Cause("in part", part) if part else None


def _in_part(compared: Compared, ignored: Iterable[str], reference: Reread) -> Iterator[str]:
    """Keys that the stack passes over and the reference needs, but for those that say what the stack does anyway."""
    ours = {(item.what, item.value) for item in _used(compared.reading)}
    theirs = {item.key: (item.what, item.value) for item in _used(compared.reference)}
    for key in ignored:
        same = key not in theirs or theirs[key] in ours
        if not same and not agree(reference(frozenset({key})), compared.reference, compared.lengths):
            yield key


def _used(reading: Reading) -> Iterator[Used]:
    for items in (reading.used, *(layer.used for layer in reading.layers)):
        yield from (item for item in items if not isinstance(item.value, list | dict))


def _same_rules(compared: Compared) -> bool:
    rules = [{layer.rule for layer in reading.layers} for reading in (compared.reading, compared.reference)]
    return rules[0] == rules[1]


def keys_of(given: Given) -> Iterator[tuple[str, Any]]:
    """Every key of a file that bears on positions, by its dotted path, with its value."""
    if given.config is not None:
        yield from position_keys(given.config)
        return
    for key, value in (given.metadata or {}).items():
        if ".rope." in key or ".attention.temperature" in key or key.endswith(".attention.scale"):
            yield key, value


def without(given: Given, keys: frozenset[str]) -> Given:
    """The same file with some keys taken away."""
    if given.config is not None:
        return replace(given, config=_less(given.config, keys, ""))
    return replace(given, metadata={key: value for key, value in (given.metadata or {}).items() if key not in keys})


def _less(values: Mapping[str, Any], keys: frozenset[str], prefix: str) -> dict[str, Any]:
    return {
        key: _less(value, keys, f"{prefix}{key}.") if isinstance(value, Mapping) else value
        for key, value in values.items()
        if f"{prefix}{key}" not in keys
    }


def _candidates(first: list[str], others: list[str], values: Mapping[str, Any]) -> Iterator[list[str]]:
    """Single keys, then all the keys that are passed over, then the rotary blocks but for their bases."""
    order = dict.fromkeys((*first, *others))
    yield from ([key] for key in order)
    yield first
    blocks = [key for key in values if set(key.split(".")) & set(BLOCKS)]
    yield [key for key in blocks if key.split(".")[-1] not in BASES]
    yield [*dict.fromkeys((*first, *blocks))]


def _fewest(explains: Callable[[frozenset[str]], bool], candidates: Iterable[list[str]]) -> list[str]:
    """The first set that explains, without those of its keys that are not needed for it."""
    for keys in candidates:
        if not keys or not explains(frozenset(keys)):
            continue
        kept = list(keys)
        for key in keys:
            fewer = [other for other in kept if other != key]
            if fewer and explains(frozenset(fewer)):
                kept = fewer
        return kept
    return []
