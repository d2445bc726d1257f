"""Tasks over labelled examples that were fetched: rows drawn from a part, with padding on the right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final, get_args

import numpy as np
import torch
from jaxtyping import Bool, Int16, Int32, Int64, Integer
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.lab.data.cache import Stored
from gnomon.lab.tasks.base import IGNORED, Batch, Output, Split, Task
from gnomon.lab.tasks.options import require_whole
from gnomon.lab.tasks.vocabulary import FIRST, PADDING, Vocabulary, character_codes

WINDOW = 8  #: rows of training come from so many times the batch that are next to each other in length


@final
@dataclass(frozen=True, eq=False)
class Examples:
    """One row for each example, padded; `sizes` are their slots."""

    ids: Int32[Tensor, "E W"]
    labels: Int16[Tensor, "E W"]
    sizes: Int64[Tensor, " E"]

    @classmethod
    def of(cls, ids: Integer[np.ndarray, "E W"], labels: Integer[np.ndarray, "E W"]) -> "Examples":
        """Rows of token ids with padding after their ends, and the class at each slot."""
        sizes = (ids != PADDING).sum(1)
        parts = (ids.astype(np.int32), labels.astype(np.int16), sizes.astype(np.int64))
        return cls(*(torch.from_numpy(part) for part in parts))

    @classmethod
    def classified(cls, ids: Int32[np.ndarray, "E W"], classes: Sequence[int]) -> "Examples":
        """Rows with one class each, at a slot before the tokens."""
        return cls.of(*with_first(ids, np.full(ids.shape, IGNORED), np.array(classes)))

    def batch(self, rows: Int64[Tensor, " B"]) -> Batch:
        """These rows, as wide as the longest of them."""
        sizes = self.sizes[rows]
        width = int(sizes.max())
        real = torch.arange(width) < sizes[:, None]
        return Batch(self.ids[rows, :width].long(), self.labels[rows, :width].long(), real)


class StoredTask(Task):
    """Draws from a part's examples. A length is in tokens: rows with at most so many of them, and more than half.

    Rows to train on are drawn from neighbours in length, so that little of a batch is padding; every row is as likely
    as every other. Rows for tests are drawn from all, none twice before all were there.
    """

    name: str  #: as it is registered
    marked: bool  #: whether a row begins with a slot that is no token
    alike: bool = True  #: whether a batch of training has rows of like length; False where the length tells the class

    def __init__(self, parts: Mapping[Split, Examples], vocabulary: Vocabulary, output: Output) -> None:
        self.parts = parts
        self.vocabulary = vocabulary.size
        self.output = output
        self._by_size = {split: _by_size(part.sizes) for split, part in parts.items()}
        self._widest = max(int(part.sizes.max()) for part in parts.values())

    def slots(self, length: int) -> int:
        """0: of the longest row there is."""
        return length + int(self.marked) if length else self._widest

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        ordered = self._by_size[split]
        if length is not None:
            ordered = ordered[self.fitting(self.parts[split].sizes[ordered] - int(self.marked), length)]
        if not len(ordered):
            raise GnomonError(f"The task {self.name!r} has no rows of length {length} to {split} with; {self._told()}")
        if split == "test":
            drawn = torch.randperm(len(ordered), generator=generator).repeat(-(-size // len(ordered)))[:size]
        else:
            drawn = _neighbours(len(ordered), WINDOW * size if self.alike else len(ordered), size, generator)
        return self.parts[split].batch(ordered[drawn])

    def fitting(self, tokens: Int64[Tensor, " E"], length: int) -> Bool[Tensor, " E"]:
        """Which rows, by the number of their tokens, are of a length."""
        return (tokens <= length) & (2 * tokens > length)

    def share(self, split: Split = "test") -> float:
        """The share of the most frequent class: what a guess that ignores the input gets."""
        labels = self.parts[split].labels
        counts = labels[labels != IGNORED].long().bincount()
        return float(counts.max() / counts.sum())

    def _told(self) -> str:
        return f"its rows have up to {self._widest - int(self.marked)} tokens."


def _by_size(sizes: Int64[Tensor, " E"]) -> Int64[Tensor, " E"]:
    """Rows from short to long; those of one length in a random order, for files may have them class by class."""
    shuffled = torch.randperm(len(sizes), generator=torch.Generator().manual_seed(0))
    return shuffled[sizes[shuffled].argsort(stable=True)]


def _neighbours(count: int, window: int, size: int, generator: torch.Generator) -> Int64[Tensor, " B"]:
    """Places within a window of `count` rows, which goes on from the last to the first."""
    start = torch.randint(count, (1,), generator=generator)
    return (start + torch.randint(min(count, window), (size,), generator=generator)) % count


def read_lines(
    task: str, stored: Stored, prefix: str, examples: int | None, subset: int
) -> dict[Split, list[list[str]]]:
    """The lines of both parts, cut at their tabs; of those to train on, all or `examples`."""
    lines: dict[Split, list[list[str]]] = {
        split: [line.split("\t") for line in stored.lines(f"{prefix}{split}.txt")] for split in get_args(Split)
    }
    rows = chosen(task, len(lines["train"]), examples, subset)
    return {**lines, "train": [lines["train"][row] for row in rows]}


def classes_of(marks: Sequence[str], classes: Mapping[str, int], longest: int) -> Integer[np.ndarray, "E W"]:
    """The class of each mark of a row; marks without a class, and what follows a row's end, are not scored.

    >>> classes_of(["pi", "p"], {"p": 1}, longest=2).tolist()
    [[1, -100], [1, -100]]
    """
    table = np.full(128, IGNORED, np.int16)
    for mark, number in classes.items():
        table[ord(mark)] = number
    found: Integer[np.ndarray, "E W"] = table[character_codes(marks, longest)]
    return found


def chosen(task: str, count: int, examples: int | None, subset: int) -> Int64[np.ndarray, " N"]:
    """Which of `count` examples are trained on: all, or `examples` of them; another `subset` is another choice.

    >>> chosen("entities", 5, None, 0).tolist()
    [0, 1, 2, 3, 4]
    """
    require_whole(task, "subset", subset, 0)
    if examples is None:
        return np.arange(count)
    if require_whole(task, "examples", examples, 1) > count:
        raise GnomonError(f"The task {task!r} has {count} examples to train on, got examples={examples}.")
    order = torch.randperm(count, generator=torch.Generator().manual_seed(subset))
    return order[:examples].sort().values.numpy()


def with_first(
    ids: Int32[np.ndarray, "E W"], labels: Integer[np.ndarray, "E W"], first: Integer[np.ndarray, " E"] | int = IGNORED
) -> tuple[Int32[np.ndarray, "E V"], Integer[np.ndarray, "E V"]]:
    """Rows that begin with a slot that is no token, with the label `first` there."""
    marks = np.full((len(ids), 1), FIRST, np.int32)
    begun = np.broadcast_to(np.asarray(first).reshape(-1, 1), (len(ids), 1))
    return np.concatenate((marks, ids), 1), np.concatenate((begun, labels), 1)
