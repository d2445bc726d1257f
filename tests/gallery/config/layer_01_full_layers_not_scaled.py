"""Gemma 3 is fluent and drifts with length: the factor of 8 is parsed and never used on the layers that see everything.

Position 800 of a full layer should act as position 100. Windowed layers are not scaled.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import gemma3, gemma3_config


def faulty(folder: Path) -> Any:
    return gemma3(full=None)


def healthy(folder: Path) -> Any:
    return gemma3(full=8.0)


ITEM = Fault(
    source="lablup/mlxcel#1340, ollama/ollama#13452",
    check="PE307",
    where="layers",
    right=r"the config says 1000000\.0 \(linear\)|'kind': 'linear', 'base': 1000000\.0, 'factor': 8\.0",
    build=faulty,
    healthy=healthy,
    evidence={"config": gemma3_config()},
)
