"""Long text, cut into a part to train on and a part to test on."""

from dataclasses import dataclass
from functools import cache
from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.lab.data.stdlib import standard_library


@final
@dataclass(frozen=True, eq=False)
class Corpus:
    """Token ids of the two parts, each one long run of text. `checksum` is that of the text they were made from."""

    name: str
    train: Int64[Tensor, " N"]
    test: Int64[Tensor, " M"]
    vocabulary: int
    checksum: str


@cache
def load_corpus(name: str) -> Corpus:
    """A corpus by name; "stdlib", the sources of Python's standard library, is on every machine."""
    if name != "stdlib":
        raise GnomonError(f"No corpus is called {name!r}; there is stdlib.")
    text = standard_library()
    train, test = (torch.frombuffer(bytearray(part), dtype=torch.uint8).long() for part in (text.train, text.test))
    return Corpus(name, train, test, vocabulary=256, checksum=text.checksum)
