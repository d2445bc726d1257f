"""Past the trained length a cache differs from one pass: each step has another base, and old keys keep theirs.

Live in transformers 5.24 for a bare cached forward, and what dynamic scaling is known to do there.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.toys import llama


def faulty(_: Path) -> Any:
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 2.0}
    return llama(max_position_embeddings=16, rope_parameters=rope)


def healthy(_: Path) -> Any:
    return llama(max_position_embeddings=16, rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0})


ITEM = Fault(
    source="huggingface/transformers#25104",
    check="PE409",
    where="the cache",
    right=r"change beyond length 16, .* one set of frequencies for the whole request",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
