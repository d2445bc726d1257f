"""Keys hidden in a text and asked for at its end, one row for keys at all depths.

The passkey of Mohtashami and Jaggi 2023, arXiv:2305.16300, with several named keys in one row as in Hsieh et al. 2024,
arXiv:2404.06654. The questions and their answers stand in the row, so one forward pass tells what greedy decoding would
say: a key is found where each of its tokens is the likeliest one.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.errors import GnomonError
from gnomon.extending.checking.logits import pieces
from gnomon.extending.checking.opened import Opened
from gnomon.extending.checking.tokens import Tokens

DOORS = ("red", "blue", "green", "white", "black", "brown", "yellow", "silver", "golden", "purple")
DIGITS = 5


@final
@dataclass(frozen=True)
class Recall:
    """How well one key is told: `rank` is the mean over its tokens of their rank among all words, 1 the likeliest."""

    depth: float  #: 0 for a key at the start of the text, 1 for one at its end
    found: bool
    rank: float
    loss: float  #: nats for each token of the key

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"depth": self.depth, "found": self.found, "rank": self.rank, "loss": self.loss}


@final
@dataclass(frozen=True)
class Haystack:
    """A row with keys in it; `answers` are the places of the tokens of each key at the end, by its depth."""

    ids: Int64[Tensor, " S"]
    answers: dict[float, slice]


def haystack(tokens: Tokens, filler: list[int], length: int, keys: int, seed: int) -> Haystack | None:
    """A row of `length` tokens with `keys` keys at even depths of the filler; None where it is too short for them.

    >>> letters = Tokens(lambda text: list(text.encode()))
    >>> row = haystack(letters, list(b"word " * 200), 600, keys=2, seed=0)
    >>> len(row.ids), bytes(row.ids[:34].tolist()).decode().strip()
    (600, 'The key of the red door is 86556.')
    """
    if not 1 <= keys <= len(DOORS):
        raise GnomonError(f"Keys are hidden for 1 to {len(DOORS)} doors, got {keys}.")
    drawn = np.random.default_rng(seed)
    names = [tokens.encode(f"\nThe key of the {door} door is") for door in DOORS[:keys]]
    codes = [tokens.encode(f" {drawn.integers(10 ** (DIGITS - 1), 10**DIGITS)}") for _ in names]
    end = tokens.encode(".\n")
    told = [[*name, *code, *end] for name, code in zip(names, codes, strict=True)]
    room = length - len(tokens.prefix) - 2 * sum(map(len, told))
    if room < keys or len(filler) < room:
        return None
    depths = [n / (keys - 1) if keys > 1 else 0.5 for n in range(keys)]
    cuts = [round(depth * room) for depth in depths]
    row, last = list(tokens.prefix), 0
    for cut, sentence in zip(cuts, told, strict=True):
        row += [*filler[last:cut], *sentence]
        last = cut
    row += filler[last:room]
    answers = {}
    for which in drawn.permutation(keys).tolist():
        start = len(row) + len(names[which])
        answers[depths[which]] = slice(start, start + len(codes[which]))
        row += told[which]
    return Haystack(torch.tensor(row), dict(sorted(answers.items())))


def recalls(opened: Opened, hay: Haystack) -> tuple[Recall, ...]:
    """What a causal model says of each key, by depth."""
    ids = hay.ids.to(opened.device)
    start = min(place.start for place in hay.answers.values()) - 1
    ranks, losses = [], []
    for first, logits in pieces(opened.module, ids, start):
        targets = ids[first + 1 : first + 1 + len(logits)]
        scores = logits[: len(targets)]
        # A word that ties with the key counts before it: a model that says nothing finds nothing.
        ranks.append((scores >= scores.gather(1, targets[:, None])).sum(dim=1))
        losses.append(cross_entropy(scores.double(), targets, reduction="none"))
    rank, loss = torch.cat(ranks).cpu(), torch.cat(losses).cpu()
    return tuple(
        _recall(depth, slice(at.start - 1 - start, at.stop - 1 - start), rank, loss)
        for depth, at in hay.answers.items()
    )


def _recall(depth: float, at: slice, rank: Tensor, loss: Tensor) -> Recall:
    return Recall(depth, bool((rank[at] == 1).all()), float(rank[at].double().mean()), float(loss[at].mean()))
