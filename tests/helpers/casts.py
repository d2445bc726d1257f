"""What a cast may do to an encoding: round its parameters, and nothing else."""

from typing import Any, final

import torch
from torch import Tensor

from gnomon.encodings import PositionEncoding, Rotary
from gnomon.kernels.rotation import rotate
from gnomon.kernels.tables import cos_sin_rows
from gnomon.models import Decoder, ModelOptions
from gnomon.testing.trial import Trial
from tests.helpers.models import DIM, HEAD_DIM, HEADS, sample
from tests.helpers.weights import redraw

ROWS, TOKENS, LATER = 2, 5, 2
SMALL = ModelOptions(vocabulary=11, dim=DIM, num_layers=2, num_heads=HEADS)


def model_of(name: str) -> Decoder:
    """A small decoder with the sample of a registered encoding, or with the wrong one below."""
    model = Decoder(SMALL, encoding=Buffered(HEAD_DIM) if name == "buffered" else sample(name))
    redraw(model)
    return model


def call(model: Decoder) -> Tensor:
    """The logits of a fixed batch, at positions that the encoding has."""
    ids = torch.arange(ROWS * TOKENS).view(ROWS, TOKENS) % 11
    places = torch.arange(TOKENS) + torch.tensor([[0], [LATER]])
    axes = model.encoding.axes
    positions = places if axes == 1 else torch.stack([places.roll(axis, -1) for axis in range(axes)], dim=-1)
    result: Tensor = model(ids, positions=positions)
    return result


def numbers(encoding: PositionEncoding) -> dict[str, Tensor]:
    """What all hooks give for float32 vectors."""
    trial = Trial(encoding, None, HEADS, HEAD_DIM, DIM)
    with torch.no_grad():
        return trial.run(trial.inputs())


def differences(encoding: PositionEncoding) -> list[str]:
    """The hooks in which it is not, to the bit, a new float32 encoding with the parameters that it has now."""
    new = type(encoding)(**encoding.options)
    new.load_state_dict({name: value.detach().float() for name, value in encoding.named_parameters()})
    found, wanted = numbers(encoding), numbers(new)
    return [name for name in wanted if not torch.equal(found[name], wanted[name])] + [
        f"{name} is not float32" for name in wanted if found[name].dtype != torch.float32
    ]


@final
class Buffered(PositionEncoding):
    """The usual fault: a rotary encoding that keeps its table as a buffer, which every cast rounds."""

    relative: bool = True

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        self.head_dim = head_dim
        cos, sin = cos_sin_rows(Rotary(head_dim).inverse_frequencies, 0, 128)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def rotate_query(self, q: Tensor, positions: Tensor) -> Tensor:
        cos, sin = (self.get_buffer(name)[positions].unsqueeze(1) for name in ("cos", "sin"))
        return rotate(q, cos, sin, layout="half")

    def rotate_key(self, k: Tensor, positions: Tensor) -> Tensor:
        return self.rotate_query(k, positions)

    @property
    def options(self) -> dict[str, Any]:
        return {"head_dim": self.head_dim}
