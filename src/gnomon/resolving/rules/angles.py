"""How fast each pair turns at a length: what a stack makes of a rotary block, as numbers that can be compared."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np
from jaxtyping import Float64

#: what a switch between two lists looks at: the sequence of a forward, the length that the server was started with,
#: each position on its own, or nothing (long always)
SwitchBy = Literal["sequence", "served", "position", "always"]


@final
@dataclass(frozen=True, eq=False)
class Angles:
    """`inverse`: radians per position of each pair, float64 (pairs,). `magnitude`: the factor on cos and sin."""

    inverse: Float64[np.ndarray, " pairs"]
    magnitude: float = 1.0


class Schedule(ABC):
    """The angles of the newest token of a sequence of `length` tokens, where a server was started for `served`."""

    @abstractmethod
    def at(self, length: int, served: int) -> Angles:
        """The angles; `served` is at least `length`."""

    def of_token(self, position: int, length: int, served: int) -> Angles:
        """The angles of the token at `position`, from 0, in a sequence of `length` tokens: those of the newest one."""
        return self.at(length, served)

    def edges(self, length: int) -> tuple[int, ...]:
        """The last positions of a sequence before which tokens have other angles than the newest one; none usually."""
        return ()

    @property
    def switch(self) -> str:
        """What changes them, in a few words; empty when nothing does."""
        return ""


@final
@dataclass(frozen=True, eq=False)
class Always(Schedule):
    """The same at every length."""

    angles: Angles

    def at(self, length: int, served: int) -> Angles:
        return self.angles


@final
@dataclass(frozen=True, eq=False)
class Switched(Schedule):
    """Short angles up to `limit` tokens, long ones above it; `by` says whose tokens are counted."""

    short: Angles
    long: Angles
    limit: float
    by: SwitchBy
    words: str

    def at(self, length: int, served: int) -> Angles:
        counted = {"sequence": length, "served": served, "position": length, "always": math.inf}[self.by]
        return self.long if counted > self.limit else self.short

    def of_token(self, position: int, length: int, served: int) -> Angles:
        return self.at(position + 1 if self.by == "position" else length, served)

    def edges(self, length: int) -> tuple[int, ...]:
        return (int(self.limit) - 1,) if self.by == "position" and 1 <= self.limit < length else ()

    @property
    def switch(self) -> str:
        return self.words


@final
@dataclass(frozen=True, eq=False)
class Growing(Schedule):
    """Angles that follow a length above `limit`: that of the sequence, or the one that the server was started with."""

    of: Callable[[float], Angles]
    limit: float
    by: Literal["sequence", "served"]
    words: str

    def at(self, length: int, served: int) -> Angles:
        return self.of(max(float(length if self.by == "sequence" else served), self.limit))

    @property
    def switch(self) -> str:
        return self.words


@final
@dataclass(frozen=True)
class Temperature:
    """A factor on the logits of the query at position p: 1 + beta * ln(1 + floor((p + shift) / length))."""

    beta: float
    length: float
    shift: int = field(default=0)

    def at(self, position: int) -> float:
        return 1 + self.beta * math.log(1 + (position + self.shift) // self.length)
