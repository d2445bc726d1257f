"""ollama's patch of llama.cpp for files that its own converters have written over the years.

Source: the compatibility patch at fb307609 (August 2026); PR #13452 (Gemma 3's factor).
"""

from collections.abc import Mapping
from typing import Any

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.readers.llama_cpp.metadata import ARCHITECTURE
from gnomon.resolving.reading import DEFAULT

LONG_GEMMA3, FACTOR = 131072, 8.0


def patched(architecture: str, values: Mapping[str, Found]) -> dict[str, Found]:
    """Gemma 3's local base under the name that llama.cpp reads, and linear 8 where a context of 131072 was trained."""
    held = dict(values)
    if architecture != "gemma3":
        return held
    if "rope.local.freq_base" in held:
        held.setdefault("rope.freq_base_swa", held.pop("rope.local.freq_base"))
    length = held.get("context_length")
    long = length is not None and isinstance(length.value, int | float) and length.value >= LONG_GEMMA3
    if long and "rope.scaling.factor" not in held and "rope.scaling.type" not in held:
        held["rope.scaling.type"], held["rope.scaling.factor"] = Found("linear", DEFAULT), Found(FACTOR, DEFAULT)
    return held


def found_in(metadata: Mapping[str, Any], architecture: str) -> dict[str, Found]:
    """The keys of a file under its architecture, each with its place."""
    prefix = f"{architecture}."
    return {
        key[len(prefix) :]: Found(value, key)
        for key, value in metadata.items()
        if key.startswith(prefix) and key != ARCHITECTURE
    }
