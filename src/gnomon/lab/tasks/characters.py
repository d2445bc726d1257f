"""Language modelling, byte by byte or character by character, on long text."""

from typing import final

import torch
from jaxtyping import Int64, Integer
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.lab.data.corpus import load_corpus
from gnomon.lab.tasks.base import IGNORED, Batch, NextToken, Split, Task, registry, require_length


@registry.register("characters")
@final
class Characters(Task):
    """Rows of `length` tokens from random places of a corpus; every slot predicts the token after it.

    A token is a byte in the corpora "stdlib", "austen" and "python-docs", a character in "chinese-classics".

    Two more ways to read the test part, for measures that compare lengths: `segments` and `endings`.

    >>> task = Characters("stdlib")
    >>> task.batch("train", 16, 2, torch.Generator().manual_seed(0)).ids.shape
    torch.Size([2, 16])
    """

    def __init__(self, corpus: str = "stdlib") -> None:
        text = load_corpus(corpus)
        self._parts: dict[Split, Tensor] = {"train": text.train, "test": text.test}
        self.vocabulary = text.vocabulary
        self.output = NextToken()
        self.data = {f"corpus {corpus}": text.checksum}

    def slots(self, length: int) -> int:
        return length

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        text = self._parts[split]
        count = require_length("characters", length, 1, len(text) - 1)
        starts = torch.randint(len(text) - count, (size,), generator=generator)
        return self._rows(text, starts, count)

    def segments(self, length: int, total: int) -> Batch:
        """The first `total` test tokens in pieces of `length` that do not overlap: the same text at every length.

        What is left over, less than a piece, is not scored; `total` should be a multiple of every length.
        """
        text = self._parts["test"]
        require_length("characters", length, 1, min(total, len(text) - 1))
        if total >= len(text):
            raise GnomonError(f"The test text has {len(text)} tokens, so fewer than that can be scored, got {total}.")
        return self._rows(text, torch.arange(0, total - length + 1, length), length)

    def endings(self, length: int, *, last: int, rows: int, longest: int) -> Batch:
        """`rows` places of the test text: at each, the same `last` tokens are scored after `length` tokens in all.

        The places are those that rows of `longest` tokens would end at, so that from length to length only the context
        differs (the last-K protocol of DAPE, Zheng et al. 2024, arXiv:2405.14722).
        """
        text = self._parts["test"]
        require_length("characters", length, last, longest)
        require_length("characters", longest, last, len(text) - 1)
        ends = torch.linspace(longest, len(text) - 1, rows, dtype=torch.float64).long()
        batch = self._rows(text, ends - length, length)
        batch.labels[:, : length - last] = IGNORED
        return batch

    @staticmethod
    def _rows(text: Integer[Tensor, " N"], starts: Int64[Tensor, " B"], length: int) -> Batch:
        windows = text[starts[:, None] + torch.arange(length + 1)].long()
        return Batch(windows[:, :-1].contiguous(), windows[:, 1:].contiguous())
