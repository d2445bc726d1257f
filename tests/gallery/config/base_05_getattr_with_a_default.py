"""Every model runs at base 10000 after an upgrade: the base moved into a block, and getattr has a default.

transformers 5 keeps it in `rope_parameters`; `getattr(config, "rope_theta", 10000.0)` finds nothing and says nothing.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, llama_config, powers, turning

BLOCK = {"rope_type": "default", "rope_theta": 5e5}


def config() -> Any:
    import transformers

    return transformers.LlamaConfig(**llama_config(rope_parameters=dict(BLOCK)))


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(getattr(config(), "rope_theta", 10_000.0)))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(config().rope_parameters["rope_theta"]))


ITEM = Fault(
    source="deepspeedai/DeepSpeed#8345, deepspeedai/DeepSpeed#8341",
    check="PE307",
    where="layers",
    right=r"follow base 10000, the config says 500000",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(rope_parameters=BLOCK)},
)
