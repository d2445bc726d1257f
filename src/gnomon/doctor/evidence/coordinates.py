"""Which pairs of lanes each coordinate turns: the planes of M-RoPE, and the rows and columns of an image."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Complex128
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.attending import attention_calls
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.repeated import TOKENS
from gnomon.doctor.evidence.signature import main_output
from gnomon.doctor.evidence.turned import TurnedLanes, read_lanes

LENGTH, STRIDE = 13, 7  # places, and how far apart they are on a plane: slow pairs move too


@final
@dataclass(frozen=True)
class _OnPlanes:
    """A model called with position ids of three planes."""

    probe: Model
    planes: Tensor

    @property
    def module(self) -> nn.Module:
        return self.probe.module

    def __call__(self, content: Tensor, /, *, mask: Tensor | None = None) -> Tensor:
        name = self.probe.signature.positions
        if name is None:
            raise MissingEvidence("the forward takes no position ids")
        with torch.no_grad():
            return main_output(self.probe.forward(content, mask=mask, **{name: self.planes}))


@evidence
def planes_of_pairs(subject: Subject) -> tuple[TurnedLanes, TurnedLanes, TurnedLanes]:
    """What the planes of time, height and width turn in the first attention, one moved at a time."""
    probe = model(subject)
    length = probe.length(LENGTH)
    content = probe.draw(TOKENS, length, seed=5)[:, :1].expand(-1, length).contiguous()
    found = []
    for axis in range(3):
        planes = torch.zeros(3, TOKENS, length, dtype=torch.int64, device=probe.device)
        planes[axis] = torch.arange(length, device=probe.device) * STRIDE
        calls = attention_calls(_OnPlanes(probe, planes), content)
        if not calls or calls[0].query.shape[1] != length:
            raise MissingEvidence("no self-attention was seen whose queries can be read")
        found.append(read_lanes(calls[0].where, "queries", calls[0].query.cpu().numpy()))
    return found[0], found[1], found[2]


@dataclass(frozen=True)
class GridTurns:
    """Turns of each pair over an image of equal patches: (rows, columns, pairs), from the first patch."""

    where: str
    turns: Complex128[np.ndarray, "rows columns pairs"]

    def apart(self) -> float:
        """How far the turns are from one step for each row and one for each column."""
        return _apart(self.turns)

    def apart_the_other_way(self) -> float:
        """The same if patches were numbered with rows and columns exchanged."""
        rows, columns, pairs = self.turns.shape
        return _apart(self.turns.reshape(columns, rows, pairs))


@evidence
def grid_turns(subject: Subject) -> GridTurns:
    """The rotation of an image model's first attention, on an image of one repeated patch that is not square."""
    probe = model(subject)
    if not probe.takes_images:
        raise MissingEvidence("the model takes no images")
    image = probe.draw(TOKENS, 0)
    patch = _patch_size(probe.module)
    if image.ndim != 4 or image.shape[-1] % patch or image.shape[-2] % patch:
        raise MissingEvidence(f"the example {tuple(image.shape)} is not one image of patches of {patch} pixels a row")
    rows, columns = image.shape[-2] // patch, image.shape[-1] // patch
    if rows == columns:
        raise MissingEvidence("the example is square; rows and columns are told apart by an image that is not")
    calls = attention_calls(probe, image[..., :patch, :patch].repeat(1, 1, rows, columns))
    if not calls or calls[0].query.shape[1] < rows * columns:
        raise MissingEvidence("no attention was seen that sees every patch")
    queries = calls[0].query[:, calls[0].query.shape[1] - rows * columns :].cpu().numpy()
    lanes = read_lanes(calls[0].where, "queries", queries)
    if not lanes.pairs or lanes.unexplained:
        raise MissingEvidence("the first attention does not rotate its patches")
    return GridTurns(calls[0].where, lanes.turns.reshape(rows, columns, -1))


def _patch_size(module: nn.Module) -> int:
    sizes = [m.kernel_size[0] for m in module.modules() if isinstance(m, nn.Conv2d) and m.kernel_size == m.stride]
    if not sizes:
        raise MissingEvidence("no convolution was found that cuts the image into patches")
    return sizes[0]


def _apart(turns: Complex128[np.ndarray, "rows columns pairs"]) -> float:
    rows, columns = (np.arange(n) for n in turns.shape[:2])
    expected = turns[1, 0] ** rows[:, None, None] * turns[0, 1] ** columns[:, None]
    return float(np.abs(turns - expected).max())
