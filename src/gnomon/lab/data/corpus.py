"""Long text, cut into a part to train on and a part to test on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

import numpy as np
import torch
from jaxtyping import Integer
from torch import Tensor

from gnomon.cache import cache_root
from gnomon.errors import GnomonError
from gnomon.lab.data.cache import load
from gnomon.lab.data.stdlib import SplitText, standard_library

UNKNOWN = 0  #: the id of every character that is not among the frequent ones
FREQUENT = 2047  #: characters with an id of their own: 96% of Chinese prose


@final
@dataclass(frozen=True, eq=False)
class Corpus:
    """Token ids of the two parts, each one long run of text, in a narrow integer type: widen what is used of them.

    `checksum` is that of the text they were made from.
    """

    name: str
    train: Integer[Tensor, " N"]
    test: Integer[Tensor, " M"]
    vocabulary: int
    checksum: str


def load_corpus(name: str) -> Corpus:
    """A corpus by name: "stdlib", the sources of Python's library, is on every machine; others are fetched first.

    Raises GnomonError for another name, and for a corpus that is not fetched.
    """
    if name not in CORPORA:
        raise GnomonError(f"No corpus is called {name!r}; there are {', '.join(sorted(CORPORA))}.")
    return _loaded(name, cache_root())


@cache
def _loaded(name: str, folder: Path) -> Corpus:
    """Read once for each folder of data, not for each run of a suite."""
    return CORPORA[name](name)


def in_bytes(name: str, text: SplitText) -> Corpus:
    """Every byte is a token."""
    train, test = (torch.frombuffer(bytearray(part), dtype=torch.uint8) for part in (text.train, text.test))
    return Corpus(name, train, test, vocabulary=256, checksum=text.checksum)


def in_characters(name: str, text: SplitText, *, frequent: int = FREQUENT) -> Corpus:
    """The `frequent` most frequent characters of the part to train on are tokens 1, 2, ...; all others are token 0.

    >>> corpus = in_characters("x", SplitText("天天地".encode(), "地人天".encode()), frequent=1)
    >>> corpus.train.tolist(), corpus.test.tolist(), corpus.vocabulary
    ([1, 1, 0], [0, 0, 1], 2)
    """
    train, test = (np.frombuffer(part.decode().encode("utf-32-le"), np.uint32) for part in (text.train, text.test))
    characters, counts = np.unique(train, return_counts=True)
    chosen = characters[np.argsort(-counts, kind="stable")][:frequent]
    table = np.zeros(int(max(train.max(initial=0), test.max(initial=0))) + 1, np.int16)
    table[chosen] = np.arange(1, len(chosen) + 1)
    ids, test_ids = (torch.from_numpy(table[part]) for part in (train, test))
    return Corpus(name, ids, test_ids, len(chosen) + 1, text.checksum)


def _fetched(name: str) -> SplitText:
    stored = load(name)
    return SplitText(stored.read("train.txt"), stored.read("test.txt"))


CORPORA: dict[str, Callable[[str], Corpus]] = {
    "stdlib": lambda name: in_bytes(name, standard_library()),
    "austen": lambda name: in_bytes(name, _fetched(name)),
    "python-docs": lambda name: in_bytes(name, _fetched(name)),
    "chinese-classics": lambda name: in_characters(name, _fetched(name)),
}
