"""The opposite fault: the base goes by layer and the divisor does not, so that windowed layers are scaled as well."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import gemma3, gemma3_config


def faulty(folder: Path) -> Any:
    return gemma3(full=8.0, sliding=8.0)


def healthy(folder: Path) -> Any:
    return gemma3(full=8.0)


ITEM = Fault(
    source="antonellof/ferrox#39",
    check="PE307",
    where="layers",
    right=r"the config says 10000\.0 \(plain\)|'kind': 'plain', 'base': 10000",
    build=faulty,
    healthy=healthy,
    evidence={"config": gemma3_config()},
)
