"""A converted gpt-oss differs from the right one by a divergence of 1.29: the scale of 64 stands in the wrong key.

`yarn_ext_factor` is the share of the fast pairs that is left alone, and 1 there. With 64 pair 0 turns 63 times as fast.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

YARN = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 64.0,
    "rope.scaling.original_context_length": 4096,
    "context_length": 262_144,
}


def built(path: Path, share: float) -> Path:
    metadata = {**llama_metadata(), **YARN, "rope.scaling.yarn_ext_factor": share}
    return write_gguf(path, "llama", metadata, llama_tensors())


def faulty(folder: Path) -> Path:
    return built(folder / "faulty.gguf", 64.0)


def healthy(folder: Path) -> Path:
    return built(folder / "healthy.gguf", 1.0)


ITEM = Fault(
    source="ikawrakow/ik_llama.cpp#2003",
    check="PE102",
    where="rope_scaling",
    right=r"extrapolation_factor is 64\.0.*write 1\.0; the scale belongs in factor",
    build=faulty,
    healthy=healthy,
)
