"""Models of images: ViT from scratch, a diffusion transformer, a small U-Net with attention, and learned queries."""

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.helpers.healthy_plain.kinds import HEADS, WIDTH, Builder, mixer, numbers, seeded


def grid_sinusoids(height: int, width: int, dim: int = WIDTH) -> Tensor:
    """Half of the lanes for the row, half for the column: (height * width, dim)."""
    falling = 1 / 10_000 ** (torch.arange(dim // 4) / (dim // 4))
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    parts = [torch.outer(axis.flatten().float(), falling) for axis in (rows, columns)]
    return torch.cat([f(part) for part in parts for f in (torch.sin, torch.cos)], dim=1)


@final
class ViT(nn.Module):
    """Patches by a strided convolution, a class token, one learned table for all of them, torch's encoder."""

    def __init__(self, size: int = 32, patch: int = 8) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, WIDTH, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.randn(1, 1, WIDTH) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, activation="gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, img: Tensor) -> Tensor:
        x = self.patch_embed(img).flatten(2).mT
        x = torch.cat((self.cls_token.expand(len(x), -1, -1), x), dim=1) + self.pos_embed
        scores: Tensor = self.head(self.blocks(x)[:, 0])
        return scores


def timestep_sinusoids(t: Tensor, dim: int = WIDTH) -> Tensor:
    """Sinusoids of a time (B,), as diffusion models give it to every block: (B, dim)."""
    falling = torch.exp(-math.log(10_000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    angles = t[:, None].float() * falling
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


@final
class DiTBlock(nn.Module):
    """Attention and a feed-forward part, scaled and shifted by the time."""

    def __init__(self) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm1 = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.modulation, self.mlp = nn.Linear(WIDTH, 4 * WIDTH), mixer()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        shift1, scale1, shift2, scale2 = self.modulation(F.silu(time))[:, None].chunk(4, dim=-1)
        h = self.norm1(x) * (1 + scale1) + shift1
        x = x + self.attn(h, h, h, need_weights=False)[0]
        mixed: Tensor = x + self.mlp(self.norm2(x) * (1 + scale2) + shift2)
        return mixed


@final
class DiT(nn.Module):
    """A fixed table of sinusoids over two axes for the patches, sinusoids of the time through an MLP for the noise."""

    def __init__(self, height: int = 8, width: int = 12, patch: int = 2) -> None:
        super().__init__()
        self.x_embedder = nn.Conv2d(4, WIDTH, patch, stride=patch)
        table = grid_sinusoids(height // patch, width // patch)[None]
        self.pos_embed = nn.Parameter(table, requires_grad=False)
        self.t_embedder = mixer()
        self.blocks = nn.ModuleList([DiTBlock() for _ in range(2)])
        self.final_layer = nn.Linear(WIDTH, 4 * patch * patch)
        self.shape = (height // patch, width // patch)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        h = self.x_embedder(x).flatten(2).mT + self.pos_embed
        time = self.t_embedder(timestep_sinusoids(t))
        for block in self.blocks:
            h = block(h, time)
        return F.pixel_shuffle(self.final_layer(h).mT.unflatten(2, self.shape), 2)


@final
class UNet(nn.Module):
    """Convolutions down and up, attention over all pixels in the middle: padding of convolutions tells places."""

    def __init__(self) -> None:
        super().__init__()
        self.inlet, self.down = nn.Conv2d(3, WIDTH, 3, padding=1), nn.Conv2d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.time, self.norm = mixer(), nn.GroupNorm(4, WIDTH)
        self.attn = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.up, self.outlet = nn.ConvTranspose2d(WIDTH, WIDTH, 2, stride=2), nn.Conv2d(2 * WIDTH, 3, 3, padding=1)

    def forward(self, x: Tensor, timesteps: Tensor) -> Tensor:
        first = F.silu(self.inlet(x))
        h = F.silu(self.down(first)) + self.time(timestep_sinusoids(timesteps))[:, :, None, None]
        seen = self.norm(h).flatten(2).mT
        h = h + self.attn(seen, seen, seen, need_weights=False)[0].mT.unflatten(2, h.shape[2:])
        noise: Tensor = self.outlet(torch.cat((self.up(h), first), dim=1))
        return noise


SIGNALS: dict[str, Builder] = {
    "vit from scratch": seeded(lambda: (ViT(), (numbers(2, 3, 32, 32),))),
    "diffusion transformer": seeded(lambda: (DiT(), (numbers(2, 4, 8, 12), torch.tensor([3, 700])))),
    "u-net with attention": seeded(lambda: (UNet(), (numbers(2, 3, 16, 24), torch.tensor([3, 700])))),
}
