"""Real checkpoints write fluent nonsense when loaded from safetensors, while the GGUF file of the same model is fine.

Only one of the two ways of loading moves the rows of queries and keys to the pairs that the kernel rotates.
Without the model before, the loss on text that the model knows tells.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.pairwise_llama import teacher, written


def faulty(folder: Path) -> Path:
    return teacher().export(folder, gathered=False)


def healthy(folder: Path) -> Path:
    return teacher().export(folder, gathered=True)


ITEM = Fault(
    source="nurl-lang/nurl#584",
    check="PE220",
    where="queries and keys",
    right=r"gathered to halves.*\[0, 2, 4, 6, 1, 3, 5, 7\]",
    build=faulty,
    healthy=healthy,
    evidence={"text": written(teacher())},
)
