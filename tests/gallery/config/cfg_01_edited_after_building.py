"""\"Long context enabled\" is printed and nothing has changed: the config was edited after the model had been built.

Frequencies are computed when the model is made; in transformers 5.24 they stay as they were.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.toys import llama

LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0}


def faulty(folder: Path) -> Any:
    model = llama(num_attention_heads=2)
    model.config.rope_parameters = dict(LINEAR)
    return model


def healthy(folder: Path) -> Any:
    return llama(num_attention_heads=2, rope_parameters=dict(LINEAR))


ITEM = Fault(
    source="MakazhanAlpamys/Soup#793",
    check="PE307",
    where="layers",
    right=r"the config says 10000\.0 \(linear\)|'kind': 'linear'.*'factor': 4\.0",
    build=faulty,
    healthy=healthy,
)
