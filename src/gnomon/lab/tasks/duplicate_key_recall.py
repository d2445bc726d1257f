"""Say the first or the last value of a key that stood twice: content and position together. After associative recall,
Ba et al. 2016, arXiv:1610.06258, section 4.1."""

from typing import Literal, final, get_args

import torch

from gnomon.lab.tasks.associative_recall import as_tokens, asking
from gnomon.lab.tasks.base import Batch, Classes, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_choice, require_whole
from gnomon.lab.tasks.strings import drawn

Occurrence = Literal["first", "last"]


@registry.register("duplicate_key_recall")
@final
class DuplicateKeyRecall(Task):
    """`length` keys, each twice and with two different values, as pairs in random order, and then one of the keys.

    `occurrence` says which of the two values is asked for, that of the "first" or of the "last" pair. A model that
    finds the key by content, and does not know which pair came first, is right in half of the rows. A value is guessed
    without looking with chance 1 / values.

    >>> batch = DuplicateKeyRecall(keys=4, values=3).batch("test", 2, 1, torch.Generator().manual_seed(0))
    >>> batch.ids.tolist(), batch.labels[0, -1].item()
    ([[2, 5, 1, 5, 1, 4, 2, 4, 1]], 0)
    """

    sights = ("causal", "both")

    def __init__(self, keys: int = 32, values: int = 8, occurrence: Occurrence = "last") -> None:
        self.keys = require_whole("duplicate_key_recall", "keys", keys, 1)
        self.values = require_whole("duplicate_key_recall", "values", values, 2)
        self.occurrence = require_choice("duplicate_key_recall", "occurrence", occurrence, get_args(Occurrence))
        self.vocabulary = keys + values
        self.output = Classes(values)

    @property
    def chance(self) -> float:
        return 1 / self.values

    def slots(self, length: int) -> int:
        return 4 * length + 1

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("duplicate_key_recall", length, 1, self.keys)
        keys = drawn(self.keys, size, count, generator, unique=True)
        one = drawn(self.values, size, count, generator, unique=False)
        other = (one + 1 + torch.randint(self.values - 1, (size, count), generator=generator)) % self.values
        order = drawn(2 * count, size, 2 * count, generator, unique=True)
        keys, values = torch.cat((keys, keys), 1).gather(1, order), torch.cat((one, other), 1).gather(1, order)
        key = keys.gather(1, torch.randint(2 * count, (size, 1), generator=generator))
        places = torch.arange(2 * count).expand_as(keys)
        if self.occurrence == "last":
            place = torch.where(keys == key, places, -1).amax(1, keepdim=True)
        else:
            place = torch.where(keys == key, places, 2 * count).amin(1, keepdim=True)
        return asking(as_tokens(keys, values, first_value=self.keys), key, values.gather(1, place))
