"""What the items on tables share: folders with edited tensors, and small modules as people write them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from tests.helpers.tiny_transformers import save_tiny
from tests.helpers.toys import DIM, VOCABULARY, Layer

Edit = Callable[[dict[str, Tensor]], None]


def edited(folder: Path, model_type: str, edit: Edit | None = None, **more: Any) -> Path:
    """A saved tiny model whose tensors were changed after saving; `more` are keys of its config."""
    from safetensors.torch import load_file, save_file

    save_tiny(folder, model_type, **more)
    file = folder / "model.safetensors"
    tensors = dict(load_file(file))
    if edit is not None:
        edit(tensors)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, file, {"format": "pt"})
    return folder


def only(tensors: Mapping[str, Tensor], part: str) -> str:
    """The one name that holds this text."""
    [name] = [name for name in tensors if part in name]
    return name


class Classifier(nn.Module):
    """Words, a layer and a table that a subclass adds in `embed`; one vector for each token."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(VOCABULARY, DIM)
        self.layers = nn.ModuleList([Layer() for _ in range(2)])

    def embed(self, tokens: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, x.new_zeros(1, 1))
        return x


def sinusoids(rows: int, dims: int = DIM, base: float = 10_000.0) -> Tensor:
    """(rows, dims), sines in even columns; Vaswani et al. 2017, section 3.5, in float64 and then float32."""
    frequencies = base ** (-torch.arange(0, dims, 2, dtype=torch.float64) / dims)
    angles = torch.arange(rows, dtype=torch.float64)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :dims].float()


class LinearlyBiased(nn.Module):
    """No table: a bias that falls with the distance, by slopes that the model keeps in a buffer."""

    slopes: Tensor

    def __init__(self, slopes: list[float], dim: int = DIM) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.qkv, self.out = nn.Embedding(VOCABULARY, dim), nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.register_buffer("slopes", torch.tensor(slopes), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x, place = self.words(tokens), torch.arange(tokens.shape[1])
        q, k, v = self.qkv(x).unflatten(-1, (3, len(self.slopes), -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
        scores = scores - self.slopes[:, None, None] * (place[:, None] - place).abs()
        mixed: Tensor = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return mixed


class Patches(nn.Module):
    """A table for the patches of an image, with rows for class tokens in front; `grid` is (rows, columns)."""

    def __init__(self, table: Tensor, grid: tuple[int, int]) -> None:
        super().__init__()
        self.pos_embed = nn.Parameter(table[None])
        self.config = SimpleNamespace(to_dict=lambda: {"image_size": [16 * n for n in grid], "patch_size": 16})

    def forward(self, patches: Tensor) -> Tensor:
        """(B, N, D)"""
        return patches + self.pos_embed


def trained_grid(rows: int, columns: int, dims: int = 24) -> Tensor:
    """(rows * columns, dims): smooth along both axes, as trained tables are, and unlike in both."""
    down, right = torch.meshgrid(torch.arange(rows) / 3, torch.arange(columns) / 5, indexing="ij")
    place = torch.stack([down, right], dim=-1).view(-1, 2)
    waves = torch.randn(2, dims, generator=torch.Generator().manual_seed(0))
    return torch.sin(place @ waves + torch.arange(dims))


def resized(table: Tensor, old: tuple[int, int], new: tuple[int, int], special: int = 1) -> Tensor:
    """The table for another grid, as it should be: the grid as an image, the rows of class tokens apart."""
    head, patches = table[:special], table[special:]
    image = patches.T.reshape(1, -1, *old)
    made = nn.functional.interpolate(image, size=new, mode="bicubic", antialias=True)
    return torch.cat([head, made[0].flatten(1).T])


def with_class_token(patches: Tensor) -> Tensor:
    """A row in front, unlike the others."""
    return torch.cat([torch.linspace(-1, 1, patches.shape[1])[None], patches])


def sinusoids_of_grid(rows: int, columns: int, dims: int = 32) -> Tensor:
    """(rows * columns, dims): the row of a patch in the first half, its column in the second; He et al. 2022."""
    place = torch.arange(rows * columns)
    half = sinusoids(max(rows, columns), dims // 2)
    return torch.cat([half[place // columns], half[place % columns]], dim=1)
