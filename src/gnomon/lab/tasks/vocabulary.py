"""Ids for the symbols of stored text: characters by their code points, or words by their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Int32, Integer

PADDING, UNKNOWN, FIRST, HIDDEN, OWN = range(5)  #: OWN: the first id of a symbol
LEAST = 2  #: a symbol that is there once in training is unknown, so that the unknown id is learnt


@final
@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The symbols with an id of their own, in rising order; symbol 0 is padding."""

    symbols: Integer[np.ndarray, " V"]

    @classmethod
    def of(cls, codes: Integer[np.ndarray, "E W"], least: int = LEAST) -> "Vocabulary":
        """Those that are there at least so often."""
        symbols, counts = np.unique(codes, return_counts=True)
        return cls(symbols[(counts >= least) & (symbols != 0)])

    @property
    def size(self) -> int:
        """How many ids there are."""
        return OWN + len(self.symbols)

    def ids(self, codes: Integer[np.ndarray, "E W"]) -> Int32[np.ndarray, "E W"]:
        """The id of each symbol.

        >>> Vocabulary(np.array([5, 9])).ids(np.array([[9, 7, 0]])).tolist()
        [[5, 1, 0]]
        """
        if not len(self.symbols):
            return np.where(codes == 0, PADDING, UNKNOWN).astype(np.int32)
        place = np.searchsorted(self.symbols, codes).clip(max=len(self.symbols) - 1)
        known = np.where(self.symbols[place] == codes, place + OWN, UNKNOWN)
        return np.where(codes == 0, PADDING, known).astype(np.int32)


def character_codes(texts: Sequence[str], longest: int) -> Integer[np.ndarray, "E W"]:
    """Code points of the first `longest` characters of each text, with zeros after the end.

    >>> character_codes(["ab", "abcd"], longest=3).tolist()
    [[97, 98, 0], [97, 98, 99]]
    """
    cut = [text[:longest] for text in texts]
    width = max(map(len, cut), default=0)
    joined = "".join(text.ljust(width, "\0") for text in cut)
    return np.frombuffer(joined.encode("utf-32-le"), np.uint32).reshape(len(cut), width)


def word_codes(texts: Sequence[Sequence[str]], numbers: dict[str, int]) -> Integer[np.ndarray, "E W"]:
    """Numbers of words from 1 on, as `numbers` has them; a new word is added to it.

    >>> numbers: dict[str, int] = {}
    >>> word_codes([["o", "mar"], ["mar"]], numbers).tolist(), numbers
    ([[1, 2], [2, 0]], {'o': 1, 'mar': 2})
    """
    codes = np.zeros((len(texts), max(map(len, texts), default=0)), np.int32)
    for row, words in zip(codes, texts, strict=True):
        row[: len(words)] = [numbers.setdefault(word, len(numbers) + 1) for word in words]
    return codes
