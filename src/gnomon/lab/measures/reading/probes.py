"""Readers of the slot from a hidden state, fitted on some sequences and tried on others.

Both guess the slot with the least expected distance to the truth. A reader that learns nothing then guesses the middle,
the best constant, whose error is `chance(slots)`.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained
from gnomon.lab.measures.reading.checking import require_probe
from gnomon.lab.measures.reading.hidden import hidden_states
from gnomon.lab.measures.reading.lengths import by_layer
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.report.lab.results import Series

RIDGE = 1e-3  #: of the mean square of a feature
HIDDEN, STEPS, AT_ONCE, RATE = 64, 300, 256, 3e-3

#: fitting states (N, W), their slots (N,), the number of slots, states to read (M, W), draws -> slots (M,)
Reader = Callable[
    [Float[Tensor, "N W"], Int64[Tensor, " N"], int, Float[Tensor, "M W"], torch.Generator], Int64[Tensor, " M"]
]


@dataclass(frozen=True)
class PositionRecovery(Measure):
    """By layer, how far from the slot a reader guesses, in rows of `length` random tokens; see `recovery`."""

    length: int = 64
    rows: int = 128

    def __post_init__(self) -> None:
        require_probe(self.info.name, length=self.length, rows=self.rows)

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """What reads the slot from a hidden state."""

    @final
    def take(self, trained: Trained, context: Context) -> Series:
        def read() -> list[float]:
            return recovery(self.reader, trained, context, self.info.name, length=self.length, rows=self.rows)

        return by_layer(trained, self.length, read, first=0)


def chance(slots: int) -> float:
    """The mean distance of 0 .. slots - 1 from the middle one: about a quarter of the slots.

    >>> chance(5)  # 2, 1, 0, 1, 2
    1.2
    """
    return (slots * slots // 4) / slots


def recovery(reader: Reader, trained: Trained, context: Context, name: str, *, length: int, rows: int) -> list[float]:
    """For the input of the first block and the output of each block, the mean error over `chance`.

    Rows of random tokens, so that a token tells nothing about its slot; half of them fit the reader.
    """
    generator = context.generator("measure", name)
    ids = torch.randint(trained.task.vocabulary, (rows, length), generator=generator)
    states = hidden_states(trained, Batch(ids, torch.full_like(ids, IGNORED)), generator)
    return [_error(reader, state, generator) / chance(length) for state in states]


def _error(reader: Reader, states: Float[Tensor, "B S W"], generator: torch.Generator) -> float:
    rows, slots, _ = states.shape
    half = rows // 2
    known, unknown = states[:half].flatten(0, 1), states[half:].flatten(0, 1)
    mean, spread = known.mean(0), known.std(0) + 1e-6
    known, unknown = (known - mean) / spread, (unknown - mean) / spread
    at = torch.arange(slots)
    guessed = reader(known, at.repeat(half), slots, unknown, generator)
    return float((guessed - at.repeat(rows - half)).abs().double().mean())


def linear_reader(
    known: Float[Tensor, "N W"],
    at: Int64[Tensor, " N"],
    slots: int,
    unknown: Float[Tensor, "M W"],
    generator: torch.Generator,
) -> Int64[Tensor, " M"]:
    """Ridge regression of the distance to each slot, solved exactly; the guess is the slot that seems nearest."""
    x, far = known.double(), _distances(slots).double()
    gram = x.mT @ x + RIDGE * len(x) * torch.eye(x.shape[1], dtype=torch.float64)
    weights = torch.linalg.solve(gram, x.mT @ (far[at] - far[at].mean(0)))
    nearest: Tensor = (unknown.double() @ weights + far[at].mean(0)).argmin(-1)
    return nearest


def mlp_reader(
    known: Float[Tensor, "N W"],
    at: Int64[Tensor, " N"],
    slots: int,
    unknown: Float[Tensor, "M W"],
    generator: torch.Generator,
) -> Int64[Tensor, " M"]:
    """Two layers with a ReLU between, trained to name the slot: the probe of Haviv et al. 2022."""
    width = known.shape[1]
    sizes = ((HIDDEN, width), (HIDDEN,), (slots, HIDDEN), (slots,))
    weights = [
        nn.Parameter(torch.randn(size, generator=generator) * size[-1] ** -0.5 * (len(size) - 1)) for size in sizes
    ]
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=0.1)
    for _ in range(STEPS):
        drawn = torch.randint(len(known), (AT_ONCE,), generator=generator)
        cross_entropy(_named(known[drawn], weights), at[drawn]).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        return (_named(unknown, weights).softmax(-1) @ _distances(slots)).argmin(-1)


def _named(x: Float[Tensor, "N W"], weights: Sequence[Tensor]) -> Float[Tensor, "N S"]:
    first, first_bias, second, second_bias = weights
    return (x @ first.mT + first_bias).relu() @ second.mT + second_bias


def _distances(slots: int) -> Float[Tensor, "S S"]:
    at = torch.arange(slots)
    return (at[:, None] - at).abs().float()
