"""A model that learns in a second, for claims about training: an encoder that names the token before each token."""

from collections.abc import Callable
from typing import final

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gnomon.encodings.base import PositionEncoding
from gnomon.models import Encoder, ModelOptions

IGNORED = -100
Rows = tuple[Int64[Tensor, "B S"], Int64[Tensor, "B S"]]
Draw = Callable[[torch.Generator], Rows]


@final
class Tagger(nn.Module):
    """One class for each token: logits (B, S, classes)."""

    def __init__(self, vocabulary: int, classes: int, encoding: PositionEncoding, *, dim: int, layers: int) -> None:
        super().__init__()
        self.encoder = Encoder(ModelOptions(vocabulary, dim, layers, 2), encoding=encoding)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids: Int64[Tensor, "B S"], first: int = 0) -> Float[Tensor, "B S C"]:
        """`first` is the position of the first token."""
        logits: Tensor = self.head(self.encoder(ids, positions=torch.arange(first, first + ids.shape[1])[None]))
        return logits


def fit(
    model: Tagger, draw: Draw, generator: torch.Generator, *, steps: int, rate: float = 3e-3, first: int = 0
) -> list[float]:
    """Train in place with AdamW on a fresh batch each step; the losses."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    losses = []
    model.train()
    for _ in range(steps):
        ids, labels = draw(generator)
        loss = cross_entropy(model(ids, first).flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    model.eval()
    return losses


@torch.no_grad()
def accuracy(model: nn.Module, rows: Rows, *, first: int = 0) -> float:
    """The share of scored tokens whose class is right."""
    ids, labels = rows
    scored = labels != IGNORED
    right = model(ids, first).argmax(-1) == labels
    return float(right[scored].float().mean())


def token_before(length: int, *, symbols: int = 8, rows: int = 32) -> Draw:
    """Random tokens; the class of each is the token before it. Chance is 1 / symbols.

    >>> ids, labels = token_before(4, rows=1)(torch.Generator().manual_seed(0))
    >>> bool((labels[0, 1:] == ids[0, :-1]).all()), int(labels[0, 0])
    (True, -100)
    """

    def draw(generator: torch.Generator) -> Rows:
        ids = torch.randint(symbols, (rows, length), generator=generator)
        return ids, torch.cat((torch.full((rows, 1), IGNORED), ids[:, :-1]), -1)

    return draw
