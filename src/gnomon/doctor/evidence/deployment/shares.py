"""Which positions each rank used, as the caller gives them, beside those of the tokens it holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.errors import GnomonError
from gnomon.positions.sharding import Scheme, shard_index

HOW = (
    "pass shards=, a mapping with positions (one tensor for each rank, or a function of the module and the rank, and"
    " world), length, scheme (contiguous, zigzag, round_robin) or tokens, and documents (their lengths) when packed"
)


@dataclass(frozen=True)
class Shares:
    """For each rank the positions (share,) it used and the tokens (share,) it holds; None when nobody said which.

    `restart` and `running`: the positions of every token of the row, counted anew in each document and throughout.
    """

    positions: tuple[Tensor, ...]
    tokens: tuple[Tensor, ...] | None
    length: int
    restart: Tensor
    running: Tensor
    counting: str | None


@evidence
def shares(subject: Subject) -> Shares:
    """Reads `shards=`; raises MissingEvidence that says what to pass."""
    given = subject.get("shards") if subject.has("shards") else None
    if not isinstance(given, Mapping) or "positions" not in given:
        raise MissingEvidence(HOW)
    positions = tuple(_flat(p) for p in _listed(given, "positions", subject))
    length = int(given.get("length", sum(len(p) for p in positions)))
    documents = [int(n) for n in given.get("documents", [length])]
    running = torch.arange(length)
    restart = torch.cat([torch.arange(n) for n in documents])[:length]
    if len(restart) < length:  # what is left at the end of a packed row is padding
        restart = torch.cat((restart, torch.arange(length - len(restart))))
    return Shares(
        positions, _tokens(given, len(positions), length, subject), length, restart, running, given.get("counting")
    )


def _listed(given: Mapping[str, Any], key: str, subject: Subject) -> list[Any]:
    """One entry for each rank: as listed, or as a function of the module and the rank gives them."""
    value = given[key]
    if callable(value):
        return [value(subject.module, rank) for rank in range(int(given["world"]))]
    if not isinstance(value, Sequence) or not value:
        raise MissingEvidence(HOW)
    return list(value)


def _flat(positions: Any) -> Tensor:
    return torch.as_tensor(positions).detach().cpu().long().flatten()


def _tokens(given: Mapping[str, Any], world: int, length: int, subject: Subject) -> tuple[Tensor, ...] | None:
    if "tokens" in given:
        return tuple(_flat(tokens) for tokens in _listed(given, "tokens", subject))
    return scheme_tokens(length, world, given["scheme"]) if "scheme" in given else None


def scheme_tokens(length: int, world: int, scheme: Scheme) -> tuple[Tensor, ...]:
    """The tokens of each rank under a scheme."""
    try:
        return tuple(shard_index(length, rank, world, scheme) for rank in range(world))
    except GnomonError as error:
        raise MissingEvidence(str(error)) from None


def schemes(length: int, world: int) -> dict[str, tuple[Tensor, ...]]:
    """The tokens of each rank under every scheme that the length allows."""
    found = {}
    for scheme in get_args(Scheme):
        try:
            found[scheme] = scheme_tokens(length, world, scheme)
        except MissingEvidence:
            continue
    return found
