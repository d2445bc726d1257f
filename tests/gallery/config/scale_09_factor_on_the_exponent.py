"""Linear scaling bends the frequencies: the factor divides the index in the exponent and not the position."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, llama_config, powers, turning


def faulty(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0 ** (1 / 4)))


def healthy(folder: Path) -> TurningDecoder:
    return turning(powers(10_000.0) / 4)


ITEM = Fault(
    source="keras-team/keras-hub#1605",
    check="PE307",
    where="layers",
    right=r"the config says 10000\.0 \(linear\)|'kind': 'linear'",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(rope_scaling={"type": "linear", "factor": 4.0})},
)
