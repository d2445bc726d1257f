"""Whatever the largest distance of the config, buckets are those of 128: the argument is not passed on.

With a largest distance of 24, distance 30 belongs into the last bucket.
"""

from pathlib import Path

from torch import nn

from gnomon.adapters.claims import Claim
from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Bucketed


class Right(Bucketed):
    farthest = 24


def faulty(folder: Path) -> nn.Module:
    return Bucketed()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="lucidrains/x-transformers#11, lucidrains/x-transformers#10",
    check="PE318",
    where="blocks.*",
    right=r"num_buckets=32, max_distance=24",
    build=faulty,
    healthy=healthy,
    evidence={
        "claims": (Claim("t5", "layers.*.attention", {"num_buckets": 32, "max_distance": 24, "direction": "causal"}),)
    },
)
