"""PE608: positions on the ranks of a sequence that is spread over devices."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.deployment.shares import Shares, schemes, shares
from gnomon.report.document import Finding, Measured

SHOWN = 8


@check("PE608", "sharded-positions", severity="error", needs=(shares,))
def sharded_positions(subject: Subject) -> Iterator[Finding | Measured]:
    """The positions that a rank uses are not those of the tokens it holds.

    Why: with context or sequence parallelism a rank holds a part of each row. It must turn token 12 by 12, even when
    that is its first. A backend that counts its own tokens from 0, cuts a table that was cut before, or cuts by other
    pieces than the tokens, gives the same numbers as before on one device and wrong ones on several.

    Fix: work out positions for whole rows, then shard them exactly like the tokens: gnomon.positions.shard(positions,
    rank, world, scheme); pad lengths to what the scheme divides, never round them down.

    Sources: Megatron-LM 5243, sglang 28463, Megatron-DeepSpeed 392, TransformerEngine 1626 and 1930.
    """
    found = shares(subject)
    yield from _covered(found)
    if found.tokens is None:
        yield from _by_themselves(found)
        return
    whole, counting = _counting(found)
    yield Measured("positions count", counting, None, "anew in each document, or throughout the row")
    for rank, (used, tokens) in enumerate(zip(found.positions, found.tokens, strict=True)):
        right = whole[tokens[tokens < found.length]]
        wrong = len(used) != len(right) or not torch.equal(used, right)
        yield Measured(f"rank {rank} uses the positions of its tokens", not wrong, True, "token by token")
        if wrong:
            yield Finding(
                f"rank {rank}",
                f"it uses positions {_few(used)} for tokens at {_few(right)}{_guess(used, right, found, rank)}",
                f"shard the positions like the tokens: rank {rank} turns by {_few(right)}",
                {"used": used.tolist()[:SHOWN], "right": right.tolist()[:SHOWN]},
            )


def _covered(found: Shares) -> Iterator[Finding | Measured]:
    """Whether the ranks together hold every token once; judged only where the caller says which tokens they hold."""
    if found.tokens is None:
        return
    counts = torch.cat(found.tokens).bincount(minlength=found.length)[: found.length]
    lost, twice = (counts == 0).nonzero().flatten(), (counts > 1).nonzero().flatten()
    yield Measured("tokens that no rank holds", len(lost), 0, f"of {found.length}")
    if len(lost) or len(twice):
        what = f"no rank holds token {_few(lost)}" if len(lost) else f"several ranks hold token {_few(twice)}"
        yield Finding(
            "the ranks",
            what,
            f"split by boundaries that are padded to a multiple of the ranks; all {found.length} tokens, each once",
            {"missing": lost.tolist()[:SHOWN], "twice": twice.tolist()[:SHOWN]},
        )


def _by_themselves(found: Shares) -> Iterator[Finding | Measured]:
    """Without a scheme: together the ranks must use the positions of the row, whichever way it was cut."""
    together = torch.cat(found.positions).sort().values
    fits = [name for name, whole in (("running", found.running), ("restart", found.restart)) if _same(together, whole)]
    parts = schemes(found.length, len(found.positions))
    cut = [n for n, tokens in parts.items() if all(map(_same, found.positions, (found.running[t] for t in tokens)))]
    yield Measured("scheme of the shares", ", ".join(cut) or "another", None, "told from the positions")
    yield Measured("positions used by all ranks together", len(together.unique()), found.length, "each of the row once")
    if fits:
        return
    repeated = "" if not _all_local(found) else ": every rank counts its own tokens from 0"
    yield Finding(
        "the ranks",
        f"together they use {len(together.unique())} different positions for {found.length} tokens{repeated}",
        f"shard the positions 0 to {found.length - 1} like the tokens, with gnomon.positions.shard",
        {"different": len(together.unique()), "length": found.length},
    )


def _counting(found: Shares) -> tuple[Tensor, str]:
    """The counting that the caller names, else the one that more ranks agree with."""
    named = {"running": found.running, "restart": found.restart}
    if found.counting in named:
        return named[found.counting], found.counting
    tokens = found.tokens or ()
    right = {
        name: sum(_same(used, whole[t[t < found.length]]) for used, t in zip(found.positions, tokens, strict=True))
        for name, whole in named.items()
    }
    best = max(right, key=lambda name: right[name])
    return named[best], best


def _guess(used: Tensor, right: Tensor, found: Shares, rank: int) -> str:
    world = len(found.positions)
    if _same(used, torch.arange(len(used))):
        return ": its own tokens counted from 0"
    inside = schemes(len(right), world)
    if any(_same(used, right[tokens[rank]]) for tokens in inside.values()):
        return ": the table was sharded twice"
    others = [n for n, t in schemes(found.length, world).items() if _same(used, found.running[t[rank]])]
    return f": those of the {others[0]} scheme" if others else ""


def _all_local(found: Shares) -> bool:
    return all(_same(used, torch.arange(len(used))) for used in found.positions)


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a, b)


def _few(values: Tensor) -> str:
    return ", ".join(str(int(v)) for v in values[:SHOWN]) + (", ..." if len(values) > SHOWN else "")
