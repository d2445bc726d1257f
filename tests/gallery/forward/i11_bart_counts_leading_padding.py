"""BART's positions do not skip padding on the left, as fairseq's do: it is made for padding on the right."""

from pathlib import Path
from typing import Any

from tests.gallery.item import LookAlike
from tests.helpers.tiny_transformers import tiny_model


def build(folder: Path) -> Any:
    return tiny_model("bart")


ITEM = LookAlike(source="huggingface/transformers#13481", build=build, passes=("PE302", "PE305", "PE402"))
