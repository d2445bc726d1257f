"""Left and right padding differ by 0.002 in half precision: other positions round otherwise, and nothing is wrong."""

from pathlib import Path
from typing import Any

from tests.gallery.item import LookAlike
from tests.helpers.toys import llama


def build(folder: Path) -> Any:
    return llama()


ITEM = LookAlike(
    source="huggingface/transformers#29419",
    build=build,
    passes=("PE303", "PE401", "PE402"),
    evidence={"dtype": "float16"},
)
