"""Qwen 1.5 repeats newlines as its context fills: the GGUF file has no frequency base, and the loader takes 10000.

The longest wavelength of a head of 128 lanes is then 54,410 tokens and not 5.06 million.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

BASE = "rope.freq_base"


def faulty(folder: Path) -> Path:
    metadata = {key: value for key, value in llama_metadata().items() if key != BASE}
    return write_gguf(folder / "faulty.gguf", "qwen2", metadata, llama_tensors())


def healthy(folder: Path) -> Path:
    return write_gguf(folder / "healthy.gguf", "qwen2", {**llama_metadata(), BASE: 1e6}, llama_tensors())


ITEM = Fault(
    source="ollama/ollama#2379",
    check="PE107",
    where="config.json",
    right=r"no rotary base is stated: readers take 10000, Qwen 1\.5, 2 and 2\.5 has 1e\+06",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
