"""The older spelling of a file that transformers 5 saved: `rope_theta` and `rope_scaling` in place of one block."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gnomon.resolving.asking import pair_name
from gnomon.resolving.columns import Compared, agree
from gnomon.resolving.given import Given
from gnomon.resolving.rules.keys import PARTS
from gnomon.resolving.telling.rereading import reading_of

BLOCK, BASE, SCALING = "rope_parameters", "rope_theta", "rope_scaling"


def in_older_spelling(given: Given) -> Given | None:
    """The same file as transformers 4 would have saved it; None for a file that states more, or a block for each kind.

    >>> in_older_spelling(Given("", config={"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}})).config
    {'rope_theta': 500000.0}
    """
    if given.config is None:
        return None
    for path in ((), *((part,) for part in PARTS)):
        holder = given.config.get(path[0]) if path else given.config
        older = _older(holder) if isinstance(holder, Mapping) else None
        if older is not None:
            return replace(given, config={**given.config, path[0]: older} if path else older)
    return None


def _older(config: Mapping[str, Any]) -> dict[str, Any] | None:
    block = config.get(BLOCK)
    if not isinstance(block, Mapping) or BASE in config or SCALING in config:
        return None
    if any(isinstance(value, Mapping) for value in block.values()):
        return None
    rest = {key: value for key, value in config.items() if key != BLOCK}
    base = {BASE: block[BASE]} if BASE in block else {}
    scaling = {key: value for key, value in block.items() if key != BASE}
    plain = set(scaling) <= {"rope_type"} and scaling.get("rope_type", "default") == "default"
    return {**rest, **base, **({} if plain else {SCALING: scaling})}


def spelling_alone(given: Given, others: Iterable[Compared]) -> tuple[str, ...]:
    """The stacks that differ or stop on this file and agree once it is spelt the older way, as stack@version."""
    older = in_older_spelling(given)
    if older is None:
        return ()
    wrong = [each for each in others if each.verdict in ("differs", "stops")]
    again = [(each, reading_of(each.pair, older, each.lengths)) for each in wrong]
    return tuple(pair_name(each.pair) for each, reading in again if agree(reading, each.reference, each.lengths))
