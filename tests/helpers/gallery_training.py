"""Small models with faults of training, for the gallery and for the tests of the checks."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.helpers.toys import DIM, HEADS, Toy, ToyDecoder


class Flex(torch.autograd.Function):
    """Adds a bias to logits as a fused kernel does that has no backward pass for what it captures."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, bias: Tensor) -> Tensor:
        return logits + bias

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        raise RuntimeError("the gradient of a captured bias is not supported")


class BiasedByHeart(Toy):
    """Words alone, and a learned bias for each distance and head; `read` says how the forward takes it."""

    def __init__(self, read: Callable[[Tensor], Tensor] = lambda bias: bias) -> None:
        super().__init__()
        del self.positions
        self.relative_bias = nn.Parameter(torch.randn(2 * 64 - 1, HEADS) * 0.5)
        self.read = read

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x

    def bias(self, mask: Tensor) -> Tensor:
        places = torch.arange(mask.shape[1])
        rows = self.read(self.relative_bias)[places[None, :] - places[:, None] + 63]
        return super().bias(mask) + rows.permute(2, 0, 1)[None]


class LearnedFrequencies(Toy):
    """Sinusoids of learned frequencies; with `cached`, the table of the first call is used again in the next ones."""

    def __init__(self, *, cached: bool) -> None:
        super().__init__()
        del self.positions
        self.freqs = nn.Parameter(torch.logspace(0, -3, DIM // 2))
        self.cached = cached
        self.table: Tensor | None = None

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        if self.table is None or not self.cached:
            angles = torch.arange(64)[:, None] * self.freqs
            table = torch.cat((angles.sin(), angles.cos()), dim=-1)
            self.table = table.detach() if self.cached else None
        else:
            table = self.table
        x: Tensor = self.words(tokens) + table[ids]
        return x


class BareTable(Toy):
    """The table is a bare nn.Parameter instead of an nn.Embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.position_embedding = nn.Parameter(self.positions.weight.detach().clone())
        del self.positions

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.position_embedding[ids]
        return x


def sorted_by_kind(module: nn.Module) -> torch.optim.Optimizer:
    """Groups by the kind of the module that owns a parameter, as many trainers sort them: bare parameters are lost."""
    decayed, plain = [], []
    for part in module.modules():
        for name, parameter in part.named_parameters(recurse=False):
            if isinstance(part, nn.Linear) and name == "weight":
                decayed.append(parameter)
            elif isinstance(part, nn.Linear | nn.LayerNorm | nn.Embedding):
                plain.append(parameter)
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3)


def all_decayed(module: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.1)


def sinusoids(rows: int = 64, dim: int = DIM) -> Tensor:
    angles = torch.arange(rows)[:, None] / 10_000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def fixed(module: Toy, *, trained: bool) -> Toy:
    """The toy with a sinusoid table, which a training step may move when `trained`."""
    with torch.no_grad():
        module.positions.weight.copy_(sinusoids())
    module.positions.weight.requires_grad_(trained)
    return module


class LanguageModel(ToyDecoder):
    """The causal toy with logits for the next token."""

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        return F.linear(super().forward(tokens, attention_mask, position_ids), self.words.weight)


class Separate(ToyDecoder):
    """Keeps documents apart by their ids, as kernels that read borders do."""

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        if position_ids is not None:
            self.document = (position_ids == 0).cumsum(1)
        return super().forward(tokens, attention_mask, position_ids)

    def bias(self, mask: Tensor) -> Tensor:
        same = getattr(self, "document", mask.long())
        if same.shape != mask.shape:
            return super().bias(mask)
        return super().bias(mask).masked_fill(same[:, None, :, None] != same[:, None, None, :], -torch.inf)


TRAINED, ROWS = 16, 128


def text(tokens: int, seed: int) -> Tensor:
    """A walk whose next token follows from the last two: t[i] = t[i-1] + (0 or 1 by the parity of t[i-2])."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.randint(0, 40, (2,), generator=generator).tolist()
    while len(found) < tokens:
        found.append((found[-1] + 1 + found[-2] % 2 + int(torch.rand(1, generator=generator) < 0.05)) % 40)
    return torch.tensor(found)


@functools.cache
def trained() -> LanguageModel:
    """A tiny language model trained on rows of sixteen tokens; the rows of later positions are loud noise."""
    model = LanguageModel(rows=ROWS)
    model.positions.weight.data.mul_(2.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    rows = text(TRAINED * 400, 1).reshape(-1, TRAINED)
    for step in range(60):
        batch = rows[torch.arange(step * 32, step * 32 + 32) % len(rows)]
        optimizer.zero_grad()
        F.cross_entropy(model(batch)[:, :-1].flatten(0, 1), batch[:, 1:].flatten()).backward()
        optimizer.step()
    return model.eval()
