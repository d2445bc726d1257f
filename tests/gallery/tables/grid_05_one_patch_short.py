"""The output is one patch short at odd sizes: a scale factor of 61/14 gives 60 patches, as it is rounded down.

The size is 14 * (61 / 14) in floating point, a little below 61."""

from pathlib import Path

from torch import nn
from torch.nn.functional import interpolate

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Patches, resized, trained_grid, with_class_token

OLD, NEW = (14, 14), (61, 61)
TABLE = with_class_token(trained_grid(*OLD))


def faulty(_: Path) -> nn.Module:
    image = TABLE[1:].T.reshape(1, -1, *OLD)
    made = interpolate(image, scale_factor=(61 / 14, 61 / 14), mode="bicubic")
    return Patches(with_class_token(made[0].flatten(1).T), NEW)


def healthy(_: Path) -> nn.Module:
    return Patches(resized(TABLE, OLD, NEW), NEW)


ITEM = Fault(
    source="facebookresearch/dinov2#378, facebookresearch/dino#8, huggingface/transformers#32410",
    check="PE222",
    where="pos_embed",
    right=r"3600 patches.*to size 61 x 61.*'expected rows': 3722",
    build=faulty,
    healthy=healthy,
    evidence={"reference": Patches(TABLE, OLD)},
)
