"""Code Llama is wrong with a fused kernel alone: base 10000 is a literal in it, and the model has 1e6.

Pair 16 of 64 at position 4096 should have turned by 129.5 rad and turned by 409.6.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, llama_config, powers, turning


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(1e6))


ITEM = Fault(
    source="deepspeedai/DeepSpeed#4442",
    check="PE307",
    where="layers",
    right=r"follow base 10000, the config says 1000000",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(rope_theta=1e6)},
)
