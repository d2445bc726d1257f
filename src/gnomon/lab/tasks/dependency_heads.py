"""The head of each word of a sentence, as in the parser of Dozat and Manning 2017, arXiv:1611.01734."""

from typing import final

import numpy as np
import torch
from jaxtyping import Integer

from gnomon.errors import GnomonError
from gnomon.lab.data.cache import load
from gnomon.lab.tasks.base import IGNORED, Slots, registry
from gnomon.lab.tasks.options import require_whole
from gnomon.lab.tasks.stored import Examples, StoredTask, read_lines, with_first
from gnomon.lab.tasks.vocabulary import Vocabulary, word_codes

LONGEST = 48


@registry.register("dependency_heads")
@final
class DependencyHeads(StoredTask):
    """At each word the slot of its head; slot 0 stands before the words and is the head of the root.

    Most heads are a word or two away, so relative distance tells much. Sentences of more than `longest` words are left
    out. It reads the data set petrogold.

    >>> task = DependencyHeads(longest=24)  # doctest: +SKIP
    >>> task.slots(24)  # doctest: +SKIP
    25
    """

    name = "dependency_heads"
    marked = True
    sights = ("both",)

    def __init__(self, longest: int = LONGEST, examples: int | None = None, subset: int = 0) -> None:
        require_whole(self.name, "longest", longest, 1)
        stored = load("petrogold")
        self.data = {stored.name: stored.checksum}
        lines = read_lines(self.name, stored, "", examples, subset)
        trees = {split: _trees(part, longest) for split, part in lines.items()}
        numbers: dict[str, int] = {}
        codes = {split: word_codes([words for words, _ in part], numbers) for split, part in trees.items()}
        vocabulary = Vocabulary.of(codes["train"])
        parts = {
            split: Examples.of(*with_first(vocabulary.ids(codes[split]), _labels([h for _, h in part], codes[split])))
            for split, part in trees.items()
        }
        super().__init__(parts, vocabulary, Slots())

    @property
    def chance(self) -> float:
        """How often the most frequent distance to a head is right."""
        labels = self.parts["test"].labels
        scored = labels != IGNORED
        distances = (labels - torch.arange(labels.shape[1], dtype=torch.int16))[scored].long()
        return float((distances - distances.min()).bincount().max() / scored.sum())


def _trees(lines: list[list[str]], longest: int) -> list[tuple[list[str], list[int]]]:
    """Words and heads of the sentences of at most `longest` words."""
    found = [(words.split(" "), [int(head) for head in heads.split(" ")]) for words, heads in lines]
    kept = [(words, heads) for words, heads in found if len(words) <= longest]
    if not kept:
        raise GnomonError(f"No sentence has {longest} words or fewer; raise longest.")
    return kept


def _labels(heads: list[list[int]], codes: Integer[np.ndarray, "E W"]) -> Integer[np.ndarray, "E W"]:
    labels = np.full(codes.shape, IGNORED, np.int16)
    for row, told in zip(labels, heads, strict=True):
        row[: len(told)] = told
    return labels
