"""What a model learns: batches of token ids with the class to predict at each slot."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.registry import Registry

IGNORED = -100  #: the label of a slot that is not scored; torch's cross entropy leaves it out
Split = Literal["train", "test"]
Sight = Literal["causal", "both"]
registry: Registry[type["Task"]] = Registry("task", package="gnomon.lab.tasks")


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """Rows to learn from, or to test on. `labels` hold what to predict AT a slot: a next token is shifted already."""

    ids: Int64[Tensor, "B S"]
    labels: Int64[Tensor, "B S"]
    real: Bool[Tensor, "B S"] | None = None  #: True for a token, False for padding; None: all real

    def rows(self, start: int, step: int) -> "Batch":
        """Every `step`-th row from `start` on: one process's part."""
        cut = slice(start, None, step)
        return Batch(self.ids[cut], self.labels[cut], None if self.real is None else self.real[cut])

    def to(self, device: torch.device | str) -> "Batch":
        real = None if self.real is None else self.real.to(device)
        return Batch(self.ids.to(device), self.labels.to(device), real)

    @property
    def scored(self) -> int:
        """How many slots count."""
        return int((self.labels != IGNORED).sum())


@final
@dataclass(frozen=True)
class NextToken:
    """The model predicts token ids with a head tied to its embeddings: causal models only."""


@final
@dataclass(frozen=True)
class Classes:
    """The model predicts one of `count` classes at each scored slot."""

    count: int


@final
@dataclass(frozen=True)
class Slots:
    """The model points at a slot of the same sequence: the class of a slot is the number of another."""


Output = NextToken | Classes | Slots


class Task(ABC):
    """A source of batches. The same seed gives every encoding the same data in the same order.

    A subclass is registered under its name, and its constructor takes plain JSON values: what a run stores.
    """

    output: Output
    vocabulary: int  #: ids are 0 .. vocabulary - 1
    sights: tuple[Sight, ...] = ("causal",)  #: which attention can learn it; the first is the usual one
    autoregressive: bool = False  #: the scored tokens of a row are an answer that a model writes one by one
    data: Mapping[str, str] = {}  #: checksum of each data set it reads; generated tasks have none

    @abstractmethod
    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        """`size` rows of one `length`, in the task's own unit (symbols, digits, tokens); None: lengths as they come.

        Tasks over stored examples draw from the split's examples; generated tasks draw anew, and the splits differ by
        the generator alone. Raises GnomonError for a length that the task does not have.
        """

    @abstractmethod
    def slots(self, length: int) -> int:
        """How many slots a row of this `length` has: what a learned table must hold."""

    @property
    def chance(self) -> float | None:
        """The token accuracy of the best guess that ignores the input; None where it is not known, or not one number.

        Slots that are nearly the same in every row, the end of an answer or a carry, are left out.
        """
        return None

    @property
    def answer_vocabulary(self) -> int:
        """How many classes the model's head has; 0 for a pointer, whose classes are slots."""
        if isinstance(self.output, Classes):
            return self.output.count
        return self.vocabulary if isinstance(self.output, NextToken) else 0


def build_task(name: str, options: Mapping[str, Any]) -> Task:
    """Build a task by name; an option that it does not have is an error that lists those it has."""
    cls = registry.get(name)
    allowed = inspect.signature(cls).parameters
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise GnomonError(
            f"The task {name!r} has no option {', '.join(unknown)}; it takes {', '.join(allowed) or 'none'}."
        )
    return cls(**options)


def require_length(name: str, length: int | None, lowest: int, highest: int | None = None) -> int:
    """The length of a generated task as a number; raises GnomonError outside of what it has."""
    if length is None:
        raise GnomonError(f"The task {name!r} is generated: say the length of its rows.")
    if length < lowest or (highest is not None and length > highest):
        upper = f" to {highest}" if highest is not None else " up"
        raise GnomonError(f"The task {name!r} has rows of length {lowest}{upper}, got {length}.")
    return length
