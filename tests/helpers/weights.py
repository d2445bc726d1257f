"""Weights that show faults: default initialisation (std 0.02, zero biases) hides them."""

import torch
from torch import nn


def redraw(module: nn.Module, *, std: float = 0.2, seed: int = 0) -> None:
    """Draw every parameter anew from a normal distribution; the gains of norms stay as they are."""
    generator = torch.Generator().manual_seed(seed)
    norms = {id(p) for m in module.modules() if "norm" in type(m).__name__.lower() for p in m.parameters()}
    with torch.no_grad():
        for parameter in module.parameters():
            if id(parameter) not in norms:
                parameter.normal_(std=std, generator=generator)


def normal(*shape: int, seed: int = 1) -> torch.Tensor:
    """Numbers from a normal distribution, the same at each call."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def token_ids(*shape: int, vocabulary: int, seed: int = 2) -> torch.Tensor:
    return torch.randint(vocabulary, shape, generator=torch.Generator().manual_seed(seed))
