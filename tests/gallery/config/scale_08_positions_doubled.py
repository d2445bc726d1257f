"""Every prompt runs at twice its positions: a kind that the code does not name falls through to a scale of 2.

Pair 0 at position 3 turns by 6 rad and should turn by 3: dynamic scaling leaves short prompts as they are.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, llama_config, powers, turning


def faulty(folder: Path) -> TurningDecoder:
    return turning(2.0 * powers(10_000.0))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0))


ITEM = Fault(
    source="lablup/mlxcel#1324, lablup/mlxcel#1389",
    check="PE307",
    where="layers",
    right=r"'kind': 'dynamic'.*by up to 1 ",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(rope_scaling={"type": "dynamic", "factor": 6.0})},
)
