"""A partial rotation of an odd width stops with a size error, or leaves a lane without a partner."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file

GPTJ = {"model_type": "gptj", "n_embd": 32, "n_head": 8, "n_layer": 2, "n_positions": 64, "vocab_size": 40}


def faulty(folder: Path) -> Path:
    return config_file(folder, **GPTJ, rotary_dim=3)


def healthy(folder: Path) -> Path:
    return config_file(folder, **GPTJ, rotary_dim=2)


ITEM = Fault(
    source="labmlai/annotated_deep_learning_paper_implementations#244, "
    "labmlai/annotated_deep_learning_paper_implementations#215",
    check="PE103",
    where="attention",
    right=r"rotated width is 3; pairs need an even width.*rotate 2 of the 4",
    build=faulty,
    healthy=healthy,
)
