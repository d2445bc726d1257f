"""What is run in the process of one step: the whole model, then its positions alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.bench.child import peak_while
from gnomon.bench.long_context import decoder_steps, encoder_steps
from gnomon.bench.long_context.model import DECODER, ENCODER, Model
from gnomon.bench.rotations import SEED

CODE = "from gnomon.bench.long_context.measuring import run, setup, tell"
WARM = 16  #: tokens of the call that loads what is loaded late
PATIENCE = 20.0  #: seconds of a pass that is not done more often than it must
SAMPLED = 64  #: so many rows and columns of the result are compared


@dataclass(frozen=True)
class Loaded:
    """A model with the input of its measurement."""

    model: Model
    tokens: Tensor
    rounds: int


def setup(model: str, step: str, tokens: int, layers: int, rounds: int) -> Loaded:
    """The model, "encoder" or "decoder", with one way to handle positions, run once on few tokens."""
    sizes, way = (
        (ENCODER, encoder_steps.STEPS[step]()) if model == "encoder" else (DECODER, decoder_steps.STEPS[step]())
    )
    made = Model(sizes, layers, way)
    inputs = torch.randn(1, tokens, sizes.width, generator=torch.Generator().manual_seed(SEED))
    made(inputs[:, :WARM])
    way.forget()
    return Loaded(made, inputs, rounds)


@dataclass(frozen=True)
class Passed:
    """What came out of a call, and the seconds that it took."""

    output: Any
    seconds: float

    @classmethod
    def of(cls, call: Callable[[Any], object], given: object) -> "Passed":
        """Call it with what is given."""
        started = time.perf_counter()
        return cls(call(given), time.perf_counter() - started)


def run(loaded: Loaded) -> Passed:
    """The first forward pass, with nothing kept: what is kept afterwards counts for memory."""
    return Passed.of(loaded.model, loaded.tokens)


def tell(loaded: Loaded, first: Passed) -> dict[str, Any]:
    """Numbers of the result, seconds of passes with what is kept, and the same for positions alone."""
    result: Tensor = first.output
    rows = torch.linspace(0, result.shape[1] - 1, min(SAMPLED, result.shape[1])).long()
    columns = torch.linspace(0, result.shape[2] - 1, SAMPLED).long()
    sample = result[0][rows][:, columns].flatten().tolist()
    rounds = _seconds(loaded, loaded.model, loaded.tokens, first.seconds)
    loaded.model.step.forget()
    heads = loaded.model.heads(loaded.tokens)
    alone, growth = peak_while(lambda: Passed.of(loaded.model.positions_alone, heads))
    alone_rounds = _seconds(loaded, loaded.model.positions_alone, heads, alone.seconds)
    return {"sample": sample, "rounds": rounds, "alone": {"growth": growth, "rounds": alone_rounds}}


def _seconds(loaded: Loaded, call: Callable[[Any], object], given: object, first: float) -> list[float]:
    """Of passes after the first; of the first alone where it is long and later ones cost the same."""
    if not loaded.model.step.keeps and first > PATIENCE:
        return [first]
    return [Passed.of(call, given).seconds for _ in range(loaded.rounds if first < PATIENCE else 1)]
