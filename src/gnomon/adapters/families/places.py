"""Where a claim holds: in which stack, at the embeddings or in attention, and in which layers."""

import re
from dataclasses import dataclass
from typing import Literal, final

Stack = Literal["encoder", "decoder", "vision"]
Part = Literal["embedding", "attention"]

WRITTEN = re.compile(
    r"(?:(?P<stack>encoder|decoder)\.)?"
    r"(?:(?P<embeddings>embeddings)|layers\.(?:\*|(?P<layers>[\d,]+))\.attention|(?P<kind>\w+))"
)


@final
@dataclass(frozen=True)
class Place:
    """A claim's `where` in its parts; None where it does not restrict.

    >>> Place.of("decoder.embeddings")
    Place(stack='decoder', part='embedding', layers=None, kind=None)
    >>> Place.of("sliding_attention").holds(3, "full_attention")
    False
    """

    stack: str | None
    part: Part
    layers: frozenset[int] | None = None  #: these layers only
    kind: str | None = None  #: layers of this kind only

    @classmethod
    def of(cls, where: str) -> "Place":
        found = WRITTEN.fullmatch(where)
        if found is None:
            return cls(None, "attention", kind=where)
        part: Part = "embedding" if found["embeddings"] else "attention"
        listed = frozenset(map(int, found["layers"].split(","))) if found["layers"] else None
        return cls(found["stack"], part, listed, found["kind"])

    def holds(self, layer: int, kind: str | None) -> bool:
        """Whether it holds in this layer, of this kind of layer."""
        return (self.layers is None or layer in self.layers) and (self.kind is None or self.kind == kind)
