"""The table of angles shrinks to 2048 rows when a model is wrapped for inference: the wrapper passes a default config.

The model's own length was 4096. Here it is 512 (with a table of 1024), and the wrapper's 256: 300 tokens must run.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, cached, llama_config


def wrapped(length: int = 256) -> TurningDecoder:
    return cached(rows=length)


def faulty(folder: Path) -> TurningDecoder:
    return wrapped()


def healthy(folder: Path) -> TurningDecoder:
    return wrapped(1024)


ITEM = Fault(
    source="pytorch/torchtitan#3395",
    check="PE323",
    where="",
    right=r"256.*512",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(max_position_embeddings=512)},
)
