"""A short training loop for tests of the monitor."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.monitor import Monitor


def rows(seed: int, batch: int = 8, length: int = 24) -> Tensor:
    return torch.randint(5, 40, (batch, length), generator=torch.Generator().manual_seed(seed))


def train(model: nn.Module, steps: int, monitor: Monitor | None = None, *, accumulate: int = 1) -> nn.Module:
    """Next-token training; with a monitor, its step comes between backward and the optimizer."""
    torch.manual_seed(7)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        optimizer.zero_grad()
        for part in range(accumulate):
            tokens = rows(step * accumulate + part)
            out = model(tokens)
            logits = getattr(out, "logits", out)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
        if monitor is not None:
            monitor.step({"tokens": tokens, "input_ids": tokens, "ids": tokens, "labels": tokens}, loss)
        optimizer.step()
    return model


def quiet(*_: Any) -> None:
    """A log that keeps nothing."""
