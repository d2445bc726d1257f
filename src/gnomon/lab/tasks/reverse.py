"""Reverse a string: Kazemnejad et al. 2023, arXiv:2305.19466 (written out); Ruoss et al. 2023, arXiv:2305.16843 (at
query slots)."""

from typing import Literal, final, get_args

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.lab.tasks.base import IGNORED, Batch, Classes, NextToken, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_choice, require_whole
from gnomon.lab.tasks.strings import FIRST, as_answers, drawn

Form = Literal["answer", "slots"]
QUERY = 0  #: the token of every slot at which a symbol is to be told, in the form "slots"


@registry.register("reverse")
@final
class Reverse(Task):
    """A string s and then s from its end to its start. The length is that of s.

    `form`: "answer" is `<start> s <separator> s reversed <end>`, written token by token by a causal model. "slots" is
    s and then as many query tokens, all the same: query slot i is to tell symbol i of the reversed string, in one pass,
    so no symbol of the answer is ever given (Ruoss et al.: a binary string, an encoder). With `unique` no symbol stands
    twice. A symbol is guessed with chance 1 / symbols.

    >>> task = Reverse(symbols=2, unique=False, form="slots")
    >>> batch = task.batch("test", 3, 1, torch.Generator().manual_seed(1))
    >>> batch.ids.tolist(), batch.labels.tolist()
    ([[2, 2, 1, 0, 0, 0]], [[-100, -100, -100, 0, 1, 1]])
    """

    def __init__(self, symbols: int = 45, unique: bool = True, form: Form = "answer") -> None:
        self.symbols = require_whole("reverse", "symbols", symbols, 1)
        self.unique = require_choice("reverse", "unique", unique, (True, False))
        self.form = require_choice("reverse", "form", form, get_args(Form))
        self.autoregressive = form == "answer"
        self.sights = ("causal",) if form == "answer" else ("both", "causal")
        self.vocabulary = symbols + (FIRST if form == "answer" else QUERY + 1)
        self.output = NextToken() if form == "answer" else Classes(symbols)

    @property
    def chance(self) -> float:
        return 1 / self.symbols

    def slots(self, length: int) -> int:
        return 2 * length + (2 if self.form == "answer" else 0)

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("reverse", length, 1, self.symbols if self.unique else None)
        source = drawn(self.symbols, size, count, generator, unique=self.unique)
        if self.form == "slots":
            return _at_slots(source)
        return as_answers(FIRST + source, FIRST + source.flip(-1))


def _at_slots(source: Int64[Tensor, "B N"]) -> Batch:
    ids = torch.cat((QUERY + 1 + source, torch.full_like(source, QUERY)), dim=1)
    return Batch(ids, torch.cat((torch.full_like(source, IGNORED), source.flip(-1)), dim=1))
