"""Reads the size that a user asks for: a length, a grid of patches or a window, or an image in pixels."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gnomon.adapters.families.config_reader import ConfigReader, seen
from gnomon.errors import GnomonError
from gnomon.extending.tables.found import patch_sizes
from gnomon.extending.tables.grids import Size

SHAPES: Final = re.compile(r"(?P<height>\d{1,7})(x(?P<width>\d{1,7})(?P<pixels>px)?)?")


def asked(text: str, config: Mapping[str, Any]) -> int | Size:
    """What a text names: "2048" positions, "30x20" a grid of patches, or a window, of 30 rows and 20 columns, and
    "480x320px" the grid of an image 480 pixels high and 320 wide.

    Raises GnomonError for other text, and for pixels that are no whole number of the config's patches.

    >>> asked("2048", {}), asked("30x20", {}), asked("480x320px", {"image_size": 224, "patch_size": 16})
    (2048, (30, 20), (30, 20))
    """
    found = SHAPES.fullmatch(text.strip())
    if found is None:
        raise GnomonError(f"A length is 2048, a grid of patches 30x20 and an image 480x320px, got {text!r}.")
    height = int(found["height"])
    if found["width"] is None:
        return height
    width = int(found["width"])
    if found["pixels"] is None:
        return height, width
    sizes = patch_sizes(seen(ConfigReader(config)))
    if sizes is None:
        raise GnomonError("config.json has no image_size and patch_size, so pixels say nothing; give patches.")
    down, across = sizes[1]
    if height % down or width % across or not height or not width:
        raise GnomonError(
            f"An image of {height} x {width} pixels is no whole number of patches of {down} x {across}; take "
            f"{max(height // down, 1) * down}x{max(width // across, 1) * across}px."
        )
    return height // down, width // across
