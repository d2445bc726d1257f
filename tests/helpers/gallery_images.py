"""A small image encoder with a rotation by rows and columns, and images that are not square."""

import torch
from torch import Tensor, nn

from tests.helpers.gallery_forms import Block, halves, inverse


class Patches(nn.Module):
    """A small image encoder: patches of 4 pixels, half of the pairs of a head turned by rows, half by columns."""

    heads, head_dim = 2, 16

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        width = self.heads * self.head_dim
        self.cut = nn.Conv2d(3, width, 4, stride=4)
        self.blocks = nn.ModuleList([Block(width, self.heads) for _ in range(2)])

    def places(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        """Row and column of each patch, in the order of the patches."""
        row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        return row.flatten(), column.flatten()

    def forward(self, pixel_values: Tensor) -> Tensor:
        cut = self.cut(pixel_values)
        x, places = cut.flatten(2).mT, self.places(*cut.shape[2:])
        frequencies = inverse(self.head_dim // 2)
        angles = torch.cat([place[:, None].to(x.device) * frequencies.to(x.device) for place in places], dim=-1)
        cos, sin = (torch.cat((table, table), dim=-1) for table in (angles.cos(), angles.sin()))
        for block in self.blocks:
            x = block(x, lambda q, k, v: self.attend(q * cos + halves(q) * sin, k * cos + halves(k) * sin, v))
        out: Tensor = x
        return out

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out: Tensor = (q @ k.mT * self.head_dim**-0.5).softmax(-1) @ v
        return out


def image() -> dict[str, Tensor]:
    """Two images, 3 patches high and 5 wide."""
    return {"pixel_values": torch.randn(2, 3, 12, 20, generator=torch.Generator().manual_seed(0))}
