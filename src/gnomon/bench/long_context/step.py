"""What one way to handle positions is: a part of an attention layer that can be run with the rest, or alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, final

from jaxtyping import Float
from torch import Tensor

Kept = Literal["never", "always"]


@final
class Memory:
    """Something made for one length, kept as long as `kept` says."""

    def __init__(self, kept: Kept, make: Callable[[int], object]) -> None:
        self.kept, self._make = kept, make
        self._there: dict[int, object] = {}

    def of(self, length: int) -> object:
        """What is made for this length."""
        if self.kept == "never":
            return self._make(length)
        if length not in self._there:
            self._there = {length: self._make(length)}
        return self._there[length]

    def forget(self) -> None:
        """Drop what is kept."""
        self._there = {}


class Step(ABC):
    """Attention of one layer with one way to handle positions, and that way alone."""

    memories: tuple[Memory, ...] = ()  #: what it keeps

    @abstractmethod
    def attend(
        self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"], v: Float[Tensor, "B G S D"]
    ) -> Float[Tensor, "B H S D"]:
        """Attention with positions 0 .. S - 1. It may write over q and k."""

    @abstractmethod
    def alone(self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"]) -> object:
        """What `attend` does for positions before the attention itself: tables, biases, masks, rotations."""

    @property
    def keeps(self) -> bool:
        """Whether later passes cost less than the first."""
        return any(memory.kept == "always" for memory in self.memories)

    def forget(self) -> None:
        """Drop all that is kept."""
        for memory in self.memories:
            memory.forget()
