"""Phi-3's text becomes garbage when a reply crosses the original length: keys have short factors, queries long ones.

Live in transformers 5.24 for a bare cached forward; `generate` fills the cache anew.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.healthy import SIZES


def phi3(long: list[float]) -> Any:
    import transformers

    torch.manual_seed(0)
    rope = {"rope_type": "longrope", "rope_theta": 1e4, "factor": 4.0, "short_factor": [1.0] * 4, "long_factor": long}
    options = {**SIZES, "max_position_embeddings": 64, "original_max_position_embeddings": 16}
    return transformers.Phi3ForCausalLM(transformers.Phi3Config(**options, rope_parameters=rope)).eval()


def faulty(_: Path) -> Any:
    return phi3([4.0] * 4)


def healthy(_: Path) -> Any:
    return phi3([1.0] * 4)


ITEM = Fault(
    source="huggingface/transformers#33129",
    check="PE409",
    where="the cache",
    right=r"change beyond length 16, .* one set of frequencies for the whole request",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
