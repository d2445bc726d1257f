"""What one way to rotate is, and what it is asked."""

from abc import ABC, abstractmethod
from typing import NamedTuple, final

from jaxtyping import Float
from torch import Tensor

from gnomon.kernels.rotary.turn import Turn, tensors_of

#: One of q and k, heads before tokens. Queries and keys may differ in heads.
Vectors = Float[Tensor, "_B _H _S _D"]
#: Each vector and where it goes; both may be one tensor.
Pairs = tuple[tuple[Vectors, Vectors], ...]


@final
class Request(NamedTuple):
    """What is to be done: turn the `sources`, (B, H, S, D) each, into the `destinations` or, if None, fresh memory."""

    sources: tuple[Vectors, ...]
    destinations: tuple[Vectors, ...] | None
    turn: Turn


def tensors_in(request: Request) -> tuple[Tensor, ...]:
    """All tensors that are read or written."""
    return (*request.sources, *(request.destinations or ()), *tensors_of(request.turn))


class Path(ABC):
    """One way to rotate. Ways are equal to rounding error, in values and in gradients."""

    name: str

    @abstractmethod
    def refusal(self, request: Request) -> str | None:
        """Why it cannot do what is asked, as the end of "cannot serve this, because ..."; None: it can."""

    @abstractmethod
    def turned(self, sources: tuple[Vectors, ...], turn: Turn) -> tuple[Vectors, ...]:
        """The turned sources as new tensors, which autograd knows how to differentiate."""

    def write(self, pairs: Pairs, turn: Turn) -> None:
        """Write the turned source of each pair into its destination."""
        results = self.turned(tuple(source for source, _ in pairs), turn)  # all is read before anything is written
        for (_, destination), result in zip(pairs, results, strict=True):
            destination.copy_(result)
