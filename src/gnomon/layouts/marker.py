"""A small file beside weights whose rows fit other pairs than their own class turns: it says so to the next reader."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import LAYOUTS, Layout
from gnomon.resolving.loading import MARKER as MARKER


def marked_layout(folder: Path) -> Layout | None:
    """The layout that a folder's marker states; None without one. Raises GnomonError for one that states nothing."""
    path = folder / MARKER
    if not path.exists():
        return None
    stated = read_json_object(path).get("layout")
    for layout in LAYOUTS:
        if stated == layout:
            return layout
    raise GnomonError(f"{path} must state the layout half or interleaved, but it states {stated!r}.")


def marker(layout: Layout, *, family: str, family_layout: Layout, program: str) -> bytes:
    """What the file holds."""
    said: Mapping[str, Any] = {
        "layout": layout,
        "for": program,
        "note": (
            f"Rows of queries and keys are arranged for rotated pairs of the layout {layout}. The class of {family} in "
            f"transformers turns {family_layout} and gives wrong outputs with them. Back: gnomon layout permute FOLDER "
            f"--to {family_layout} -o OUT."
        ),
    }
    return (json.dumps(said, indent=2) + "\n").encode()
