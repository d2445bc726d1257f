"""The tone class of characters in regular Chinese poems, some of them hidden.

In regulated verse level and oblique tones alternate by fixed patterns, and even verses rhyme in a level tone. So where
a character is tells much of its tone, together with the tones around it.
"""

from typing import final

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from gnomon.lab.data.cache import load
from gnomon.lab.tasks.base import IGNORED, Batch, Classes, Split, registry
from gnomon.lab.tasks.options import require_share
from gnomon.lab.tasks.stored import Examples, StoredTask, classes_of, read_lines
from gnomon.lab.tasks.vocabulary import HIDDEN, Vocabulary, character_codes

CLASSES = {"0": 0, "1": 1}  #: level, oblique; characters that can be either, or are unknown, are not scored
LONGEST = 56


@registry.register("tone_tagging")
@final
class ToneTagging(StoredTask):
    """Level (0) or oblique (1) for each hidden character; a share `hidden` of the characters is, anew in each batch.

    A character that is seen tells its own tone (the more frequent one of each character is right for 98.1 % of the
    test part), which leaves nothing for positions to do: hence what is hidden. The more frequent tone of each place in
    each form is right for 67.4 %, the more frequent tone for 50.3 %. With hidden = 0 all characters are seen and
    scored. Lengths are 20, 28, 40 and 56. It reads the data set chinese-poetry.

    >>> task = ToneTagging(hidden=0.5)  # doctest: +SKIP
    >>> task.batch("train", 20, 2, torch.Generator().manual_seed(0)).ids.shape  # doctest: +SKIP
    torch.Size([2, 20])
    """

    name = "tone_tagging"
    marked = False
    sights = ("both", "causal")

    def __init__(self, hidden: float = 0.3, examples: int | None = None, subset: int = 0) -> None:
        self.hidden = require_share(self.name, "hidden", hidden)
        stored = load("chinese-poetry")
        self.data = {stored.name: stored.checksum}
        lines = read_lines(self.name, stored, "", examples, subset)
        codes = {split: character_codes([text for text, _ in part], LONGEST) for split, part in lines.items()}
        vocabulary = Vocabulary.of(codes["train"])
        parts = {
            split: Examples.of(vocabulary.ids(codes[split]), classes_of([marks for _, marks in part], CLASSES, LONGEST))
            for split, part in lines.items()
        }
        super().__init__(parts, vocabulary, Classes(2))

    @property
    def chance(self) -> float:
        return self.share()

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        whole = super().batch(split, length, size, generator)
        if not self.hidden or whole.real is None:
            return whole
        hide = (torch.rand(whole.ids.shape, generator=generator) < self.hidden) & whole.real
        return Batch(whole.ids.masked_fill(hide, HIDDEN), whole.labels.masked_fill(~hide, IGNORED), whole.real)

    def fitting(self, tokens: Int64[Tensor, " E"], length: int) -> Bool[Tensor, " E"]:
        """Poems have one of four lengths, so a length is exact."""
        return tokens == length
