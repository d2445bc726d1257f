"""SAM 2 rotates by row and column with complex numbers, which ONNX does not have."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault

ROWS, COLUMNS, WIDTH, HEADS = 2, 3, 16, 2


class Axial(nn.Module):
    """Attention over a 2 x 3 grid of vectors (B, 6, 16); each half of a head turns by one coordinate."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)

    def phases(self, like: Tensor) -> Tensor:
        places = torch.arange(ROWS * COLUMNS, device=like.device)
        rates = 100.0 ** -(torch.arange(2, device=like.device) / 2)
        by_axis: list[Tensor] = [axis[:, None] * rates for axis in (places // COLUMNS, places % COLUMNS)]
        phases: Tensor = torch.cat(by_axis, dim=-1)
        return phases

    def turn(self, x: Tensor) -> Tensor:
        phases = self.phases(x)
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        turned: Tensor = torch.view_as_real(pairs * torch.polar(torch.ones_like(phases), phases)).flatten(-2)
        return turned

    def forward(self, hidden_states: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(hidden_states).chunk(3, dim=-1))
        seen = (self.turn(q) @ self.turn(k).mT / 8**0.5).softmax(-1) @ v
        joined: Tensor = seen.transpose(1, 2).flatten(2)
        return joined


class RealAxial(Axial):
    def turn(self, x: Tensor) -> Tensor:
        cos, sin = self.phases(x).cos(), self.phases(x).sin()
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


def example() -> dict[str, Tensor]:
    return {"hidden_states": torch.randn(2, ROWS * COLUMNS, WIDTH, generator=torch.Generator().manual_seed(0))}


def faulty(folder: Path) -> tuple[nn.Module, dict[str, Tensor]]:
    return Axial(), example()


def healthy(folder: Path) -> tuple[nn.Module, dict[str, Tensor]]:
    return RealAxial(), example()


ITEM = Fault(
    source="onnx/onnx#3173, facebookresearch/sam2#186",
    check="PE607",
    where="the forward",
    right=r"view_as_complex.*\(a cos - b sin, a sin \+ b cos\)",
    build=faulty,
    healthy=healthy,
    severity="note",
)
