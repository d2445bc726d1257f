"""Which image models of transformers take a table of a rectangle: read from their code, version 5.24.0."""

import re
from typing import Final

from gnomon.errors import GnomonError
from gnomon.extending.tables.grids import Size

#: they resize their table to the image at hand at every call, and take it for a square one
RESIZED_AT_EVERY_CALL: Final = frozenset({"dinov2", "dinov2_with_registers"})
#: reads the biases of a rectangle with height and width exchanged, so that even the window it has gets others
EXCHANGED: Final = frozenset({"beit", "data2vec-vision"})
#: count their patches as the square of one side
SQUARED: Final = frozenset(
    (
        *("aimv2", "altclip", "blip", "blip_2", "chinese_clip", "clip", "clipseg", "git", "instructblip", "janus"),
        *("kosmos-2", "metaclip_2", "owlv2", "owlvit", "siglip", "x_clip", "xclip"),
    )
)


def require_served(family: str, size: Size) -> None:
    """Raises GnomonError when transformers has no use for a table of this (height, width) in this family."""
    if size[0] == size[1]:
        return
    base = re.sub(r"_vision(_model)?$", "", family)
    for reason, families in (
        ("resizes a square table to any image by itself, so the table can stay as it is", RESIZED_AT_EVERY_CALL),
        ("takes the biases of a rectangle with height and width exchanged", EXCHANGED),
        ("takes square images only", SQUARED),
    ):
        if base in families:
            raise GnomonError(
                f"transformers' {base} {reason}; give a square grid, not {size[0]} x {size[1]}, or use "
                "gnomon.extending.tables from Python for other libraries."
            )
