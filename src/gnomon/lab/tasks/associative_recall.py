"""Say the value of a key: Ba et al. 2016, arXiv:1610.06258, section 4.1; Arora et al. 2023, arXiv:2312.04927."""

from typing import Literal, final, get_args

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.lab.tasks.base import IGNORED, Batch, Classes, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_choice, require_whole
from gnomon.lab.tasks.strings import drawn

Pairs = Literal["two_tokens", "one_token"]


@registry.register("associative_recall")
@final
class AssociativeRecall(Task):
    """`length` pairs of a key and a value, and then one of the keys: the value that stood with it is asked for.

    No key stands twice, so which pair is meant depends on content alone, and the pairs may stand in any order. `pairs`:
    "two_tokens" writes a key and its value one after the other, so a model must still know that the value is the token
    after the key; "one_token" has one token for each key with each value, so that positions do not matter at all. A
    value is guessed with chance 1 / values.

    >>> batch = AssociativeRecall(keys=4, values=3).batch("test", 2, 1, torch.Generator().manual_seed(0))
    >>> batch.ids.tolist(), batch.labels.tolist()
    ([[2, 5, 1, 4, 1]], [[-100, -100, -100, -100, 0]])
    """

    sights = ("causal", "both")

    def __init__(self, keys: int = 32, values: int = 8, pairs: Pairs = "two_tokens") -> None:
        self.keys = require_whole("associative_recall", "keys", keys, 1)
        self.values = require_whole("associative_recall", "values", values, 2)
        self.pairs = require_choice("associative_recall", "pairs", pairs, get_args(Pairs))
        self.vocabulary = keys + (values if pairs == "two_tokens" else keys * values)
        self.output = Classes(values)

    @property
    def chance(self) -> float:
        return 1 / self.values

    def slots(self, length: int) -> int:
        return (2 if self.pairs == "two_tokens" else 1) * length + 1

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("associative_recall", length, 1, self.keys)
        keys = drawn(self.keys, size, count, generator, unique=True)
        values = drawn(self.values, size, count, generator, unique=False)
        asked = torch.randint(count, (size, 1), generator=generator)
        if self.pairs == "two_tokens":
            told = as_tokens(keys, values, first_value=self.keys)
        else:
            told = self.keys + keys * self.values + values
        return asking(told, keys.gather(1, asked), values.gather(1, asked))


def as_tokens(keys: Int64[Tensor, "B N"], values: Int64[Tensor, "B N"], *, first_value: int) -> Int64[Tensor, "B 2N"]:
    """Key, value, key, value, ...; the id of value v is `first_value` + v."""
    return torch.stack((keys, first_value + values), dim=-1).flatten(1)


def asking(told: Int64[Tensor, "B S"], key: Int64[Tensor, "B 1"], value: Int64[Tensor, "B 1"]) -> Batch:
    """What is told and then a key, at which its value is scored."""
    return Batch(torch.cat((told, key), dim=1), torch.cat((torch.full_like(told, IGNORED), value), dim=1))
