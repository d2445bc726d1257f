"""What tests of claims compare them with: frequencies in plain floats, and a model's tables by the claimed names."""

import re
from typing import Any

from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import claims_of


def one_claim(config: dict[str, Any]) -> Claim:
    """The only claim that a config makes."""
    [claim] = claims_of(config)
    return claim


def plain_frequencies(base: float, rotary_dim: int) -> list[float]:
    """The paper's frequencies in plain Python floats."""
    return [base ** (-2 * i / rotary_dim) for i in range(rotary_dim // 2)]


def tables_of(module: nn.Module, claim: Claim) -> dict[str, Tensor]:
    """The parameters and buffers whose names the claim gives."""
    named = dict(module.named_parameters()) | dict(module.named_buffers())
    return {n: t for n, t in named.items() if any(re.search(p, n) for p in claim.table_names)}
